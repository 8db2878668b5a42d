"""Token counts of all vendors, made the same."""

from __future__ import annotations

import pytest

from runtimes.models.base import Usage
from runtimes.models.usage import (
    anthropic_usage,
    chat_usage,
    gemini_usage,
    merged,
    responses_usage,
)


def test_openai_counts_cached_tokens_inside_the_input() -> None:
    sent = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 500},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }

    assert chat_usage(sent) == Usage(1000, 50, cache_read_tokens=500, reasoning_tokens=20)


@pytest.mark.parametrize("number", [-1, 2**53, 2**64, 1e30, "7", True, None, [], {}])
def test_what_can_be_no_count_is_none(number: object) -> None:
    assert chat_usage({"prompt_tokens": number, "completion_tokens": 1}) is None
    assert chat_usage({"prompt_tokens": 2**53 - 1, "completion_tokens": 1.7}) == Usage(2**53 - 1, 1)


@pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens"])
def test_deepseek_and_kimi_name_cached_tokens_otherwise(name: str) -> None:
    sent = {"prompt_tokens": 10, "completion_tokens": 5, name: 4}

    assert chat_usage(sent) == Usage(10, 5, cache_read_tokens=4)


def test_reasoning_beside_the_output_is_added_where_the_total_shows_it() -> None:
    sent = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 35,
        "completion_tokens_details": {"reasoning_tokens": 20},
    }

    assert chat_usage(sent) == Usage(10, 25, reasoning_tokens=20)


def test_a_part_is_never_larger_than_its_whole() -> None:
    sent = {
        "prompt_tokens": 43,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 50},
        "completion_tokens_details": {"reasoning_tokens": 11},
    }

    assert chat_usage(sent) == Usage(43, 10, cache_read_tokens=43, reasoning_tokens=10)


def test_anthropic_counts_cached_tokens_beside_the_input() -> None:
    sent = {
        "input_tokens": 10,
        "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 100,
        "output_tokens": 7,
    }

    assert anthropic_usage(sent) == Usage(610, 7, cache_read_tokens=500, cache_write_tokens=100)


def test_responses_count_like_chat_completions() -> None:
    sent = {
        "input_tokens": 10,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 3},
    }

    assert responses_usage(sent) == Usage(10, 5, cache_read_tokens=2, reasoning_tokens=3)


def test_gemini_counts_thoughts_beside_the_output() -> None:
    sent = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 8,
        "thoughtsTokenCount": 30,
        "cachedContentTokenCount": 60,
    }

    assert gemini_usage(sent) == Usage(100, 38, cache_read_tokens=60, reasoning_tokens=30)


@pytest.mark.parametrize(
    "sent", [{}, {"prompt_tokens": 1}, {"prompt_tokens": -1, "completion_tokens": "x"}]
)
def test_what_was_not_said_stays_unknown(sent: dict[str, object]) -> None:
    assert chat_usage(sent) is None
    assert responses_usage(sent) is None
    assert anthropic_usage(sent) is None
    assert gemini_usage(sent) is None


def test_a_later_partial_record_wipes_nothing() -> None:
    first = {"input_tokens": 3, "cache_read_input_tokens": 9000, "output_tokens": 1}
    later = {"output_tokens": 50, "cache_read_input_tokens": None}

    assert anthropic_usage(merged(first, later)) == Usage(9003, 50, cache_read_tokens=9000)

"""Any prefix of any journal makes a request that each of the four wire formats takes."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings

from runtimes.models.anthropic import Anthropic
from runtimes.models.base import ModelRequest
from runtimes.models.chat_completions import ChatCompletions
from runtimes.models.config import ProviderConfig
from runtimes.models.gemini import Gemini
from runtimes.models.responses import Responses
from runtimes.radian.transcript import build_messages
from tests.runtimes.radian.journals import JOURNALS, asked, entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.radian.records import Entry

Table = dict[str, Any]


def assert_chat(body: Table) -> None:
    """Results follow their calls at once, and nobody says nothing."""
    head, *messages = body["messages"]
    assert head == {"role": "system", "content": "Be short."}
    assert messages[0]["role"] == "user"
    awaited: list[str] = []
    used: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == awaited.pop(0)
            assert message["content"]
            continue
        assert awaited == []
        calls = message.get("tool_calls", [])
        assert message.get("content") or calls
        assert message["role"] == "assistant" or not calls
        assert all(isinstance(json.loads(each["function"]["arguments"]), dict) for each in calls)
        awaited = [each["id"] for each in calls]
        used += awaited
    assert awaited == []
    assert len(used) == len(set(used))


def assert_responses(body: Table) -> None:
    """Each call has one output, which comes before anybody speaks again."""
    awaited: list[str] = []
    used: list[str] = []
    for item in body["input"]:
        match item:
            case {"type": "function_call", "call_id": call_id, "arguments": text}:
                assert isinstance(json.loads(text), dict)
                awaited.append(call_id)
                used.append(call_id)
            case {"type": "function_call_output", "call_id": call_id, "output": output}:
                assert call_id == awaited.pop(0)
                assert output
            case {"role": role, "content": content}:
                assert role == "assistant" or not awaited
                assert content
            case _:
                pytest.fail(f"an odd item: {item}")
    assert awaited == []
    assert len(used) == len(set(used))


def assert_anthropic(body: Table) -> None:
    """Both take turns, no text is blank, and results lead the message after their calls."""
    messages = body["messages"]
    roles = itertools.cycle(["user", "assistant"])
    awaited: list[str] = []
    for message, role in zip(messages, roles, strict=False):
        blocks = message["content"]
        assert (message["role"], bool(blocks)) == (role, True)
        assert all(each["text"].strip() for each in blocks if each["type"] == "text")
        results = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        assert results == awaited
        assert all(each["type"] == "tool_result" for each in blocks[: len(results)])
        calls = [each for each in blocks if each["type"] == "tool_use"]
        assert all(isinstance(each["input"], dict) for each in calls)
        awaited = [each["id"] for each in calls]
        assert len(awaited) == len(set(awaited))
    assert awaited == []


def assert_gemini(body: Table) -> None:
    """Both take turns, and as many results as calls lead what follows them."""
    roles = itertools.cycle(["user", "model"])
    awaited: list[str] = []
    for content, role in zip(body["contents"], roles, strict=False):
        parts = content["parts"]
        assert (content["role"], bool(parts)) == (role, True)
        assert all(each["text"] for each in parts if "text" in each)
        results = [each["functionResponse"] for each in parts if "functionResponse" in each]
        assert [each["name"] for each in results] == awaited
        assert all("functionResponse" in each for each in parts[: len(results)])
        calls = [each["functionCall"] for each in parts if "functionCall" in each]
        assert all(isinstance(each["args"], dict) for each in calls)
        awaited = [each["name"] for each in calls]
    assert awaited == []


FORMATS: dict[str, tuple[Any, Callable[[Table], None]]] = {
    "openai-compatible": (ChatCompletions(), assert_chat),
    "openai": (Responses(), assert_responses),
    "anthropic": (Anthropic(), assert_anthropic),
    "gemini": (Gemini(), assert_gemini),
}


@pytest.mark.parametrize("kind", FORMATS)
@given(journal=JOURNALS)
@settings(deadline=None)
def test_any_prefix_of_any_journal_is_a_body_of_each_format(
    kind: Any, journal: list[Entry]
) -> None:
    dialect, assert_valid = FORMATS[kind]
    config = ProviderConfig("p", kind, "http://h/v1")
    for end in range(len(journal) + 1):
        asking = entries(*(each.record for each in journal[:end]), asked(9, "go on"))
        request = ModelRequest("m", build_messages(asking), system="Be short.")

        body = orjson.loads(orjson.dumps(dialect.body(request, config, frozenset())))

        assert_valid(body)
        assert "go on" in json.dumps(body)

"""Token counts, made the same for every vendor.  Pure.

Afterwards cached tokens are part of the input and reasoning is part of the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.base import Usage
from runtimes.models.json_text import count, table

if TYPE_CHECKING:
    from collections.abc import Mapping


def chat_usage(sent: Mapping[str, Any]) -> Usage | None:
    """Read ``usage`` of chat completions; DeepSeek, Kimi and xAI have spellings of their own."""
    given, out = count(sent.get("prompt_tokens")), count(sent.get("completion_tokens"))
    if given is None or out is None:
        return None
    details = table(sent.get("prompt_tokens_details"))
    reasoning = count(table(sent.get("completion_tokens_details")).get("reasoning_tokens"))
    if reasoning and count(sent.get("total_tokens")) == given + out + reasoning:
        out += reasoning  # the total shows that this vendor counts reasoning beside the output
    return _usage(
        given,
        out,
        read=_first(
            details.get("cached_tokens"),
            sent.get("prompt_cache_hit_tokens"),
            sent.get("cached_tokens"),
        ),
        write=count(details.get("cache_write_tokens")),
        reasoning=reasoning,
        sent=sent,
    )


def responses_usage(sent: Mapping[str, Any]) -> Usage | None:
    """Read ``usage`` of the Responses API."""
    given, out = count(sent.get("input_tokens")), count(sent.get("output_tokens"))
    if given is None or out is None:
        return None
    return _usage(
        given,
        out,
        read=count(table(sent.get("input_tokens_details")).get("cached_tokens")),
        write=None,
        reasoning=count(table(sent.get("output_tokens_details")).get("reasoning_tokens")),
        sent=sent,
    )


def anthropic_usage(sent: Mapping[str, Any]) -> Usage | None:
    """Read ``usage`` of the Messages API, where cached tokens lie beside the input."""
    given, out = count(sent.get("input_tokens")), count(sent.get("output_tokens"))
    if given is None or out is None:
        return None
    read = count(sent.get("cache_read_input_tokens"))
    write = count(sent.get("cache_creation_input_tokens"))
    whole = given + (read or 0) + (write or 0)
    return _usage(whole, out, read=read, write=write, reasoning=None, sent=sent)


def gemini_usage(sent: Mapping[str, Any]) -> Usage | None:
    """Read ``usageMetadata`` of Gemini, where thoughts lie beside the output."""
    given = count(sent.get("promptTokenCount"))
    if given is None:
        return None
    # A call that only thought so far, or was blocked, has no candidates and says nothing of them.
    out = count(sent.get("candidatesTokenCount")) or 0
    thoughts = count(sent.get("thoughtsTokenCount"))
    given += count(sent.get("toolUsePromptTokenCount")) or 0
    return _usage(
        given,
        out + (thoughts or 0),
        read=count(sent.get("cachedContentTokenCount")),
        write=None,
        reasoning=thoughts,
        sent=sent,
    )


def merged(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Return both records as one: a later one may be partial, and null is not a count."""
    return {**older, **{key: value for key, value in newer.items() if value is not None}}


def _usage(
    given: int,
    out: int,
    *,
    read: int | None,
    write: int | None,
    reasoning: int | None,
    sent: Mapping[str, Any],
) -> Usage:
    """Hold what must hold: a part is never larger than its whole."""
    read = None if read is None else min(read, given)
    write = None if write is None else min(write, given - (read or 0))
    reasoning = None if reasoning is None else min(reasoning, out)
    return Usage(given, out, read, write, reasoning, sent)


def _first(*values: Any) -> int | None:
    return next((each for each in map(count, values) if each is not None), None)

"""Real answers of providers, replayed: what is read never depends on how the bytes were split."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtimes.models.answer import Assembly
from runtimes.models.anthropic_stream import AnthropicStream
from runtimes.models.base import (
    CallFailed,
    Finished,
    Kept,
    Reasoning,
    Text,
    ToolUse,
    Usage,
)
from runtimes.models.chat_stream import ChatStream
from runtimes.models.gemini_stream import GeminiStream
from runtimes.models.joining import joined
from runtimes.models.responses_stream import ResponsesStream
from runtimes.models.sse import SseSplitter
from tests.runtimes.models.servers import call, model_server, provider, stream
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from runtimes.models.base import ModelEvent
    from runtimes.models.stream_parser import StreamParser


def ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"new-{next(numbers)}"


KINDS: dict[str, Callable[[], StreamParser]] = {
    "openai-compatible": lambda: ChatStream(new_id=ids()),
    "openai": lambda: ResponsesStream(new_id=ids()),
    "anthropic": lambda: AnthropicStream(new_id=ids()),
    "gemini": lambda: GeminiStream(new_id=ids()),
}
DONE = b"data: [DONE]\n\n"
RECORDINGS = {
    "openai-chat-text.chunks.jsonl": "openai-compatible",
    "deepseek-reasoning.chunks.jsonl": "openai-compatible",
    "deepseek-tool-call.chunks.jsonl": "openai-compatible",
    "alibaba-tool-call.chunks.jsonl": "openai-compatible",
    "openrouter-stream-error.1.sse": "openai-compatible",
    "openai-responses-reasoning-call.chunks.jsonl": "openai",
    "openai-responses-quota-error.chunks.jsonl": "openai",
    "openai-responses-shell-tool.chunks.jsonl": "openai",
    "anthropic-text.chunks.jsonl": "anthropic",
    "anthropic-thinking.1.sse": "anthropic",
    "anthropic-tool-no-args.chunks.jsonl": "anthropic",
    "google-reasoning.chunks.jsonl": "gemini",
    "google-call-thought-signature.1.sse": "gemini",
    "google-call-thought-signature.2.sse": "gemini",
}


def recorded(name: str) -> bytes:
    """Return a recording as the body of an answer."""
    data = shared_path("recordings", name).read_bytes()
    if name.endswith(".sse"):
        return data
    lines = (line for line in data.splitlines() if line.strip())
    body = b"".join(b"data: " + line + b"\n\n" for line in lines)
    return body + DONE if RECORDINGS[name] == "openai-compatible" else body


def read(chunks: Iterable[bytes], parser: StreamParser) -> list[ModelEvent]:
    splitter = SseSplitter()
    events: list[ModelEvent] = []
    for chunk in chunks:
        for data in splitter.feed(chunk):
            if not parser.over:
                events += parser.take(data)
    for data in splitter.finish():
        if not parser.over:
            events += parser.take(data)
    return [*events, *parser.end()]


def cut(body: bytes, sizes: Iterator[int]) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        size = next(sizes)
        yield body[at : at + size]
        at += size


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_events_do_not_depend_on_the_split(name: str) -> None:
    body, new = recorded(name), KINDS[RECORDINGS[name]]
    whole = read([body], new())

    assert isinstance(whole[-1], Finished | CallFailed)
    assert read((body[at : at + 1] for at in range(len(body))), new()) == whole
    assert read(body.splitlines(keepends=True), new()) == whole
    assert read([body.replace(b"\n", b"\r\n")], new()) == whole


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_events_do_not_depend_on_a_random_split(name: str) -> None:
    body, new = recorded(name), KINDS[RECORDINGS[name]]
    whole = read([body], new())

    @settings(max_examples=10, deadline=None)
    @given(sizes=st.lists(st.integers(1, 4000), min_size=1, max_size=20))
    def any_split(sizes: list[int]) -> None:
        assert read(cut(body, itertools.cycle(sizes)), new()) == whole

    any_split()


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recording_cut_short_is_a_failed_call_or_as_long_as_its_finish(name: str) -> None:
    body, new = recorded(name), KINDS[RECORDINGS[name]]
    whole = read([body], new())[-1]

    for at in range(0, len(body) - 1, max(1, len(body) // 50)):
        last = read([body[:at]], new())[-1]

        assert last == whole or (isinstance(last, CallFailed) and last.retry)


def replayed(name: str) -> tuple[Assembly, ModelEvent]:
    assembly = Assembly()
    *events, last = read([recorded(name)], KINDS[RECORDINGS[name]]())
    for event in events:
        assembly.take(event)
    return assembly, last


def texts(assembly: Assembly, kind: type[Text | Reasoning]) -> str:
    return "".join(part.text for part in assembly.parts() if isinstance(part, kind))


def calls(assembly: Assembly) -> list[tuple[str, Any]]:
    used = (part for part in assembly.parts() if isinstance(part, ToolUse))
    return [(part.name, orjson.loads(part.arguments)) for part in used]


def test_openai_counts_in_a_chunk_without_choices() -> None:
    assembly, last = replayed("openai-chat-text.chunks.jsonl")

    assert last == Finished("stop", "stop")
    assert texts(assembly, Text).startswith("**Holiday Name:**")
    assert assembly.usage == Usage(16, 300, cache_read_tokens=0, reasoning_tokens=0)


def test_deepseek_thinks_in_a_field_of_its_own_and_counts_what_it_cached() -> None:
    assembly, last = replayed("deepseek-reasoning.chunks.jsonl")

    assert last == Finished("stop", "stop")
    assert texts(assembly, Reasoning)
    assert texts(assembly, Text)
    assert assembly.usage is not None
    assert assembly.usage.reasoning_tokens is not None
    assert assembly.usage.cache_read_tokens is not None


@pytest.mark.parametrize(
    "name", ["deepseek-tool-call.chunks.jsonl", "alibaba-tool-call.chunks.jsonl"]
)
def test_a_call_in_pieces_is_one_call(name: str) -> None:
    assembly, last = replayed(name)

    assert last == Finished("tools", "tool_calls")
    assert calls(assembly) == [("weather", {"location": "San Francisco"})]


def test_openrouter_fails_after_its_finish() -> None:
    _, last = replayed("openrouter-stream-error.1.sse")

    assert isinstance(last, CallFailed)
    assert (last.status, last.retry) == (400, False)
    assert "Token limit reached" in last.message


def test_responses_keep_encrypted_reasoning_before_the_call_it_led_to() -> None:
    assembly, last = replayed("openai-responses-reasoning-call.chunks.jsonl")

    assert last == Finished("tools", "completed")
    kept = [type(part) for part in assembly.parts() if isinstance(part, Kept | ToolUse)]
    assert kept == [Kept, ToolUse]


def test_a_quota_that_is_spent_is_not_asked_for_again() -> None:
    _, last = replayed("openai-responses-quota-error.chunks.jsonl")

    assert isinstance(last, CallFailed)
    assert (last.status, last.retry) == (429, False)
    assert "exceeded your current quota" in last.message


def test_tools_that_the_provider_runs_itself_are_passed_over() -> None:
    assembly, last = replayed("openai-responses-shell-tool.chunks.jsonl")

    assert last == Finished("stop", "completed")
    assert calls(assembly) == []


def test_anthropic_signs_what_it_thinks() -> None:
    assembly, last = replayed("anthropic-thinking.1.sse")

    assert last == Finished("stop", "end_turn")
    (block,) = (part.payload["block"] for part in assembly.parts() if isinstance(part, Kept))
    assert block["thinking"] == texts(assembly, Reasoning)
    assert len(block["signature"]) > 100


def test_anthropic_closes_a_call_without_arguments() -> None:
    assembly, last = replayed("anthropic-tool-no-args.chunks.jsonl")

    assert last == Finished("tools", "tool_use")
    assert calls(assembly) == [("updateIssueList", {})]
    assert assembly.usage == Usage(565, 48, cache_read_tokens=0, cache_write_tokens=0)


def test_gemini_counts_thoughts_beside_its_output() -> None:
    assembly, last = replayed("google-call-thought-signature.1.sse")

    assert last == Finished("tools", "STOP")
    assert calls(assembly) == [("get_country", {})]
    assert assembly.usage == Usage(29, 212, reasoning_tokens=202)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_over_a_socket_brings_the_same(name: str) -> None:
    body, kind = recorded(name), RECORDINGS[name]
    pieces = [body[at : at + 1009] for at in range(0, len(body), 1009)]
    with model_server(stream(*pieces)) as server:
        # What one read brings is joined, and nobody knows what a read will bring.
        got = list(joined(call(provider(server, kind=kind))))

    whole = list(joined(read([body], KINDS[kind]())))
    assert [type(each) for each in got] == [type(each) for each in whole]

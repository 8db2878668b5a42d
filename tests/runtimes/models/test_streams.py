"""Answers that no recording has, read by the parsers of their wire formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from runtimes.models.answer import Assembly
from runtimes.models.anthropic_stream import AnthropicStream
from runtimes.models.base import (
    CallFailed,
    Finished,
    KeepForLater,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolUse,
    Usage,
)
from runtimes.models.chat_stream import ChatStream
from runtimes.models.gemini_stream import GeminiStream
from runtimes.models.responses_stream import ResponsesStream
from runtimes.models.think_tags import ThinkTags

if TYPE_CHECKING:
    from runtimes.models.base import ModelEvent
    from runtimes.models.stream_parser import StreamParser


def read(parser: StreamParser, *values: Any) -> list[ModelEvent]:
    events = [event for value in values for event in parser.take(orjson.dumps(value))]
    return [*events, *parser.end()]


# --- think tags


def thought_of(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    thoughts, texts = zip(*[*(tags.feed(piece) for piece in pieces), tags.finish()], strict=True)
    return "".join(thoughts), "".join(texts)


@pytest.mark.parametrize(
    ("text", "thought", "shown"),
    [
        ("<think>hm</think>yes", "hm", "yes"),
        ("\n<think>\nhm\n</think>\n\nyes", "\nhm\n", "yes"),
        ("<think></think>yes", "", "yes"),
        ("<think>never closed", "never closed", ""),
        ("a < b and <think>no</think>", "", "a < b and <think>no</think>"),
        ("<thin", "", "<thin"),
        ("plain", "", "plain"),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("<think>x </thi y</think>z", "x </thi y", "z"),
        ("", "", ""),
    ],
)
def test_think_tags_count_at_the_very_start_only(text: str, thought: str, shown: str) -> None:
    assert thought_of([text]) == (thought, shown)
    assert thought_of(list(text)) == (thought, shown)


def test_a_local_server_that_thinks_in_its_text_is_understood() -> None:
    chunks = [
        {"choices": [{"delta": {"content": piece}}]} for piece in ("<thi", "nk>hm</think>", "so")
    ]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}

    got = read(ChatStream(), *chunks, end)

    assert got == [ReasoningDelta("hm"), TextDelta("so"), Finished("stop", "stop")]


# --- chat completions


def test_mistral_sends_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "so"}]

    got = read(
        ChatStream(),
        {"choices": [{"delta": {"content": content}, "finish_reason": "model_length"}]},
    )

    assert got == [ReasoningDelta("hm"), TextDelta("so"), Finished("length", "model_length")]


def test_a_refusal_is_shown_and_told() -> None:
    got = read(
        ChatStream(), {"choices": [{"delta": {"refusal": "I won't."}, "finish_reason": "stop"}]}
    )

    assert got == [TextDelta("I won't."), Finished("refused", "stop")]


def test_arguments_may_come_as_an_object() -> None:
    function = {"name": "read", "arguments": {"p": 1}}
    delta = {"tool_calls": [{"id": "a", "function": function}]}

    got = read(ChatStream(), {"choices": [{"delta": delta, "finish_reason": "tool_calls"}]})

    assert got[0] == ToolCalled("a", "read", '{"p":1}')


def test_the_old_form_of_a_call_is_understood() -> None:
    first = {"function_call": {"name": "read", "arguments": '{"p"'}}
    second = {"function_call": {"arguments": ":1}"}}

    got = read(
        ChatStream(new_id=lambda: "x"),
        {"choices": [{"delta": first}]},
        {"choices": [{"delta": second, "finish_reason": "function_call"}]},
    )

    assert got == [ToolCalled("x", "read", '{"p":1}'), Finished("tools", "function_call")]


def test_usage_that_is_repeated_counts_once() -> None:
    def chunk(given: int, out: int) -> dict[str, Any]:
        usage = {"prompt_tokens": given, "completion_tokens": out}
        return {"choices": [{"delta": {"content": "a"}}], "usage": usage}

    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}

    got = read(ChatStream(), chunk(5, 1), chunk(5, 2), end)

    assert [each for each in got if isinstance(each, Usage)] == [Usage(5, 2)]


def test_groq_counts_in_a_field_of_its_own() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": usage}}

    assert read(ChatStream(), end)[0] == Usage(5, 2)


# --- Responses


def item(**more: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": 0, "item": more}


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete"])
def test_responses_say_why_they_are_incomplete(kind: str) -> None:
    response = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }

    got = read(ResponsesStream(), {"type": kind, "response": response})

    assert got == [Usage(3, 2), Finished("length", "max_output_tokens")]


def test_text_that_came_in_no_delta_is_taken_from_its_item() -> None:
    content = [{"type": "output_text", "text": "whole"}]
    done = {"type": "response.completed", "response": {"status": "completed"}}

    got = read(ResponsesStream(), item(type="message", content=content), done)

    assert got == [TextDelta("whole"), Finished("stop", "completed")]


def test_summaries_are_paragraphs() -> None:
    def delta(text: str) -> dict[str, Any]:
        return {"type": "response.reasoning_summary_text.delta", "delta": text}

    part = {"type": "response.reasoning_summary_part.added"}

    got = read(ResponsesStream(), part, delta("a"), part, delta("b"))

    assert got[:3] == [ReasoningDelta("a"), ReasoningDelta("\n\n"), ReasoningDelta("b")]


def test_a_refusal_of_responses_is_told() -> None:
    refusal = {"type": "response.refusal.delta", "output_index": 0, "delta": "No."}
    done = {"type": "response.completed", "response": {"status": "completed"}}

    assert read(ResponsesStream(), refusal, done) == [
        TextDelta("No."),
        Finished("refused", "completed"),
    ]


def test_a_half_call_of_responses_comes_as_far_as_it_got() -> None:
    half = item(type="function_call", call_id="a", name="w", arguments='{"p', status="incomplete")
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

    got = read(ResponsesStream(), half, {"type": "response.incomplete", "response": response})

    assert got == [ToolCalled("a", "w", '{"p'), Finished("length", "max_output_tokens")]


def called(index: int, call_id: str, arguments: str) -> dict[str, Any]:
    sent = item(type="function_call", call_id=call_id, name="w", arguments=arguments)
    return {**sent, "output_index": index}


def test_what_no_event_of_responses_brought_is_taken_from_the_whole() -> None:
    text = {"type": "output_text", "text": "a"}
    said = item(type="message", content=[text])
    first, second = called(1, "c1", '{"x": 1}'), called(2, "c2", '{"x": 1}')
    whole = [each["item"] for each in (said, first, second)]
    done = {"type": "response.completed", "response": {"status": "completed", "output": whole}}

    calls = [ToolCalled("c1", "w", '{"x": 1}'), ToolCalled("c2", "w", '{"x": 1}')]
    for brought in ([said, first, second], [said, first], [said], []):
        assert read(ResponsesStream(), *brought, done) == [
            TextDelta("a"),
            *calls,
            Finished("tools", "completed"),
        ]


def test_an_event_that_is_sent_twice_is_one_call() -> None:
    one = called(0, "c", '{"x": 1}')
    block = [opened(0, type="tool_use", id="c", name="w", input={"x": 1})]
    closed = {"type": "content_block_stop", "index": 0}
    part = {"functionCall": {"id": "c", "name": "w", "args": {"x": 1}}}
    completed = {"type": "response.completed", "response": {}}

    for got in (
        read(ResponsesStream(), one, one, completed),
        read(AnthropicStream(), *block, closed, *block, closed, *end("tool_use")),
        read(GeminiStream(), candidate(part), candidate(part, finish="STOP")),
    ):
        assert [event.call_id for event in got if isinstance(event, ToolCalled)] == ["c"]


def test_calls_that_nothing_tells_apart_are_as_many_as_were_made() -> None:
    part = {"functionCall": {"name": "w", "args": {"x": 1}}}

    got = read(GeminiStream(new_id=iter("ab").__next__), candidate(part, part, finish="STOP"))

    assert [event.call_id for event in got if isinstance(event, ToolCalled)] == ["a", "b"]


def test_a_failed_response_says_why() -> None:
    response = {"status": "failed", "error": {"code": "server_error", "message": "oh"}}

    (failed,) = read(ResponsesStream(), {"type": "response.failed", "response": response})

    assert failed == CallFailed("it broke off: oh", 500, retry=True)


# --- Anthropic


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"usage": usage}}


def end(reason: str, **usage: int) -> list[dict[str, Any]]:
    delta = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [delta, {"type": "message_stop"}]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("pause_turn", "pause"),
        ("tool_use", "stop"),
        ("bored", "broken"),
    ],
)
def test_anthropic_finishes(word: str, reason: Any) -> None:
    assert read(AnthropicStream(), *end(word))[-1] == Finished(reason, word)


def test_a_doubled_start_loses_no_count() -> None:
    got = read(
        AnthropicStream(),
        start(input_tokens=3, cache_read_input_tokens=9, output_tokens=1),
        start(input_tokens=3, output_tokens=1),
        *end("end_turn", output_tokens=7),
    )

    assert got[0] == Usage(12, 7, cache_read_tokens=9)


def test_what_was_hidden_is_kept() -> None:
    block = {"type": "redacted_thinking", "data": "xyz"}

    got = read(
        AnthropicStream(),
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        *end("end_turn"),
    )

    assert got[0] == KeepForLater({"from": "anthropic", "block": block})


def test_a_block_that_was_not_closed_is_no_call() -> None:
    block = {"type": "tool_use", "id": "a", "name": "w", "input": {}}

    got = read(
        AnthropicStream(),
        {"type": "content_block_start", "index": 0, "content_block": block},
        *end("max_tokens"),
    )

    assert got == [Finished("length", "max_tokens")]


def opened(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **brought: Any) -> dict[str, Any]:
    sent = {"type": kind, **brought}
    return {"type": "content_block_delta", "index": index, "delta": sent}


def test_blocks_that_no_proxy_closed_are_closed_by_the_end() -> None:
    got = read(
        AnthropicStream(),
        opened(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="s"),
        opened(1, type="tool_use", id="a", name="w", input={}),
        delta(1, "input_json_delta", partial_json='{"x": 1}'),
        *end("tool_use"),
    )

    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert got == [
        ReasoningDelta("hm"),
        KeepForLater({"from": "anthropic", "block": block}),
        ToolCalled("a", "w", '{"x": 1}'),
        Finished("tools", "tool_use"),
    ]


@pytest.mark.parametrize("pieces", [[], [""], ["", ""]])
def test_a_call_that_was_not_closed_and_has_no_arguments_is_not_lost_in_silence(
    pieces: list[str],
) -> None:
    block = opened(0, type="tool_use", id="a", name="w", input={})
    deltas = [delta(0, "input_json_delta", partial_json=piece) for piece in pieces]

    (failed,) = read(AnthropicStream(), block, *deltas, *end("tool_use"))

    assert failed == CallFailed("its call of w is not whole", retry=True)


def test_nothing_is_read_of_an_answer_after_a_call_that_is_not_whole() -> None:
    nameless = opened(0, type="tool_use", id="a", name="", input={"x": 1})
    whole = opened(1, type="tool_use", id="b", name="w", input={"x": 1})

    of_anthropic = read(AnthropicStream(), nameless, whole, *end("tool_use"))
    of_gemini = read(
        GeminiStream(),
        candidate(
            {"text": "a"},
            {"functionCall": {"args": {}}},
            {"functionCall": {"name": "w"}},
            {"text": "b"},
        ),
    )

    failed = CallFailed("its call of a tool without a name is not whole", retry=True)
    assert of_anthropic == [failed]
    assert of_gemini == [TextDelta("a"), failed]


@pytest.mark.parametrize("odd", [5, True, ["a"], {"text": "a"}, None])
def test_a_piece_that_is_no_text_is_none(odd: Any) -> None:
    completed = {"type": "response.completed", "response": {}}

    of_anthropic = read(
        AnthropicStream(),
        delta(0, "text_delta", text=odd),
        delta(0, "text_delta", text="b"),
        *end("end_turn"),
    )
    of_openai = [
        read(ResponsesStream(), {"type": kind, "delta": odd}, completed)
        for kind in (
            "response.output_text.delta",
            "response.reasoning_text.delta",
            "response.refusal.delta",
        )
    ]

    assert of_anthropic == [TextDelta("b"), Finished("stop", "end_turn")]
    assert of_openai == [
        [Finished("stop", "completed")],
        [Finished("stop", "completed")],
        [Finished("refused", "completed")],
    ]


def test_a_stop_without_a_reason_is_a_cut() -> None:
    (failed,) = read(AnthropicStream(), {"type": "message_stop"})

    assert isinstance(failed, CallFailed)
    assert failed.retry


# --- Gemini


def candidate(*parts: Any, finish: str | None = None) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}]}


@pytest.mark.parametrize(
    ("word", "reason"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "refused"), ("OTHER", "broken")],
)
def test_gemini_finishes(word: str, reason: Any) -> None:
    assert read(GeminiStream(), candidate({"text": "a"}, finish=word))[-1] == Finished(reason, word)


def test_a_malformed_call_of_gemini_may_be_tried_again() -> None:
    (failed,) = read(GeminiStream(), candidate(finish="MALFORMED_FUNCTION_CALL"))

    assert isinstance(failed, CallFailed)
    assert failed.retry


def test_a_blocked_prompt_is_a_refusal() -> None:
    got = read(GeminiStream(), {"promptFeedback": {"blockReason": "SAFETY"}})

    assert got == [Finished("refused", "SAFETY")]


def test_gemini_thinks_and_signs() -> None:
    call = {"functionCall": {"name": "read", "args": {"p": 1}}, "thoughtSignature": "s1"}

    got = read(
        GeminiStream(new_id=lambda: "x"),
        candidate({"text": "hm", "thought": True}, call),
        candidate({"text": "", "thoughtSignature": "s2"}, finish="STOP"),
    )

    assert got == [
        ReasoningDelta("hm"),
        KeepForLater({"from": "gemini", "call_id": "x", "thoughtSignature": "s1"}),
        ToolCalled("x", "read", '{"p":1}'),
        KeepForLater({"from": "gemini", "thoughtSignature": "s2"}),
        Finished("tools", "STOP"),
    ]


def test_an_id_that_gemini_gave_is_kept_with_its_signature() -> None:
    called = {"functionCall": {"id": "g1", "name": "read"}, "thoughtSignature": "s1"}

    got = read(GeminiStream(), candidate(called, finish="STOP"))

    kept = {"from": "gemini", "call_id": "g1", "id": "g1", "thoughtSignature": "s1"}
    assert got[:2] == [KeepForLater(kept), ToolCalled("g1", "read", "{}")]


# --- all


HALF = rb'"hi \ud83d \ud83d\ude00"'
HALF_SHOWN = "hi \ufffd \U0001f600"


@pytest.mark.parametrize(
    ("parser", "sent"),
    [
        (ChatStream, rb'{"choices":[{"index":0,"delta":{"content":%s}}]}'),
        (ResponsesStream, rb'{"type":"response.output_text.delta","output_index":0,"delta":%s}'),
        (
            AnthropicStream,
            rb'{"type":"content_block_delta","delta":{"type":"text_delta","text":%s}}',
        ),
        (GeminiStream, rb'{"candidates":[{"content":{"parts":[{"text":%s}]}}]}'),
    ],
)
def test_half_a_character_does_not_break_an_answer(parser: Any, sent: bytes) -> None:
    assert list(parser().take(sent % HALF)) == [TextDelta(HALF_SHOWN)]


def test_half_a_character_in_arguments_does_not_cost_the_call() -> None:
    assembly = Assembly()
    assembly.take(ToolCalled("c1", "write", r'{"path": "a", "content": "x\ud83d \\ud83d"}'))
    assembly.take(ToolCalled("c2", "write", r'{"path": "a\ud83d", oops'))

    assert assembly.parts() == (
        ToolUse("c1", "write", r'{"path": "a", "content": "x\ufffd \\ud83d"}'),
    )
    assert [call.call_id for call in assembly.dropped] == ["c2"]


def chat_call(**call: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}


DEEP = "[" * 480 + "]" * 480
"""Can be read, and not be written again once it lies in a request."""


@pytest.mark.parametrize(
    ("parser", "sent"),
    [
        (ChatStream, [chat_call(id="c", function={"name": "w", "arguments": '{"x": DEEP}'})]),
        (
            ResponsesStream,
            [
                called(0, "c", '{"x": DEEP}'),
                {"type": "response.completed", "response": {}},
            ],
        ),
        (
            AnthropicStream,
            [
                opened(0, type="tool_use", id="c", name="w", input={}),
                delta(0, "input_json_delta", partial_json='{"x": DEEP}'),
                *end("tool_use"),
            ],
        ),
    ],
)
def test_arguments_that_are_nested_too_deeply_are_none(parser: Any, sent: Any) -> None:
    assembly = Assembly()

    for event in read(parser(), *orjson.loads(orjson.dumps(sent).replace(b"DEEP", DEEP.encode()))):
        assembly.take(event)

    assert not assembly.parts()
    assert [call.call_id for call in assembly.dropped] == ["c"]


def test_an_event_that_is_nested_too_deeply_is_a_failed_call() -> None:
    stream = GeminiStream()
    part = b'{"functionCall": {"name": "w", "args": {"x": %s}}}' % DEEP.encode()

    stream.take(b'{"candidates": [{"content": {"parts": [%s]}}]}' % part)

    assert stream.end() == (CallFailed("it sent an event that is no JSON", retry=True),)


@pytest.mark.parametrize("parser", [ChatStream, ResponsesStream, AnthropicStream, GeminiStream])
@pytest.mark.parametrize(
    "sent", [[], [[]], "text", 3, {"choices": 3}, {"candidates": [3]}, {"type": "message_start"}]
)
def test_nonsense_is_a_failed_call_and_no_crash(parser: Any, sent: Any) -> None:
    assert isinstance(read(parser(), sent)[-1], CallFailed)

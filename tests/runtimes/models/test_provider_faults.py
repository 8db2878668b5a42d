"""What users of comparable systems met in streams of providers; each once over real sockets."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.models.answer import CallError
from runtimes.models.base import (
    CallFailed,
    Finished,
    KeepForLater,
    Message,
    ModelRequest,
    Noted,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    Tool,
    ToolCalled,
    ToolOutput,
    ToolUse,
    Usage,
)
from runtimes.models.calling import Retrying, call_model
from tests.fakes import Running
from tests.runtimes.models.servers import (
    GOOD,
    REQUEST,
    Naps,
    call,
    chat,
    events,
    full_call,
    hang_up,
    model_server,
    provider,
    signal,
    silent_after,
    status,
    stream,
    typed,
)

if TYPE_CHECKING:
    from tests.runtimes.models.servers import Peer


FOREIGN_HINTS = (
    "soon",
    "-1",
    "nan",
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    "Mon, 01 Jan 2020 00:00:00 +99999999999999",
)


def calls_of(*deltas: Any) -> dict[str, Any]:
    return chat({"tool_calls": list(deltas)})


def function(name: str | None, arguments: str | None, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


def told(*chunks: Any, end: bytes = b"data: [DONE]\n\n") -> list[Any]:
    with model_server(stream(events(*chunks, end=end))) as server:
        return call(provider(server))


# --- B051


def test_tool_calls_without_an_index_are_told_apart_by_id() -> None:
    first = function("read", '{"p":1}', id="a")
    second = function("read", '{"p":2}', id="b")

    got = told(calls_of(first, second), chat(finish="tool_calls"))

    assert got == [
        ToolCalled("a", "read", '{"p":1}'),
        ToolCalled("b", "read", '{"p":2}'),
        Finished("tools", "tool_calls"),
    ]


def test_pieces_without_an_index_go_on_with_the_last_call() -> None:
    got = told(
        calls_of(function("read", "", id="a")),
        calls_of({"function": {"arguments": '{"p"'}}),
        calls_of({"function": {"arguments": ":1}"}}),
        chat(finish="tool_calls"),
    )

    assert got[0] == ToolCalled("a", "read", '{"p":1}')


def test_calls_that_all_have_index_0_are_told_apart_by_id() -> None:
    got = told(
        calls_of(function("read", '{"p":1}', id="a", index=0)),
        calls_of(function("read", '{"p":2}', id="b", index=0)),
        chat(finish="tool_calls"),
    )

    assert [each.call_id for each in got[:2]] == ["a", "b"]


def test_interleaved_pieces_go_to_the_call_of_their_index() -> None:
    got = told(
        calls_of(function("read", '{"p"', id="a", index=0), function("grep", "", id="b", index=1)),
        calls_of({"index": 1, "id": "", "function": {"arguments": '{"q":2}'}}),
        calls_of({"index": 0, "function": {"arguments": ":1}"}}),
        chat(finish="tool_calls"),
    )

    assert got[:2] == [ToolCalled("a", "read", '{"p":1}'), ToolCalled("b", "grep", '{"q":2}')]


def test_calls_without_any_id_get_ids_of_their_own() -> None:
    got = told(calls_of(function("read", "{}"), function("read", "{}")), chat(finish="tool_calls"))

    assert len({each.call_id for each in got[:2]}) == 2


# --- B053


def test_chunks_without_choices_are_passed_over_and_what_they_carry_is_kept() -> None:
    got = told(
        {"choices": [], "prompt_filter_results": []},
        {"object": "chat.completion.chunk"},
        {"choices": [{"index": 0, "delta": None}]},
        chat({"content": None}),
        chat({"content": "hi"}),
        chat(finish="stop"),
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
    )

    assert got == [TextDelta("hi"), Usage(10, 2), Finished("stop", "stop")]


# --- B054

CUT_ANTHROPIC = typed(
    {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "par"}},
)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("openai-compatible", events(chat({"content": "par"}), end=b"")),
        ("openai-compatible", events(chat({"content": "par"}))),
        (
            "openai-compatible",
            events(calls_of(function("write", '{"pa', id="a", index=0)), end=b""),
        ),
        ("anthropic", CUT_ANTHROPIC),
        ("openai", typed({"type": "response.output_text.delta", "delta": "par"})),
        ("gemini", events({"candidates": [{"content": {"parts": [{"text": "par"}]}}]}, end=b"")),
    ],
)
@pytest.mark.parametrize("clean", [True, False])
def test_a_cut_stream_is_a_failed_call_that_may_be_tried_again(
    kind: str, body: bytes, *, clean: bool
) -> None:
    with model_server(stream(body, end=clean)) as server:
        got = call(provider(server, kind=kind))

    last = got[-1]
    assert isinstance(last, CallFailed)
    assert last.retry
    assert not any(isinstance(each, ToolCalled) for each in got)


def test_after_a_cut_stream_the_whole_answer_is_the_one_that_counts() -> None:
    with model_server(stream(events(chat({"content": "hel"}), end=b"")), GOOD) as server:
        shown, answer = full_call(provider(server))

    assert shown[0] == TextDelta("hel")
    assert isinstance(shown[1], Retrying)
    assert answer.parts == (Text("hello"),)
    assert (answer.finish, answer.retries, answer.error) == ("stop", 1, None)


def test_a_half_call_is_dropped_where_the_answer_was_cut_by_its_limit() -> None:
    half = calls_of(function("write", '{"path": "a', id="a", index=0))
    with model_server(stream(events(half, chat(finish="length")))) as server:
        _, answer = full_call(provider(server))

    assert answer.finish == "length"
    assert answer.calls == ()
    assert answer.dropped == (ToolUse("a", "write", '{"path": "a'),)


def test_a_call_whose_arguments_never_arrived_is_not_taken_for_an_empty_one() -> None:
    tool = Tool("write", "", {"type": "object", "properties": {"path": {}}})
    bare = Tool("stop", "", {"type": "object", "properties": {}})
    request = ModelRequest("m", REQUEST.messages, tools=(tool, bare))
    named = calls_of(function("write", "", id="a", index=0))
    plain = calls_of(function("stop", "", id="a", index=0))
    end = chat(finish="tool_calls")
    with model_server(stream(events(named, end)), stream(events(plain, end))) as server:
        called = provider(server)

        first, second = call(called, request), call(called, request)

    assert first == [CallFailed("local: its call of write is not whole", retry=True)]
    assert second[0] == ToolCalled("a", "stop", "{}")


# --- B056


def test_characters_split_between_reads_stay_whole() -> None:
    text = "héllo 你好 🧩"
    body = events(chat({"content": text}), chat(finish="stop"))
    raw = b'data: {"choices":[{"delta":{"content":"' + text.encode() + b'"}}]}\n\n' + body
    with model_server(stream(*(raw[at : at + 1] for at in range(len(raw))))) as server:
        got = call(provider(server))

    assert got[:2] == [TextDelta(text), TextDelta(text)]


# --- B058


@pytest.mark.parametrize(
    ("chunk", "said", "code", "retry"),
    [
        (
            {"error": {"message": "quota exceeded", "code": 402}, "choices": []},
            "quota exceeded",
            402,
            False,
        ),
        ({"error": {"message": "upstream died", "code": 502}}, "upstream died", 502, True),
        ({"error": "something odd"}, "something odd", None, True),
        ({"object": "error", "message": "bad", "code": 400}, "bad", 400, False),
        (chat(finish="error"), "stopped with 'error'", None, True),
    ],
)
def test_an_error_inside_a_good_status_is_an_error(
    chunk: Any, said: str, code: int | None, *, retry: bool
) -> None:
    (failed,) = told(chunk)

    assert isinstance(failed, CallFailed)
    assert said in failed.message
    assert (failed.status, failed.retry) == (code, retry)


def test_an_unknown_finish_is_no_success_and_says_its_word() -> None:
    assert told(chat({"content": "a"}), chat(finish="bored"))[-1] == Finished("broken", "bored")


@pytest.mark.parametrize(
    ("word", "reason"), [("content_filter", "refused"), ("length", "length"), ("STOP", "stop")]
)
def test_finishes_are_told_in_our_words(word: str, reason: str) -> None:
    assert told(chat({"content": "a"}), chat(finish=word))[-1] == Finished(reason, word.lower())  # type: ignore[arg-type]


def test_an_event_that_is_no_json_breaks_the_stream() -> None:
    good = events(chat({"content": "a"}), end=b"")
    with model_server(stream(good, b"data: {oops\n\n", events(chat(finish="stop")))) as server:
        got = call(provider(server))

    assert got == [
        TextDelta("a"),
        CallFailed("local: it sent an event that is no JSON", retry=True),
    ]


# --- B059


def overload() -> Peer:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    return stream(typed({"type": "error", "error": error}))


def test_an_overload_in_the_stream_is_tried_again_and_shown_once() -> None:
    answer_body = CUT_ANTHROPIC + typed(
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    )
    with model_server(overload(), stream(answer_body)) as server:
        naps = Naps()
        shown, answer = full_call(provider(server, kind="anthropic"), naps=naps)

    assert shown == [
        Retrying(2, 500, "local: it broke off: Overloaded", 529),
        TextDelta("par"),
    ]
    assert (answer.finish, answer.retries, answer.usage) == ("stop", 1, Usage(3, 7))
    assert naps.waits_s == [0.5]


def test_a_cancel_ends_the_wait_before_the_next_attempt() -> None:
    naps = Naps()
    naps.cancel_at = 1
    with model_server(overload()) as server:
        _, answer = full_call(provider(server, kind="anthropic"), naps=naps)

    assert (answer.finish, answer.parts) == ("cancelled", ())
    assert len(server.requests) == 1


# --- B061


def test_silence_ends_the_call_and_it_may_be_tried_again() -> None:
    pieces = events(chat({"content": "a"}), chat({"content": "b"}), end=b"")
    with model_server(silent_after(pieces)) as server:
        got = call(provider(server, stream_idle_timeout_s=1.0))
        assert server.gone.wait(10)

    # What one read brings is one piece; how much that is, is the network's.
    assert "".join(each.text for each in got if isinstance(each, TextDelta)) == "ab"
    assert got[-1] == CallFailed("local: nothing came for 1 s", retry=True)


def test_silence_before_the_first_byte_ends_the_call_too() -> None:
    with model_server(silent_after(head=False)) as server:
        (failed,) = call(provider(server, stream_idle_timeout_s=0.1))

    assert failed == CallFailed("local: nothing came for 0.1 s", retry=True)


# --- B063


def test_calls_are_run_whatever_the_reason_says() -> None:
    got = told(calls_of(function("read", "{}", id="a", index=0)), chat(finish="stop"))

    assert got == [ToolCalled("a", "read", "{}"), Finished("tools", "stop")]


def test_no_calls_means_that_the_turn_is_over_whatever_the_reason_says() -> None:
    assert told(chat({"content": "a"}), chat(finish="tool_calls"))[-1].reason == "stop"


# --- B065

THOUGHT = stream(
    events(
        chat({"reasoning_content": "I shall "}),
        chat({"reasoning_content": "read."}),
        calls_of(function("read", "{}", id="a", index=0)),
        chat(finish="tool_calls"),
    )
)


def test_reasoning_goes_back_with_the_calls_under_the_name_it_came_by() -> None:
    with model_server(THOUGHT, GOOD) as server:
        called = provider(server)
        _, answer = full_call(called)
        said = Message("assistant", answer.parts)
        done = Message("user", (ToolOutput("a", "text"),))
        full_call(called, ModelRequest("m", (*REQUEST.messages, said, done)))

    assert Reasoning("I shall read.") in answer.parts
    user, assistant, tool = server.requests[1].body["messages"]
    assert user == {"role": "user", "content": "hi"}
    assert assistant["reasoning_content"] == "I shall read."
    assert assistant["tool_calls"][0]["id"] == "a"
    assert tool == {"role": "tool", "tool_call_id": "a", "content": "text"}


def test_reasoning_stays_here_where_the_config_says_so() -> None:
    kept = (Reasoning("hm"), Text("so"), ToolUse("a", "read", "{}"))
    with model_server(GOOD) as server:
        request = ModelRequest("m", (Message("assistant", kept), Message("user", (Text("go"),))))
        call(provider(server, reasoning_back="never"), request)

    assert "reasoning_content" not in server.requests[0].body["messages"][0]


def test_ids_of_calls_become_nine_letters_where_the_config_says_so() -> None:
    used = Message("assistant", (ToolUse("call_1234567890", "read", "{}"),))
    done = Message("user", (ToolOutput("call_1234567890", "text"),))
    with model_server(GOOD) as server:
        call(provider(server, call_ids="nine"), ModelRequest("m", (used, done)))

    assistant, tool = server.requests[0].body["messages"]
    (used_id, done_id) = assistant["tool_calls"][0]["id"], tool["tool_call_id"]
    assert used_id == done_id
    assert len(used_id) == 9
    assert used_id.isalnum()


def forbids(code: int, message: str) -> Peer:
    return status(code, {"error": {"message": message}})


def test_a_field_that_the_server_refuses_is_never_sent_again() -> None:
    refusal = forbids(400, "Unrecognized request argument supplied: stream_options")
    with model_server(refusal, GOOD) as server:
        called = provider(server)
        first, second = call(called), call(called)

    assert first == second == [TextDelta("hello"), Finished("stop", "stop")]
    sent = ["stream_options" in each.body for each in server.requests]
    assert sent == [True, False, False]


def test_the_limit_of_tokens_goes_by_the_name_that_the_server_wants() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."
    with model_server(forbids(400, said), GOOD) as server:
        call(provider(server), ModelRequest("m", REQUEST.messages, max_output_tokens=9))

    assert server.requests[0].body["max_tokens"] == 9
    assert server.requests[1].body["max_completion_tokens"] == 9
    assert "max_tokens" not in server.requests[1].body


def test_an_effort_without_effect_is_told_once() -> None:
    refusal = status(422, {"detail": [{"loc": ["body", "reasoning_effort"], "msg": "extra"}]})
    with model_server(refusal, GOOD) as server:
        called = provider(server)
        request = ModelRequest("m", REQUEST.messages, effort="high")
        _, first = full_call(called, request)
        _, second = full_call(called, request)

    assert first.notes == ("local: the provider does not take --effort for this model",)
    assert second.notes == ()


def test_fields_are_left_out_where_the_config_says_so() -> None:
    with model_server(GOOD) as server:
        call(provider(server, omit=frozenset({"stream_options"})))

    assert set(server.requests[0].body) == {"model", "messages", "stream"}


def test_another_refusal_is_told_in_the_providers_words_and_not_tried_again() -> None:
    with model_server(forbids(400, "model 'm' is not for you")) as server:
        shown, answer = full_call(provider(server))

    assert shown == []
    said = "local: it answered 400: model 'm' is not for you"
    assert answer.error == CallError(said, http_status=400)
    assert len(server.requests) == 1


# --- B067


def limited(**headers: str) -> Peer:
    error = {"error": {"message": "Rate limited", "type": "rate_limit_error"}}
    return status(
        429, error, {name.replace("_", "-"): each for name, each in headers.items()}.items()
    )


def test_short_hints_are_obeyed() -> None:
    with model_server(limited(retry_after="2"), limited(retry_after_ms="2500"), GOOD) as server:
        naps = Naps()
        shown, answer = full_call(provider(server), naps=naps)

    assert naps.waits_s == [2.0, 2.5]
    assert [each.delay_ms for each in shown if isinstance(each, Retrying)] == [2000, 2500]
    assert answer.finish == "stop"


def test_a_hint_may_be_a_date() -> None:
    with model_server(limited(retry_after="Fri, 31 Dec 1999 23:59:59 GMT"), GOOD) as server:
        naps = Naps()
        full_call(provider(server), naps=naps)

    assert naps.waits_s == [0.0]


@pytest.mark.parametrize(
    "script",
    [
        limited(retry_after="864000"),
        status(429, {"error": {"message": "no money", "code": "insufficient_quota"}}),
    ],
)
def test_waits_that_cannot_help_are_not_begun(script: Peer) -> None:
    with model_server(script) as server:
        naps = Naps()
        shown, answer = full_call(provider(server), naps=naps)

    assert (shown, naps.waits_s, len(server.requests)) == ([], [], 1)
    assert answer.error is not None
    assert answer.error.http_status == 429


def test_a_body_of_google_says_when_to_come_back() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [info]}
    with model_server(status(429, {"error": error})) as server:
        (failed,) = call(provider(server, kind="gemini"))

    assert isinstance(failed, CallFailed)
    assert (failed.retry, failed.retry_after_s) == (True, 34.0)


def test_attempts_are_bounded_and_their_waits_grow() -> None:
    with model_server(status(500, {"error": {"message": "oh"}})) as server:
        naps = Naps()
        shown, answer = full_call(provider(server), naps=naps)

    assert naps.waits_s == [0.5, 1.0, 2.0, 4.0]
    assert [each.attempt for each in shown if isinstance(each, Retrying)] == [2, 3, 4, 5]
    assert answer.error == CallError("local: it answered 500: oh", "model", True, 500)  # noqa: FBT003


def test_a_server_that_hangs_up_is_called_again() -> None:
    with model_server(hang_up, GOOD) as server:
        shown, answer = full_call(provider(server))

    assert len(shown) == 2
    assert answer.text == "hello"


def test_nobody_at_home_is_told_and_tried_again() -> None:
    with model_server(GOOD) as server:
        address = server.url

    (failed,) = call(provider(address))

    assert isinstance(failed, CallFailed)
    assert failed.retry
    place = address.removesuffix("/v1")
    assert failed.message == f"local: no connection to {place}: Connection refused"


# --- B068


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("openai-compatible", {"error": {"code": "context_length_exceeded", "message": "long"}}),
        (
            "openai-compatible",
            {"error": {"code": 400, "message": "request exceeds the available context size"}},
        ),
        (
            "anthropic",
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 210000 tokens > 200000 maximum",
                },
            },
        ),
        (
            "gemini",
            {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "The input token count (2000000) exceeds the maximum (1048576).",
                }
            },
        ),
    ],
)
def test_a_conversation_that_is_too_long_is_told_apart_and_not_sent_again(
    kind: str, body: Any
) -> None:
    with model_server(status(400, body)) as server:
        _, answer = full_call(provider(server, kind=kind))

    assert answer.error is not None
    assert answer.error.context_overflow
    assert not answer.error.retryable
    assert len(server.requests) == 1


def test_a_request_that_is_too_large_for_anything_on_the_way_is_one_too() -> None:
    with model_server(status(413, b"<html>Request Entity Too Large</html>")) as server:
        _, answer = full_call(provider(server))

    assert answer.error is not None
    assert answer.error.context_overflow
    assert len(server.requests) == 1


@pytest.mark.parametrize("hint", FOREIGN_HINTS)
def test_a_hint_that_is_no_time_is_none(hint: str) -> None:
    naps = Naps()
    with model_server(status(429, {}, [("Retry-After", hint)]), GOOD) as server:
        _, answer = full_call(provider(server), naps=naps)

    assert answer.text == "hello"
    assert naps.waits_s == [0.5]


@pytest.mark.parametrize("where", ["detail", "error"])
def test_an_error_that_is_nested_deeply_is_told(where: str) -> None:
    deep = b"[" * 500 + b"]" * 500
    body = b'{"%s": %s, "message": ""}' % (where.encode(), deep)
    with model_server(status(400, body)) as server:
        (failed,) = call(provider(server))

    assert isinstance(failed, CallFailed)
    assert failed.message.startswith("local: it answered 400: {")


def test_an_overflow_may_also_come_in_the_stream() -> None:
    error = {"type": "error", "code": "context_length_exceeded", "message": "too long"}
    with model_server(stream(typed(error))) as server:
        (failed,) = call(provider(server, kind="openai"))

    assert isinstance(failed, CallFailed)
    assert failed.context_overflow


# --- cancel


def cancelled(server_script: Peer, **more: Any) -> tuple[list[Any], list[Any]]:
    """Cancel once the server has fallen silent; return what came before and what after."""
    cancel = signal()
    got: list[Any] = []
    with model_server(server_script) as server:
        called = provider(server, **more)
        running = Running(lambda: got.extend(call_model(called, REQUEST, cancel)))
        assert server.silent.wait(10)
        before = list(got)
        cancel.set()
        running.result()
        assert server.gone.wait(10)
    return before, got


def test_a_cancel_ends_a_stream_that_waits_for_its_next_piece() -> None:
    body = events(
        chat({"content": "half"}), calls_of(function("write", '{"a', id="a", index=0)), end=b""
    )

    _, got = cancelled(silent_after(body))

    assert got[-1].finish == "cancelled"
    assert got[-1].error is None
    assert got[-1].parts in {(Text("half"),), ()}
    assert got[-1].calls == ()


def test_a_cancel_ends_a_call_that_waits_for_its_first_byte() -> None:
    _, got = cancelled(silent_after(head=False))

    (answer,) = got
    assert (answer.finish, answer.parts) == ("cancelled", ())


def test_a_cancelled_call_never_sends_anything() -> None:
    cancel = signal()
    cancel.set()
    with model_server(GOOD) as server:
        (answer,) = call_model(provider(server), REQUEST, cancel)

    assert (answer.finish, server.requests) == ("cancelled", [])  # type: ignore[union-attr]


def test_a_cancel_after_the_end_does_not_cut_the_next_call() -> None:
    late = signal()
    with model_server(GOOD) as server:
        called = provider(server)
        call(called, cancel=late)
        late.set()

        got = call(called)

    assert got[-1] == Finished("stop", "stop")
    assert [each.connection for each in server.requests] == [1, 1]


# --- other answers


def test_a_page_instead_of_a_stream_points_to_the_address() -> None:
    page = status(200, b"<html><title>Log in</title></html>", [("Content-Type", "text/html")])
    with model_server(page) as server:
        (failed,) = call(provider(server))

    assert isinstance(failed, CallFailed)
    assert "base_url" in failed.message
    assert not failed.retry


@pytest.mark.parametrize("code", [200, 400])
def test_an_answer_that_is_compressed_unasked_is_told_once(code: int) -> None:
    packed = gzip.compress(events(chat({"content": "a"}, finish="stop")))
    with model_server(status(code, packed, [("Content-Encoding", "GZIP")])) as server:
        (failed,) = call(provider(server))

    said = "its answer is encoded as gzip" if code == 200 else "it answered 400"
    assert isinstance(failed, CallFailed)
    assert (failed.message, failed.retry) == (f"local: {said}", False)
    assert len(server.requests) == 1


def test_an_answer_that_is_not_streamed_is_taken_whole() -> None:
    message = {"role": "assistant", "content": "whole"}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    with model_server(status(200, body)) as server:
        got = call(provider(server))

    assert got == [TextDelta("whole"), Usage(1, 2), Finished("stop", "stop")]


def test_a_note_comes_before_the_answer_it_is_about() -> None:
    refusal = forbids(400, "temperature is not supported with this model")
    with model_server(refusal, GOOD) as server:
        got = call(provider(server), ModelRequest("m", REQUEST.messages, temperature=0.0))

    assert got[0] == Noted("local: the provider takes no temperature")


def test_details_of_reasoning_are_joined_and_kept() -> None:
    def piece(text: str) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": 0, "text": text, "signature": None}

    got = told(
        chat({"reasoning": "I ", "reasoning_details": [piece("I ")]}),
        chat({"reasoning": "think", "reasoning_details": [piece("think")]}),
        chat({"reasoning_details": [{**piece(""), "signature": "sig"}]}),
        chat({"content": "so"}, finish="stop"),
    )

    assert "".join(each.text for each in got if isinstance(each, ReasoningDelta)) == "I think"
    detail = {"type": "reasoning.text", "index": 0, "text": "I think", "signature": "sig"}
    kept = {"from": "openai-compatible", "reasoning_details": [detail]}
    assert KeepForLater(kept) in got


def test_text_that_is_no_unicode_is_sent_all_the_same() -> None:
    with model_server(GOOD) as server:
        call(provider(server), ModelRequest("m", (Message("user", (Text("a\ud800b"),)),)))

    assert server.requests[0].body["messages"][0]["content"] == "a?b"

"""Streams, usage and cost: what users of other agents reported, through `radian exec`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.judges.far import configure, exec_words
from tests.runtimes.models.servers import (
    GOOD,
    HEAD,
    ModelServer,
    chat,
    events,
    model_server,
    status,
    stream,
    typed,
)
from tests.runtimes.radian.box import Box, objects

if TYPE_CHECKING:
    import socket
    import subprocess

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 1000,
    "cache_read_input_tokens": 9000,
    "output_tokens": 1,
}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def said_by_anthropic(text: str) -> bytes:
    return typed(
        {"type": "message_start", "message": {"usage": USAGE}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 50},
        },
        {"type": "message_stop"},
    )


def result_of(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return objects(run.stdout)[-1]


# --- B054, B058


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (
            events({"error": {"message": "quota exceeded", "code": 402}, "choices": []}),
            5,
            "quota exceeded",
        ),
        (events(chat({"content": ""}), chat(finish="content_filter")), 6, ""),
        (events(chat({"content": "a"}), chat(finish="bored")), 6, "bored"),
    ],
)
def test_an_error_in_a_good_stream_or_an_odd_finish_is_no_success(
    box: Box, answer: bytes, code: int, words: str
) -> None:
    with model_server(stream(answer)) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    result = result_of(run)
    assert (run.returncode, result["exit_code"]) == (code, code)
    assert words in run.stdout
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "pieces",
    [
        events(chat({"content": "half an"}), end=b""),
        events(
            chat({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "write",
                  "arguments": '{"path": "a.txt", "content": "ha'}}]}),
            end=b"",
        ),
    ],
)  # fmt: skip
def test_a_cut_stream_is_asked_for_again_and_half_a_call_never_runs(
    box: Box, pieces: bytes
) -> None:
    with model_server(stream(pieces, end=False), GOOD) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    result = result_of(run)
    assert (run.returncode, result["text"]) == (0, "hello")
    assert (result["run_metrics"]["retries"], result["run_metrics"]["tool_calls"]) == (1, 0)
    assert sorted(path.name for path in box.workspace.iterdir()) == []


# --- B056


def test_characters_that_come_byte_by_byte_stay_whole(box: Box) -> None:
    text = "héllo 你好 🧩"
    # As servers send it: not escaped, so that the cuts go through the characters.
    spoken = json.dumps(chat({"content": text}), ensure_ascii=False).encode()
    whole = b"data: " + spoken + b"\n\n" + events(chat(finish="stop"))
    with model_server(stream(*(bytes([byte]) for byte in whole))) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    assert result_of(run)["text"] == text


# --- B059


def test_an_overload_in_the_stream_is_retried_and_shown_once(box: Box) -> None:
    with model_server(stream(typed(OVERLOADED)), stream(said_by_anthropic("Here."))) as server:
        configure(box, "anthropic", server.url)
        run = box.run(*exec_words())

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["text"]) == (0, "Here.")
    assert said[-1]["run_metrics"]["retries"] == 1
    assert [each["delta"] for each in said if each["type"] == "Text"] == ["Here."]


# --- B061


def test_a_slow_stream_that_lives_is_not_cut(box: Box) -> None:
    def slow(sock: socket.socket, server: ModelServer) -> None:
        # Longer than the limit on silence in all, and never silent for that long.
        sock.sendall(HEAD)
        for piece in (*(events(chat({"content": "a"}), end=b"") for _ in range(9)), LAST):
            server.release.wait(0.25)
            sock.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        sock.sendall(b"0\r\n\r\n")

    with model_server(slow) as server:
        configure(box, "openai-compatible", server.url)
        config = box.home / "config.toml"
        idle = '[providers.far]\nstream_idle_timeout = "2s"'
        config.write_text(config.read_text().replace("[providers.far]", idle))
        run = box.run(*exec_words())

    assert (run.returncode, result_of(run)["text"]) == (0, "a" * 9)
    assert result_of(run)["run_metrics"]["retries"] == 0


LAST = events(chat(finish="stop"))


# --- B063


def test_what_an_answer_holds_counts_more_than_its_last_word(box: Box) -> None:
    function = {"name": "glob", "arguments": '{"pattern": "*"}'}
    call = chat({"tool_calls": [{"index": 0, "id": "c", "function": function}]})
    with model_server(
        stream(events(call, chat(finish="stop"))),
        stream(events(chat({"content": "No more."}), chat(finish="tool_calls"))),
    ) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    metrics = result_of(run)["run_metrics"]
    assert (run.returncode, metrics["model_calls"], metrics["tool_calls"]) == (0, 2, 1)


# --- B065: a provider's private fields


def test_gemini_has_its_signatures_back_though_it_used_an_id_twice(box: Box) -> None:
    def called(path: str, signature: str) -> dict[str, Any]:
        call = {"id": "g", "name": "read", "args": {"path": path}}
        part = {"functionCall": call, "thoughtSignature": signature}
        return {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}

    done = {"candidates": [{"content": {"parts": [{"text": "Ok."}]}, "finishReason": "STOP"}]}
    for name in ("a", "b"):
        (box.workspace / name).write_text(f"text of {name}")
    answers = (called("a", "one"), called("b", "two"), done)
    with model_server(*(stream(events(each, end=b"")) for each in answers)) as server:
        configure(box, "gemini", server.url)
        run = box.run(*exec_words())
        _, first, answered, second, again = server.requests[-1].body["contents"]

    assert run.returncode == 0
    for said, heard, name, signature in (
        (first, answered, "a", "one"),
        (second, again, "b", "two"),
    ):
        (part,) = said["parts"]
        assert (part["thoughtSignature"], part["functionCall"]["id"]) == (signature, "g")
        (result,) = heard["parts"]
        assert result["functionResponse"]["id"] == "g"
        assert f"text of {name}" in result["functionResponse"]["response"]["output"]


# --- B067


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        ({"error": {"message": "come back in ten days"}}, [("Retry-After", "864000")], 75),
        ({"error": {"message": "no quota", "code": "insufficient_quota"}}, [], 5),
    ],
)
def test_a_wait_that_can_not_help_is_not_begun(
    box: Box, body: dict[str, Any], headers: list[tuple[str, str]], code: int
) -> None:
    with model_server(status(429, body, headers)) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    assert run.returncode == code
    assert body["error"]["message"] in result_of(run)["error"]
    assert len(server.requests) == 1


# --- B069, B073


def test_each_kind_of_token_is_paid_once_at_its_own_price(box: Box) -> None:
    prices = 'price_cache_read = "0.2"\nprice_cache_write = "2.5"\ncontext_window = 200000\n'
    with model_server(stream(said_by_anthropic("Ok."))) as server:
        configure(box, "anthropic", server.url, prices)
        run = box.run(*exec_words())

    result = result_of(run)
    # 3 at 2, 1000 at 2.5, 9000 at 0.2 and 50 at 10 dollars a million.
    assert result["cost"] == {"micros": 4806, "incomplete": False, "estimated": False}
    metrics = result["run_metrics"]
    assert (metrics["input_tokens"], metrics["output_tokens"]) == (10_003, 50)
    assert (metrics["cache_read_tokens"], metrics["cache_write_tokens"]) == (9000, 1000)
    assert (metrics["context_tokens"], metrics["context_window"]) == (10_053, 200_000)


def test_counts_that_are_repeated_in_each_chunk_count_once(box: Box) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    answer = events(
        *(chat({"content": each}, usage=usage) for each in "abc"), chat(finish="stop", usage=usage)
    )
    with model_server(stream(answer)) as server:
        configure(box, "openai-compatible", server.url)
        run = box.run(*exec_words())

    assert result_of(run)["cost"]["micros"] == 300
    assert result_of(run)["run_metrics"]["output_tokens"] == 10

"""Our end of a connection to a server, by values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.mcp.peer import Answered, McpPeer, Told


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def written(peer: McpPeer) -> list[Any]:
    return [json.loads(each) for each in peer.take_outgoing().splitlines()]


def asked(peer: McpPeer, method: str = "tools/call") -> int:
    request_id = peer.request(method, {})
    peer.take_outgoing()
    return request_id


def test_a_request_gets_its_answer_once() -> None:
    peer = McpPeer("file:///w")
    first, second = asked(peer), asked(peer)

    heard = peer.feed(line(id=second, result=2) + line(id=first, result=1) * 2)

    assert heard == [Answered(second, 2), Answered(first, 1)]
    assert peer.strays == 1


def test_an_error_is_an_answer_in_words() -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)

    heard = peer.feed(line(id=request_id, error={"code": -32602, "message": "no such tool"}))

    assert heard == [Answered(request_id, error="no such tool (-32602)")]


def test_giving_up_tells_the_server_and_a_late_answer_is_passed_over() -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)

    peer.give_up(request_id, "cancelled")

    assert written(peer) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": request_id, "reason": "cancelled"},
        }
    ]
    assert peer.feed(line(id=request_id, result=1)) == []
    peer.give_up(request_id, "again")
    assert written(peer) == []


def test_what_is_no_message_is_counted_and_harms_nothing() -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)
    noise = b'starting...\n\n{"status":200}\nnull\n[1,2]\n{"jsonrpc":"2.0","id":99,"result":0}\n'

    heard = peer.feed(noise + line(id=request_id, result="ok"))

    assert heard == [Answered(request_id, "ok")]
    assert peer.strays == 6
    assert written(peer) == []


def test_questions_of_the_server_are_answered_or_refused() -> None:
    peer = McpPeer("file:///home/box")

    peer.feed(line(id="a", method="ping"))
    peer.feed(line(id=0, method="roots/list"))
    peer.feed(line(id=1.5, method="sampling/createMessage", params={}))

    ping, roots, sampling = written(peer)
    assert (ping["id"], ping["result"]) == ("a", {})
    assert roots["result"] == {"roots": [{"uri": "file:///home/box", "name": "box"}]}
    assert (sampling["id"], sampling["error"]["code"]) == (1.5, -32601)


def test_messages_in_one_line_count_each() -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)
    batch = [
        {"jsonrpc": "2.0", "method": "x"},
        {"jsonrpc": "2.0", "id": request_id, "result": 1},
    ]

    assert peer.feed(json.dumps(batch).encode() + b"\n") == [Told("x", {}), Answered(request_id, 1)]


@pytest.mark.parametrize("form", [b"%s\n", b"[%s]\n"])
def test_half_a_character_does_not_cost_the_answer(form: bytes) -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)
    answer = rb'{"jsonrpc": "2.0", "id": %d, "result": "a\udcff"}' % request_id

    assert peer.feed(form % answer) == [Answered(request_id, "a\ufffd")]


def test_a_line_that_is_too_long_ends_what_it_may_have_answered_and_nothing_else() -> None:
    peer = McpPeer("file:///w", limit=100)
    lost = asked(peer)

    heard = peer.feed(line(id=lost, result="x" * 200))
    later = asked(peer)
    heard += peer.feed(line(id=later, result=1))

    assert [(each.id, each.error is None) for each in heard if isinstance(each, Answered)] == [
        (lost, False),
        (later, True),
    ]


@given(
    noise=st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b""))),
    cut=st.integers(1, 9),
)
def test_no_bytes_break_it_however_they_are_cut(noise: list[bytes], cut: int) -> None:
    peer = McpPeer("file:///w")
    request_id = asked(peer)
    stream = b"\n".join([*noise, b""]) + line(id=request_id, result="here")

    heard = [each for at in range(0, len(stream), cut) for each in peer.feed(stream[at : at + cut])]

    assert Answered(request_id, "here") in heard

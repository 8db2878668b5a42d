"""Envelopes, ids and errors: rows J01 to J27 of the conformance list, B007."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.talk import prompt_params
from tests.e2e.test_framing import codes
from tests.e2e.wire import line

if TYPE_CHECKING:
    from tests.e2e.talk import Talk

HANG = "echo ready; exec sleep 600"
ENDS_WHEN_TOLD = "mkfifo go; echo ready; read word < go; echo $word"
"""A turn that nothing has cancelled by then ends as usual."""


def tell(talk: Talk) -> None:
    (talk.folder / "go").write_text("now\n", encoding="utf-8")


def raw(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


IDS = [0, -7, 2**53 + 1, 2**63 - 1, -(2**63), "a", "", "1", "0", "é💫", None]


@pytest.mark.parametrize("request_id", IDS, ids=repr)
def test_j02_an_id_comes_back_with_its_type(shared: Talk, request_id: object) -> None:
    (answer,) = shared.exchange(raw({"jsonrpc": "2.0", "id": request_id, "method": "no/such"}))

    assert answer["error"]["code"] == -32601
    assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id)


@pytest.mark.parametrize("request_id", IDS, ids=repr)
def test_j02_results_and_turns_have_the_id_too(shared: Talk, request_id: object) -> None:
    prompt = prompt_params(shared.session, shared.kind.quick)
    for method, params in (("initialize", {"protocolVersion": 1}), ("session/prompt", prompt)):
        asked = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        shared.send(raw(asked))

        assert "result" in shared.answer(request_id)[-1]


@pytest.mark.parametrize("request_id", [b"1.5", b"1e3", b"1.0", b"18446744073709551616"])
def test_j02_other_numbers_are_repeated_or_refused(shared: Talk, request_id: bytes) -> None:
    (answer,) = shared.exchange(b'{"jsonrpc":"2.0","id":' + request_id + b',"method":"no/such"}\n')

    refused, repeated = (None, -32600), (json.loads(request_id), -32601)
    found = (answer["id"], answer["error"]["code"])
    assert repr(found) in {repr(refused), repr(repeated)}


@pytest.mark.parametrize(
    "message",
    [
        {"method": "no/such"},
        {"method": "_x/ping", "params": {"a": 1}},
        {"method": "$/unknown"},
        {"method": "$/cancel_request", "params": {"id": "nope"}},
        {"method": "$/cancel_request", "params": {"requestId": "nope"}},
        {"method": "$/cancel_request"},
        {"method": "session/cancel"},
        {"method": "session/cancel", "params": [1]},
        {"method": "session/cancel", "params": {"sessionId": 7}},
        {"method": "session/cancel", "params": {"sessionId": "no-such"}},
        {"method": "session/new", "params": {"cwd": "/tmp", "mcpServers": []}},
        {"method": "session/prompt", "params": {}},
        {"method": "", "params": None},
        {"id": 99, "result": {}},
        {"id": None, "result": {}},
        {"id": 99, "error": {"code": 1, "message": "no"}},
        {"id": 99, "error": "bad"},
        {"id": 99, "error": {"code": "1"}},
        {"id": 99, "result": {}, "error": {"code": 1, "message": "both"}},
        {"id": "x", "result": None},
        {"result": {}},
        {"id": {}, "result": {}},
        {"id": [], "error": {}},
    ],
    ids=repr,
)
def test_j05_j17_no_notification_and_no_answer_is_ever_answered(
    shared: Talk, message: dict[str, Any]
) -> None:
    assert shared.exchange(raw({"jsonrpc": "2.0", **message})) == []


def test_j05_a_session_without_an_id_is_none(talk: Talk) -> None:
    talk.initialize()
    talk.notify("session/new", {"cwd": str(talk.folder), "mcpServers": []})

    # The referee lets nothing be told of a session that no answer has named.
    assert talk.exchange(b"") == []
    # The one session of a process is not spent.
    talk.new_session()
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


@pytest.mark.parametrize(
    "method",
    ["no/such", "_x/y", "$/x", "", "rpc.discover", "session/close", "session/list",
     "session/delete", "session/fork", "session/set_mode", "session/set_config_option",
     "authenticate", "logout", "session/update", "fs/read_text_file", "initialized", "INITIALIZE"],
)  # fmt: skip
def test_j06_i11_a_method_that_is_not_served_is_not_found(shared: Talk, method: str) -> None:
    params = {"sessionId": shared.session, "cwd": "/", "mcpServers": [], "methodId": "x"}

    assert codes(shared.exchange(line(id=1, method=method, params=params))) == [(1, -32601)]


def test_i11_only_the_advertised_way_to_reopen_a_session_is_served(shared: Talk) -> None:
    (other,) = {"session/load", "session/resume"} - {shared.kind.reopen}
    params = {"sessionId": shared.session, "cwd": "/", "mcpServers": []}

    assert codes(shared.exchange(line(id=1, method=other, params=params))) == [(1, -32601)]


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param(b'{"id":1,"method":"no"}', (1, -32600), id="J09 no version"),
        pytest.param(b'{"jsonrpc":"1.0","id":1,"method":"no"}', (1, -32600), id="J09 1.0"),
        pytest.param(b'{"jsonrpc":2.0,"id":1,"method":"no"}', (1, -32600), id="J09 a number"),
        pytest.param(b"[]", (None, -32600), id="J12 empty batch"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"no"}]', (None, -32600), id="J12 batch"),
        pytest.param(b'[{"jsonrpc":"2.0","method":"no"},7,[]]', (None, -32600), id="J12 of three"),
        pytest.param(b"7", (None, -32600), id="J13 number"),
        pytest.param(b'"text"', (None, -32600), id="J13 text"),
        pytest.param(b"null", (None, -32600), id="J13 null"),
        pytest.param(b"true", (None, -32600), id="J13 true"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', (1, -32600), id="J14 no method"),
        pytest.param(b"{}", (None, -32600), id="J14 nothing"),
        pytest.param(b'{"jsonrpc":"2.0"}', (None, -32600), id="J14 a version"),
        pytest.param(b'{"jsonrpc":"2.0","method":7}', (None, -32600), id="J14 number, no id"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":7}', (1, -32600), id="J14 number"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":null}', (1, -32600), id="J14 null"),
        pytest.param(b'{"jsonrpc":"2.0","id":{},"method":"no"}', (None, -32600), id="J16 object"),
        pytest.param(b'{"jsonrpc":"2.0","id":[],"method":"no"}', (None, -32600), id="J16 array"),
        pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"no"}', (None, -32600), id="J16 true"),
    ],
)
def test_what_is_no_request_is_refused(
    shared: Talk, sent: bytes, answered: tuple[object, object]
) -> None:
    ((request_id, code),) = codes(shared.exchange(sent + b"\n"))

    assert code == answered[1]
    assert request_id in {None, answered[0]}


def test_j12_nothing_of_a_batch_is_done(talk: Talk) -> None:
    talk.open()
    touch = talk.kind.shell("touch touched")
    params = prompt_params(talk.session, touch)
    batch = [{"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": params}]

    assert codes(talk.exchange(raw(batch))) == [(None, -32600)]
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"
    assert not (talk.folder / "touched").exists()


@pytest.mark.parametrize("params", [[], [1], "text", 7, True])
def test_j10_params_must_be_an_object(shared: Talk, params: object) -> None:
    sent = raw({"jsonrpc": "2.0", "id": 3, "method": "session/new", "params": params})

    ((request_id, code),) = codes(shared.exchange(sent))

    assert request_id == 3
    assert code in {-32602, -32600}


@pytest.mark.parametrize("sent", [b"", b',"params":null', b',"params":{}'])
def test_j11_absent_params_are_an_empty_object(shared: Talk, sent: bytes) -> None:
    asked = b'{"jsonrpc":"2.0","id":3,"method":"session/new"' + sent + b"}\n"

    (answer,) = shared.exchange(asked)

    assert answer["id"] == 3
    assert answer["error"] == {"code": -32602, "message": "cwd is missing"}


def test_j19_one_id_twice_in_flight_both_are_answered(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(HANG)
    params = prompt_params(talk.session, talk.kind.quick)
    talk.send(line(id="twice", method="session/prompt", params=params) * 2)
    refused = talk.answer("twice")[-1]
    assert refused["error"]["code"] == -32600
    if talk.kind.queues:
        talk.cancel()
        second = talk.answer("twice")[-1]
        assert second["result"]["stopReason"] == "cancelled"
    else:
        second = talk.answer("twice")[-1]
        assert second["error"]["code"] == -32600
        talk.cancel()
        assert talk.finish(running).stop_reason == "cancelled"


def test_j20_an_id_may_come_again_after_its_answer(shared: Talk) -> None:
    for _ in range(3):
        params = prompt_params(shared.session, shared.kind.quick)
        shared.send(line(id="again", method="session/prompt", params=params))
        assert shared.finish("again").stop_reason == "end_turn"


LONG = "x" * 10_000


def test_j21_no_error_tells_more_than_was_sent(talk: Talk) -> None:
    talk.initialize()
    new: dict[str, Any] = {"cwd": str(talk.folder), "mcpServers": []}
    far: dict[str, Any] = {"type": "http", "url": "http://127.0.0.1:1/", "headers": []}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("session/new", {**new, "cwd": "/no/such/place"}),
        ("session/new", {**new, "cwd": "a\nb"}),
        ("session/new", {**new, "mcpServers": [{**far, "name": LONG + "\n"}]}),
        *((talk.kind.reopen, {**new, "sessionId": name}) for name in (LONG, "a\nb", "../x")),
        ("session/prompt", {"sessionId": LONG, "prompt": []}),
        (LONG, {}),
        ("m\u2028\n", {}),
    ]
    errors = [_error_of(talk, *each) for each in asked]
    talk.new_session()
    blocks: list[dict[str, Any]] = [
        {},
        {"type": LONG},
        {"type": "resource", "resource": {"uri": LONG + "\n", "blob": "eA=="}},
        {"type": "image", "data": "", "mimeType": LONG},
    ]
    for block in blocks:
        prompt = {"sessionId": talk.session, "prompt": [block]}
        errors.append(_error_of(talk, "session/prompt", prompt))

    # Others than radian take up a session of any name, and pass over servers of tools.
    found = [error for error in errors if error is not None]
    assert len(found) >= (12 if talk.kind.name == "radian" else 9)


def _error_of(talk: Talk, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a request fails, if it does; the referee holds it to one line without a traceback.

    No path may stand in it that was not sent.
    """
    error: dict[str, Any] | None = talk.call(method, params).get("error")
    if error is not None:
        paths = re.findall(r"(?<![\w.])/[\w.]+", error["message"])
        assert [path for path in paths if path not in json.dumps(params)] == [], error
        assert error["message"].isprintable()
        assert error["code"] != -32603
    return error


def test_j23_other_requests_are_served_while_a_turn_runs(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(HANG)

    assert codes(talk.exchange(line(id="x", method="no/such"))) == [("x", -32601)]
    assert talk.call("initialize", {"protocolVersion": 1})["result"]["protocolVersion"] == 1
    new = talk.call("session/new", {"cwd": str(talk.folder), "mcpServers": []})
    assert ("result" in new) == talk.kind.many_sessions

    talk.notify("$/cancel_request", {"requestId": running})
    assert talk.finish(running).stop_reason == "cancelled"


def test_j24_b022_a_cancel_that_was_read_first_does_not_hit_the_prompt(talk: Talk) -> None:
    talk.open()
    cancel = line(method="session/cancel", params={"sessionId": talk.session})
    params = prompt_params(talk.session, talk.kind.quick)

    for _ in range(10):
        talk.send(cancel + line(id="p", method="session/prompt", params=params))
        assert talk.finish("p").stop_reason == "end_turn"


def test_j25_cancel_request_hits_the_prompt_that_it_names_and_no_other(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(ENDS_WHEN_TOLD)
    unlike: tuple[object, ...] = (str(running), running + 0.5, None, [], {}, True)
    for wrong in unlike:
        talk.notify("$/cancel_request", {"requestId": wrong})
    assert talk.exchange(b"") == []
    tell(talk)
    assert talk.finish(running).stop_reason == "end_turn"
    running = talk.start_shell(HANG)
    queued = talk.prompt(talk.kind.quick) if talk.kind.queues else None

    talk.notify("$/cancel_request", {"requestId": running})

    assert talk.finish(running).stop_reason == "cancelled"
    if queued is not None:
        assert talk.finish(queued).stop_reason == "end_turn"
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


@pytest.mark.needs("queues")
def test_j25_cancel_request_takes_a_prompt_out_of_the_queue(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(HANG)
    queued = talk.prompt(talk.kind.shell("touch touched"))

    talk.notify("$/cancel_request", {"requestId": queued})
    assert talk.finish(queued).stop_reason == "cancelled"
    talk.cancel()

    assert talk.finish(running).stop_reason == "cancelled"
    assert not (talk.folder / "touched").exists()


def test_j27_a_cancel_with_an_id_cancels_and_is_answered(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(HANG)

    asked = talk.request("session/cancel", {"sessionId": talk.session})
    found = talk.answers_to(asked, running)

    assert found[asked]["result"] == {}
    assert found[running]["result"]["stopReason"] == "cancelled"


def test_j27_a_cancel_with_an_id_is_answered_whatever_it_names(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell(ENDS_WHEN_TOLD)
    for session in ("no-such", 7, None):
        assert talk.call("session/cancel", {"sessionId": session})["result"] == {}
    tell(talk)
    assert talk.finish(running).stop_reason == "end_turn"

    assert talk.call("session/cancel", {"sessionId": talk.session})["result"] == {}
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_b007_unknown_methods_and_a_version_of_the_wrong_type(talk: Talk) -> None:
    sent: list[dict[str, Any]] = [
        {"method": "_x/ping"},
        {"method": "$/cancel_request", "params": {"id": "nope"}},
        {"id": -1, "method": "nope"},
        {"id": "a-1", "method": "initialize", "params": {"protocolVersion": "2024-11-05"}},
        {"id": 2, "method": "initialize", "params": {"protocolVersion": 99}},
        {"id": 0, "method": "nope"},
    ]
    talk.send(b"".join(raw({"jsonrpc": "2.0", **message}) for message in sent))

    early, wrong, right, late = (talk.next() for _ in range(4))

    assert (early["id"], early["error"]["code"]) == (-1, -32600)
    assert (wrong["id"], wrong["error"]["code"]) == ("a-1", -32602)
    assert "protocolVersion" in wrong["error"]["message"]
    assert right["result"]["protocolVersion"] == 1
    assert (late["id"], late["error"]["code"]) == (0, -32601)

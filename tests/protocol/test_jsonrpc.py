from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import InternalError, MethodNotFound, SessionNotFound
from protocol.jsonrpc import (
    Failure,
    Ignored,
    Notification,
    Rejected,
    Request,
    RequestId,
    Result,
    decode,
    encode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    id_key,
)
from tests.protocol.json_values import IDS, VALUES


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def rejection(data: bytes) -> tuple[RequestId, int]:
    """Decode a line that must be answered with an error; return its id and code."""
    message = decode(data)
    assert isinstance(message, Rejected)
    assert message.error.message.isprintable()
    assert len(message.error.message) < 120
    return message.id, message.error.code


# --- lines that are not JSON (F08, F09, F15..F19)


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"\xff\xfe"}}',
        b'{"jsonrpc":"2.0","id":1,',
        b"hello",
        b"{}{}",
        b'{"a":1,}',
        b"{'a':1}",
        b'{"a":"tab\there"}',
        b"\x00",
        b"\xef\xbb\xbf{}",
        b"NaN",
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":-Infinity}}',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"x"}',
        b"",
    ],
)
def test_a_line_that_is_no_json_is_a_parse_error_with_id_null(data: bytes) -> None:
    assert rejection(data) == (None, -32700)


def test_the_last_of_doubled_members_counts() -> None:
    data = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}'

    assert decode(data) == Request(2, "b", {})


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"a\uDFFFb", "a\ufffdb"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
        (r"\ud800\\ud800", r"�\ud800"),
        (r"\ud800\n", "\ufffd\n"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
    ],
)
def test_a_lone_surrogate_escape_is_replaced_and_the_request_served(
    written: str, read: str
) -> None:
    data = f'{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"t":"{written}"}}}}'.encode()

    assert decode(data) == Request(1, "x", {"t": read})


def test_a_lone_surrogate_does_not_excuse_other_faults_of_the_line() -> None:
    assert rejection(rb'{"t":"\ud800", }') == (None, -32700)


@settings(deadline=None)
@given(data=st.binary(max_size=60))
def test_no_bytes_make_decode_raise(data: bytes) -> None:
    decode(data)
    decode(bytearray(data))


# --- the envelope (J02..J16)


@pytest.mark.parametrize(
    "request_id",
    [0, -7, 2**53 + 1, 2**63 - 1, 2**64 - 1, -(2**63), "a", "", "1", "0", 1.5, None, "\u2028"],
)
def test_an_id_is_repeated_exactly_with_its_type(request_id: RequestId) -> None:
    message = decode(line(id=request_id, method="x"))

    assert isinstance(message, Request)
    assert type(message.id) is type(request_id)
    answer = json.loads(encode_result(message.id, {}))
    assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {}}
    assert type(answer["id"]) is type(request_id)


@settings(deadline=None)
@given(request_id=IDS)
def test_any_id_comes_back_as_it_went_in(request_id: RequestId) -> None:
    message = decode(line(id=request_id, method="x"))

    assert isinstance(message, Request)
    assert id_key(json.loads(encode_result(message.id, None))["id"]) == id_key(request_id)


@pytest.mark.parametrize(
    "request_id", [{}, [], [1], True, False, 2**64, -(2**63) - 1, 2**100, 1e300]
)
def test_an_id_that_cannot_be_repeated_is_refused_under_null(request_id: object) -> None:
    assert rejection(line(id=request_id, method="x")) == (None, -32600)


def test_ids_that_compare_equal_have_different_keys() -> None:
    keys = {id_key(1), id_key(1.0), id_key("1"), id_key(None), id_key(0), id_key(""), id_key(0.0)}

    assert len(keys) == 7


@pytest.mark.parametrize("version", [{}, {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"jsonrpc": None}])
def test_a_request_without_the_right_version_is_refused_under_its_id(
    version: dict[str, Any],
) -> None:
    assert rejection(json.dumps({"id": 3, "method": "x", **version}).encode()) == (3, -32600)


@pytest.mark.parametrize("params", [[], [1], "text", 1, 0, True, False, ""])
def test_params_that_are_no_object_are_refused_under_the_id(params: object) -> None:
    assert rejection(line(id="a", method="x", params=params)) == ("a", -32602)


@pytest.mark.parametrize("members", [{}, {"params": None}, {"params": {}}])
def test_absent_and_null_params_are_an_empty_object(members: dict[str, Any]) -> None:
    assert decode(line(id=1, method="x", **members)) == Request(1, "x", {})
    assert decode(line(method="x", **members)) == Notification("x", {})


@pytest.mark.parametrize(
    "data",
    [b"[]", b"[1]", b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', b"1", b'"x"', b"null", b"true"],
)
def test_batches_and_bare_values_are_one_invalid_request_with_id_null(data: bytes) -> None:
    assert rejection(data) == (None, -32600)


@pytest.mark.parametrize("method", [1, None, {}, [], True])
def test_a_method_that_is_no_text_is_an_invalid_request(method: object) -> None:
    assert rejection(line(id=1, method=method)) == (1, -32600)
    assert rejection(line(method=method)) == (None, -32600)


@pytest.mark.parametrize(("members", "under"), [({}, None), ({"id": 5}, 5), ({"id": []}, None)])
def test_an_object_that_is_neither_call_nor_answer_is_an_invalid_request(
    members: dict[str, Any], under: RequestId
) -> None:
    assert rejection(line(**members)) == (under, -32600)


@pytest.mark.parametrize("method", ["", "_x/ping", "$/nope", "rpc.x", "session/nope"])
def test_unknown_methods_are_read_like_others(method: str) -> None:
    assert decode(line(id=1, method=method)) == Request(1, method, {})
    assert decode(line(method=method)) == Notification(method, {})


@pytest.mark.parametrize(
    "data",
    [
        line(method="session/cancel", params=[]),
        line(method="session/cancel", params="s1"),
        b'{"method":"session/cancel","params":{}}',
        b'{"jsonrpc":"1.0","method":"session/cancel"}',
    ],
)
def test_malformed_notifications_are_passed_over(data: bytes) -> None:
    assert isinstance(decode(data), Ignored)


# --- answers to requests of ours (J17, J18)


def test_answers_are_read() -> None:
    error = {"code": -32800, "message": "no", "data": [1]}

    assert decode(line(id=7, result={"a": 1})) == Result(7, {"a": 1})
    assert decode(line(id=7, result=None)) == Result(7, None)
    assert decode(line(id=7, error=error)) == Failure(7, -32800, "no", [1])


@pytest.mark.parametrize(
    "members",
    [
        {"result": {}, "error": {"code": 1, "message": "x"}},
        {"result": {}, "error": None},
        {"error": None},
        {"error": "no"},
        {"error": {}},
        {"error": {"code": "1", "message": "x"}},
        {"error": {"code": True, "message": "x"}},
        {"jsonrpc": "1.0", "result": {}},
    ],
)
def test_a_malformed_answer_is_a_failure_never_a_result(members: dict[str, Any]) -> None:
    assert decode(line(**{"id": 7, **members})) == Failure(7, -32600, "malformed answer")


@pytest.mark.parametrize("request_id", [True, [], {}, 1e300])
def test_an_answer_without_a_usable_id_is_passed_over(request_id: object) -> None:
    assert isinstance(decode(line(id=request_id, result={})), Ignored)


def test_a_failure_without_a_message_is_still_a_failure() -> None:
    assert decode(line(id=1, error={"code": -1})) == Failure(1, -1, "no message")


# --- what we write, as F02, F11, F17, F18, J01 and J04 ask


@settings(deadline=None)
@given(value=VALUES)
def test_every_json_value_is_written_as_one_line_of_utf8(value: Any) -> None:
    written = encode_result(1, value)

    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert b"\r" not in written
    assert list(json.loads(written.decode())) == ["jsonrpc", "id", "result"]


def test_newlines_in_text_travel_as_escapes() -> None:
    written = encode_notification("x", {"t": "a\nb\r\nc\u2028"})

    assert written.count(b"\n") == 1
    message = decode(written)
    assert message == Notification("x", {"t": "a\nb\r\nc\u2028"})


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    params = {"k\ud800": ["a\udfff", "\ud83d\ude00", "\ud83d"]}

    written = json.loads(encode_request(1, "x", params))

    assert written["params"] == {"k\ufffd": ["a\ufffd", "\U0001f600", "\ufffd"]}


def test_integers_over_64_bits_keep_their_digits() -> None:
    written = encode_result(1, {"n": 2**64, "m": -(2**63) - 1, "k": 2**64 - 1})

    assert json.loads(written)["result"] == {"n": 2**64, "m": -(2**63) - 1, "k": 2**64 - 1}


def test_an_integer_too_long_for_python_to_write_becomes_a_note() -> None:
    assert json.loads(encode_result(1, 1 << 50_000))["result"] == "[integer of 50001 bits]"


def test_what_is_no_number_is_written_as_null() -> None:
    written = encode_result(1, [float("nan"), float("inf"), -float("inf")])

    assert json.loads(written)["result"] == [None, None, None]
    assert b"NaN" not in written


def test_deep_nesting_is_cut_with_a_note() -> None:
    value: Any = "deep"
    for _ in range(5000):
        value = [value]

    assert b"[nested deeper than 200 levels]" in encode_result(1, value)


@dataclass(frozen=True, slots=True)
class Point:
    """A value of ours."""

    snake_case: int


@pytest.mark.parametrize("value", [Point(1), {1: 2}, {"a": {"b": object()}}, b"bytes", {1, 2}])
def test_a_value_without_a_json_form_is_a_bug_and_raises(value: object) -> None:
    with pytest.raises(TypeError):
        encode_result(1, value)


def test_an_error_is_written_with_data_only_if_it_has_some() -> None:
    assert json.loads(encode_error(4, MethodNotFound("x"))) == {
        "jsonrpc": "2.0",
        "id": 4,
        "error": {"code": -32601, "message": "method 'x' not found"},
    }
    assert json.loads(encode_error(None, SessionNotFound("s")))["error"] == {
        "code": -32002,
        "message": "session 's' not found",
        "data": {"sessionId": "s"},
    }
    assert json.loads(encode_error("a", InternalError()))["error"] == {
        "code": -32603,
        "message": "internal error",
    }


def test_what_we_write_we_can_read() -> None:
    assert decode(encode_request(9, "m", {"a": []})) == Request(9, "m", {"a": []})
    assert decode(encode_result(9, {})) == Result(9, {})
    assert decode(encode_error(9, InternalError())) == Failure(9, -32603, "internal error")
    assert encode({"jsonrpc": "2.0", "method": "m", "params": {}}) == encode_notification("m", {})

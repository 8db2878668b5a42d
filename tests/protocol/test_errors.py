from __future__ import annotations

import pytest

from protocol import errors
from protocol.errors import (
    InternalError,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ProtocolError,
    SessionNotFound,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParseError("x"), -32700),
        (InvalidRequest("x"), -32600),
        (MethodNotFound("x"), -32601),
        (InvalidParams("x"), -32602),
        (SessionNotFound("x"), -32002),
        (InternalError(), -32603),
    ],
)
def test_each_error_has_the_code_of_the_protocol(error: ProtocolError, code: int) -> None:
    assert error.code == code


def test_every_class_of_the_tree_is_listed_here() -> None:
    classes = {ParseError, InvalidRequest, MethodNotFound, InvalidParams, SessionNotFound}

    assert set(ProtocolError.__subclasses__()) == classes | {InternalError}


def test_an_unknown_session_is_named_in_the_message_and_in_the_data() -> None:
    error = SessionNotFound("no-such")

    assert "no-such" in error.message
    assert error.data == {"sessionId": "no-such"}


def test_an_internal_error_says_nothing_else() -> None:
    assert (InternalError().message, InternalError().data) == ("internal error", None)


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31m", "\u2028", "x" * 5000, "\ud800"])
def test_messages_stay_short_printable_and_on_one_line(text: str) -> None:
    words = InvalidParams(f"prompt[0] ({text}) is no picture")
    for error in (MethodNotFound(text), SessionNotFound(text), words):
        assert error.message.isprintable()
        assert len(error.message) <= 303
        assert error.data is None or len(error.data["sessionId"]) <= 1024


def test_a_too_long_line_is_a_parse_error_that_names_the_limit() -> None:
    error = errors.line_too_long(67108864)

    assert isinstance(error, ParseError)
    assert error.message == "line longer than 67108864 bytes"

"""The errors that reach a client: code, one short sentence, optional data."""

from __future__ import annotations

from typing import Any, ClassVar

_MESSAGE_CHARACTERS = 300
"""The longest message: what is longer repeats something of a client's that nobody cut."""
_SHOWN_CHARACTERS = 80
"""What an error message repeats of a client's text: enough to know it by, still one short line."""
_ECHOED_CHARACTERS = 1024
"""What error data repeats of an id; no id of ours is longer."""


class ProtocolError(Exception):
    """The client's fault, worded for the client.  Raise one of the classes below."""

    code: ClassVar[int] = -32600

    def __init__(self, message: str, data: dict[str, Any] | None = None) -> None:
        """Keep ``message``, one sentence, and ``data`` for programs.

        A message is one short line whatever stands in it, such as an id or the words of a library.
        """
        super().__init__(message)
        self.message = _one_short_line(message)
        self.data = data


class ParseError(ProtocolError):
    """A line that is not JSON, or too long to be read."""

    code = -32700


class InvalidRequest(ProtocolError):  # noqa: N818 - named as JSON-RPC names it
    """Not a request object, or a request that may not be made now."""

    code = -32600


class MethodNotFound(ProtocolError):  # noqa: N818 - named as JSON-RPC names it
    """A method that we don't have, or have not advertised."""

    code = -32601

    def __init__(self, method: str) -> None:
        """Name the method."""
        super().__init__(f"method {shown(method)} not found")


class InvalidParams(ProtocolError):  # noqa: N818 - named as JSON-RPC names it
    """A member that is missing, malformed or not supported."""

    code = -32602


class SessionNotFound(ProtocolError):  # noqa: N818 - a sibling of MethodNotFound
    """No session of that id is active on this connection."""

    code = -32002

    def __init__(self, session_id: str) -> None:
        """Name the session, in the message and as ``data.sessionId``."""
        super().__init__(
            f"session {shown(session_id)} not found",
            {"sessionId": session_id[:_ECHOED_CHARACTERS]},
        )


class InternalError(ProtocolError):
    """A bug of ours.  Takes nothing, so that no detail can leave the process."""

    code = -32603

    def __init__(self) -> None:
        """Say no more than that."""
        super().__init__("internal error")


def line_too_long(limit: int) -> ParseError:
    """Word the answer to a line of more than ``limit`` bytes."""
    return ParseError(f"line longer than {limit} bytes")


def shown(text: str) -> str:
    """Quote a client's text for an error message: printable, on one line, cut to 80 characters."""
    cut = text[:_SHOWN_CHARACTERS]
    printable = _printable(cut)
    return f"{printable!r}" if cut == text else f"{printable + '...'!r}"


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _one_short_line(text: str) -> str:
    if len(text) > _MESSAGE_CHARACTERS:
        return _printable(text[:_MESSAGE_CHARACTERS]) + "..."
    return _printable(text)

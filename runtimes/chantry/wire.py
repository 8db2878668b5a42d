"""Both directions of the wire as JSON lines, for ``--json``.

Each line is one object: ``from`` (``client``, ``agent`` or ``agent-stderr``) and ``message``, the
JSON value as it was sent, or ``text`` for what is no JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson

if TYPE_CHECKING:
    from typing import BinaryIO

Side: TypeAlias = Literal["client", "agent", "agent-stderr"]


class WireLog:
    """Prints what passes by."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def message(self, side: Side, line: bytes | bytearray | memoryview) -> None:
        """Print one line of the wire; what is in it is not changed."""
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            self.text(side, bytes(line).decode(errors="replace"))
        else:
            self._print({"from": side, "message": orjson.Fragment(bytes(line).strip())})

    def text(self, side: Side, text: str) -> None:
        """Print something that is no JSON."""
        self._print({"from": side, "text": text})

    def flush(self) -> None:
        """Let the lines out."""
        self._out.flush()

    def _print(self, value: dict[str, object]) -> None:
        self._out.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))

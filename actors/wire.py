"""The two ends of a connection, as the reader and the writer use them.

Types only: servers run on `actors.stdio`, the simulation on pipes of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from actors.stdio import End, Woken


class ByteSource(Protocol):
    """Where requests come from."""

    def wake(self) -> None:
        """End a wait in `read`, this or the next one."""
        ...

    def read(self, *, only_end: bool) -> bytes | End | Woken:
        """Wait for bytes, the end of input, or a wake; with ``only_end`` read nothing."""
        ...


class ByteSink(Protocol):
    """Where answers go."""

    def wake(self) -> None:
        """End a wait in `write`, this or the next one."""
        ...

    def write(self, data: memoryview) -> int:
        """Write some of ``data`` and return how many bytes; 0 when woken while waiting.

        Raises:
            ClientGone: Nobody reads any more.

        """
        ...

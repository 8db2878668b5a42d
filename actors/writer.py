"""WriterActor: the only one that writes to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.base import Actor
from actors.messages import BatchReady
from actors.stdio import ClientGone

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.address import Address
    from actors.base import System
    from actors.gate import Gate
    from actors.wire import ByteSink


class WriterActor(Actor[BatchReady]):
    """Carries bytes from the gate to the sink and keeps nothing itself."""

    def __init__(
        self,
        system: System,
        address: Address[BatchReady],
        gate: Gate,
        sink: ByteSink,
        client_gone: Callable[[str], None],
    ) -> None:
        """Write what passes ``gate``; ``client_gone`` is told why nobody reads any more."""
        super().__init__(system, address)
        self._gate = gate
        self._sink = sink
        self._client_gone = client_gone

    def started(self) -> None:
        """Go on where an earlier incarnation stopped."""
        self.mailbox.interrupt = self._sink.wake
        self._gate.on_ready(self._ready)
        self._ready()

    def receive(self, message: BatchReady) -> None:
        """Write until the gate is empty, or a control message wants to be seen."""
        del message
        while batch := self._gate.take():
            try:
                size = self._sink.write(batch)
            except ClientGone as gone:
                self._gate.close()
                self._client_gone(str(gone))
                return
            # Nothing may come between the write and this line: a crash here would write twice.
            self._gate.written(size)
            if not size:
                self._ready()
                return

    def _ready(self) -> None:
        self.address.tell(BatchReady())

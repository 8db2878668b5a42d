"""A connection whose program takes nothing more: why, without a process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from actors.cancel import CancelSignal
from actors.faults import NoFaults
from actors.piped_program import ProgramEnd
from actors.real_platform import RealPlatform
from runtimes.radian.mcp import connection as connection_module
from runtimes.radian.mcp.connection import Connection, ServerEnded
from runtimes.radian.mcp.specs import ServerSpec
from runtimes.radian.mcp.world import World

if TYPE_CHECKING:
    from actors.piped_program import ProgramListener
    from actors.work import ProcessWork

GONE = ProgramEnd("it exited with code 3", started=True)


class FullProgram:
    """Takes nothing; where it has ended, that is told once it was written to."""

    def __init__(self, listener: ProgramListener, end: ProgramEnd | None) -> None:
        self._listener = listener
        self._end = end

    def start(self) -> None: ...

    def write(self, data: bytes) -> bool:
        del data
        if self._end is not None:
            # As the pump does, which takes each lock that a line of the server needs.
            threading.Thread(target=self._tell, args=(self._end,)).start()
        return False

    def _tell(self, end: ProgramEnd) -> None:
        self._listener.heard("stdout", b"{}\n")
        self._listener.ended(end)

    def hang_up(self) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


def connection_to(end: ProgramEnd | None) -> Connection:
    def program(work: ProcessWork, listener: ProgramListener) -> FullProgram:
        del work
        return FullProgram(listener, end)

    world = World(program, RealPlatform(), NoFaults(), "/", "/", {}, str, print)
    return Connection(ServerSpec("db", "/bin/db"), world)


def test_what_is_written_to_a_program_that_has_just_ended_fails_with_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "ENDING_S", 30.0)
    connection = connection_to(GONE)

    with pytest.raises(ServerEnded, match="asked for tools/call: it exited with code 3"):
        connection.request("tools/call", {}, 30.0)
    with pytest.raises(ServerEnded, match="it exited with code 3"):
        connection.notify("notifications/initialized")
    assert connection.is_over


def test_a_program_that_lives_and_takes_nothing_does_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "ENDING_S", 0.0)

    with pytest.raises(ServerEnded, match="asked for tools/list: it does not read"):
        connection_to(None).request("tools/list", {}, 30.0)


def test_a_cancel_does_not_wait_for_the_end_of_a_program_that_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "ENDING_S", 3600.0)
    platform = RealPlatform()

    class Waiting(FullProgram):
        def write(self, data: bytes) -> bool:
            threading.Thread(target=cancel.set).start()
            return super().write(data)

    cancel = CancelSignal(platform)
    world = World(
        lambda _work, listener: Waiting(listener, None),
        platform, NoFaults(), "/", "/", {}, str, print,
    )  # fmt: skip
    connection = Connection(ServerSpec("db", "/bin/db"), world)

    with pytest.raises(ServerEnded, match="asked for tools/call: it does not read"):
        connection.request("tools/call", {}, 3600.0, cancel)

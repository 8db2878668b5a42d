"""What the servers of a session run in, and how one of them is started there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from actors.work import ProcessWork
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.faults import Faults
    from actors.piped_program import ProgramListener
    from actors.platform import Platform
    from runtimes.radian.mcp.specs import ServerSpec


class Program(Protocol):
    """One life of a server's program; `actors.piped_program.PipedProgram` is one, see there."""

    def start(self) -> None:
        """Run it."""
        ...

    def write(self, data: bytes) -> bool:
        """Hand over what it is to read; False: it takes no more."""
        ...

    def hang_up(self) -> None:
        """Close its stdin."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


@frozen
class World:
    """What servers run in."""

    program: Callable[[ProcessWork, ProgramListener], Program]
    """Makes one; raises OSError where there is no descriptor left."""
    platform: Platform
    faults: Faults
    workspace: str
    """What servers are told to work on."""
    folder: str
    """Where they run: the workspace, or a place where nothing lies that they might load."""
    env: Mapping[str, str]
    """Without secrets."""
    mask: Callable[[str], str]
    tell: Callable[[str], None]
    """Is told, from any thread and without waiting, what people should know."""

    def work_of(self, spec: ServerSpec) -> ProcessWork:
        """Return the program of a server; none is looked for in the workspace."""
        env = {**self.env, **dict(spec.env)}
        folders = [each for each in env.get("PATH", "").split(":") if each.startswith("/")]
        env["PATH"] = ":".join(folders) or "/usr/bin:/bin"
        return ProcessWork((spec.command, *spec.args), self.folder, env)

"""What the servers of a session run in, and how one of them is started there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.work import ProcessWork
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.faults import Faults
    from actors.guardian import Guardian
    from actors.platform import Platform
    from runtimes.radian.mcp.specs import ServerSpec


@frozen
class World:
    """What servers run in."""

    guardian: Guardian
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

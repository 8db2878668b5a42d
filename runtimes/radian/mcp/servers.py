"""All MCP servers of a session: started side by side, awaited at a call of the model, ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from actors.guardian import Guardian
from actors.piped_program import PipedProgram
from runtimes.radian.mcp.listing import slugs_for
from runtimes.radian.mcp.server import PATIENCE_S, McpServer
from runtimes.radian.mcp.tool import McpTool
from runtimes.radian.mcp.world import World
from runtimes.radian.profiles import offered_mcp
from runtimes.radian.tools.environment import looks_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from actors.faults import Faults
    from actors.piped_program import ProgramListener
    from actors.platform import Platform
    from actors.work import ProcessWork
    from runtimes.models.base import Cancel
    from runtimes.models.base import Tool as OfferedTool
    from runtimes.models.secrets import Secrets
    from runtimes.radian.mcp.listing import Listed
    from runtimes.radian.mcp.specs import ServerSpec
    from runtimes.radian.mcp.world import Program
    from runtimes.radian.profiles import ProfileName

HINT_S = 1.0
"""After so long people are told what a turn waits for."""
LEAVE_S = 0.4
"""What all servers together get to end once their stdin is closed, and again after a signal."""
_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]*)(?:=(.*))?", re.DOTALL)


class McpServers:
    """See the module.  Any thread may use it."""

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        *,
        workspace: str,
        folder: str,
        env: Mapping[str, str],
        profile: ProfileName,
        secrets: Secrets,
        platform: Platform,
        faults: Faults,
        say: Callable[[str], None] | None = None,
        program: Callable[[ProcessWork, ProgramListener], Program] | None = None,
    ) -> None:
        """``folder``: where they run; ``env``: of programs, without secrets.

        ``say`` is told what people should know, at once.  ``program`` makes a server's program;
        None: a child of our guardian.

        Nothing is started yet.
        """
        for spec in specs:
            for secret in _secrets_of(spec):
                secrets.remember(secret)
        self._profile: ProfileName = profile
        self._mask = secrets.mask
        self._say = say
        self._lock = platform.condition()
        self._notes: list[str] = []
        self._hinted = False
        self._known: dict[str, McpTool] = {}
        self._seen: dict[str, tuple[Listed, ...]] = {}
        self.guardian = guardian = Guardian(platform, faults)

        def ours(work: ProcessWork, listener: ProgramListener) -> Program:
            return PipedProgram(work, listener, guardian=guardian, platform=platform, faults=faults)

        make = program or ours
        world = World(make, platform, faults, workspace, folder, env, secrets.mask, self._take_note)
        slugs = slugs_for(spec.id for spec in specs)
        self._servers = [McpServer(spec, slugs[spec.id], world) for spec in specs]
        self._platform = platform

    @property
    def ids(self) -> tuple[str, ...]:
        """The servers, in their order."""
        return tuple(server.spec.id for server in self._servers)

    def start(self) -> None:
        """Start all of them and wait for none."""
        for server in self._servers:
            server.start()

    def await_start(self, cancel: Cancel) -> Iterator[str]:
        """Wait until it is known what each offers, at most `mcp.server.PATIENCE_S`.

        Yields what people should know and were not told yet.
        """
        slow = [each for each in self._servers if not each.await_start(cancel, HINT_S)]
        if slow and not self._hinted and not cancel.is_set():
            self._hinted = True
            names = ", ".join(repr(server.spec.id) for server in slow)
            yield f"waiting for MCP servers to start: {names}"
        for server in slow:
            if not server.await_start(cancel, PATIENCE_S) and not cancel.is_set():
                server.tell_late()
        with self._lock:
            notes, self._notes = self._notes, []
        yield from notes

    def offered(self) -> tuple[OfferedTool, ...]:
        """Return what the model may call now, but for what the profile denies outright."""
        return tuple(
            tool.offered
            for tool in self._current()
            if offered_mcp(self._profile, reading=tool.reads_only)
        )

    def tools(self) -> dict[str, McpTool]:
        """Return all that were ever offered: a call of one that is gone fails in words."""
        for _ in self._current():
            pass
        with self._lock:
            return dict(self._known)

    def close(self) -> None:
        """End all servers and whatever they started.  Bounded; safe to call twice."""
        for server in self._servers:
            server.hang_up()
        for _ in ("by itself", "asked by a signal"):
            until = self._platform.monotonic() + LEAVE_S
            for server in self._servers:
                server.wait_end(max(0.0, until - self._platform.monotonic()))
        self.guardian.close()

    def _current(self) -> Iterator[McpTool]:
        """Yield the tools of all servers as they list them now, in a fixed order."""
        for server in self._servers:
            listed = server.tools
            with self._lock:
                if self._seen.get(server.spec.id) is not listed:
                    self._seen[server.spec.id] = listed
                    made = (McpTool(server, each, self._mask) for each in listed)
                    self._known.update({tool.name: tool for tool in made})
                tools = [self._known[each.called] for each in listed]
            yield from tools

    def _take_note(self, text: str) -> None:
        with self._lock:
            self._notes.append(text)
        if self._say is not None:
            self._say(text)


def _secrets_of(spec: ServerSpec) -> Iterator[str]:
    """Find what in an entry is better not shown anywhere: variables and flags named like it."""
    for name, value in spec.env:
        if looks_secret(name, value):
            yield value
    for flag, word in zip(spec.args, (*spec.args, "")[1:], strict=True):
        found = _FLAG.fullmatch(flag)
        if found is not None and looks_secret(found[1].replace("-", "_"), found[2] or ""):
            yield found[2] if found[2] is not None else word

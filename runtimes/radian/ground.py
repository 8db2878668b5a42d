"""What sessions stand on: this process's threads, clock and disk, or those of a simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from protocol.values import frozen
from runtimes.models.registry import make_provider
from runtimes.radian.home import sessions_of
from runtimes.radian.journal_disk import THE_JOURNALS
from runtimes.radian.tools.builtin import builtin_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.faults import Faults
    from actors.piped_program import ProgramListener
    from actors.platform import Platform
    from actors.work import ProcessWork, StepService
    from runtimes.models.base import Provider
    from runtimes.models.config import ProviderConfig
    from runtimes.models.secrets import Secrets
    from runtimes.radian.journal_disk import JournalDisk
    from runtimes.radian.mcp.world import Program
    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.sessions import Sessions
    from runtimes.radian.tools.base import Tool


@frozen
class AgentGround:
    """See the module.  The session, its turns and its journal are the same on each."""

    platform: Platform
    faults: Faults
    journals: JournalDisk
    make_steps: Callable[[], StepService]
    """Called once a session: what its background jobs run on."""
    make_provider: Callable[[ProviderConfig, Secrets], Provider]
    make_tools: Callable[[ProfileName, Mapping[str, str]], dict[str, Tool]]
    """The tools that need no session, of a profile in an environment."""
    mcp_program: Callable[[ProcessWork, ProgramListener], Program] | None = None
    """Makes the program of an MCP server; None: a child of the session's guardian."""

    def sessions(self, home: str) -> Sessions:
        """Return the sessions below radian's own folder."""
        return sessions_of(home, self.faults, self.journals)

    def chance(self) -> float:
        """Return a number in 0 to 1, for waits that should not meet."""
        return int.from_bytes(self.platform.entropy(4), "big") / 2**32


def real_ground(platform: Platform | None = None, faults: Faults | None = None) -> AgentGround:
    """Return this process's own ground; ``platform`` and ``faults`` may break on purpose."""
    here, broken = platform or RealPlatform(), faults or NoFaults()
    return AgentGround(
        here,
        broken,
        THE_JOURNALS,
        lambda: RealSteps(here, broken),
        make_provider,
        builtin_tools,
    )

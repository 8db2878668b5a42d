"""chant behind the protocol: a session is a working directory, a prompt is a command line.

Imports almost nothing: the answer of `initialize` waits for this module.  Verbs and Ops are
imported by `ChantRuntime.warm_up`, or by the first prompt if that is faster.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from protocol.errors import InvalidParams
from protocol.handshake import AgentCapabilities, AgentInfo
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from actors.opened_session import OpenedSession
    from actors.platform import Platform
    from actors.runtime import TurnRule
    from actors.turn import TurnMachine
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import InitializeParams
    from runtimes.chant.acp_flags import GateRule
    from runtimes.chant.place import Premises
    from runtimes.chant.run_tasks import RunRequest, SessionTasks
    from runtimes.chant.turns import Turns

WARM = (
    "runtimes.chant.commands",
    "runtimes.chant.turns",
    "runtimes.chant.lines",
    "runtimes.chant.project_tasks",
    "runtimes.chant.answering",
)
"""What a session and its first prompt import."""

VERBS_OFFERED = object()
"""Said alone, after a session's answer.  The verbs are imported when it is rendered, so that the
answer need not wait for them."""

SESSION_ID_BYTES = 16
CHANNEL = "CHANT_CHANNEL"
"""`ops.step_env` reads it; nothing of `ops` is imported before the handshake."""

KEY_BYTES = 6
"""Message ids of a turn begin with a random key: each turn of a resumed session may come from a
process of its own, which knows nothing of the others' ids."""


class ChantRuntime:
    """See `actors.runtime.Runtime`."""

    turn_rule: TurnRule = "queue"
    methods = frozenset({"session/resume"})

    def __init__(
        self,
        platform: Platform,
        environ: Mapping[str, str],
        grace_s: float | None = None,
        tasks: Callable[[RunRequest], SessionTasks] | None = None,
        gates: GateRule = "tell",
        *,
        premises: Premises | None = None,
    ) -> None:
        """Serve with what the steps of every run inherit (never shown) and their grace.

        ``tasks`` makes what runs do on disk and ledger, ``premises`` are where other verbs find
        them; None: real projects.
        """
        self._platform = platform
        # Inherited by every step, so that no command in one can pass for a person's.
        self._environ = {**environ, CHANNEL: "acp"}
        self._grace_s = grace_s
        self._tasks = tasks or self._project_tasks
        self._gates: GateRule = gates
        self._premises = premises
        self._turns: Turns | None = None

    def agent_info(self) -> AgentInfo:
        """Name ourselves."""
        return AgentInfo("chant", VERSION, "chant")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """Offer text-only prompts and resume, whoever asks."""
        del initialize
        return AgentCapabilities(resume=True)

    def warm_up(self) -> None:
        """Import what the first prompt will need."""
        from importlib import import_module

        for name in WARM:
            import_module(name)

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open a session in an existing folder; one that is resumed need not be known here.

        Raises:
            InvalidParams: ``cwd`` is no folder.

        """
        from protocol.acp.sessions import NewSession, new_session_result

        if not os.path.isdir(request.cwd):
            message = "cwd must be an existing directory"
            raise InvalidParams(message)
        if request.mcp_servers:
            _tell_ignored(len(request.mcp_servers))
        if isinstance(request, NewSession):
            session_id = f"chant-{self._platform.entropy(SESSION_ID_BYTES).hex()}"
            return self._opened(session_id, request.cwd, new_session_result(session_id))
        return self._opened(request.session_id, request.cwd, {})

    def _opened(self, session_id: str, cwd: str, result: dict[str, Any]) -> OpenedSession:
        from actors.opened_session import OpenedSession

        return OpenedSession(
            session_id,
            cwd,
            result,
            after=(VERBS_OFFERED,),
            on_cancel=lambda: self._cancelled(session_id),
        )

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> TurnMachine:
        """Read the prompt and make the machine of its turn.  Nothing has run when it returns."""
        key = f"{turn_id}-{self._platform.entropy(KEY_BYTES).hex()}"
        return self._made().turn(session, prompt, key)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Turn what a turn said, or updates as they are, into wire lines."""
        if items and items[0] is VERBS_OFFERED:
            from protocol.acp.updates import encode_update
            from runtimes.chant.commands import available_commands

            return [encode_update(session_id, available_commands())]
        from runtimes.chant.lines import lines_of

        return [line for item in items for line in lines_of(session_id, item)]

    def _made(self) -> Turns:
        if self._turns is None:
            from runtimes.chant.turns import Turns

            self._turns = Turns(
                self._platform,
                self._environ,
                self._tasks,
                self._grace_s,
                self._gates,
                premises=self._premises,
            )
        return self._turns

    def _cancelled(self, session_id: str) -> None:
        """Hear that a client cancelled, also where no turn runs."""
        if self._turns is not None:
            self._turns.cancelled(session_id)

    def _project_tasks(self, request: RunRequest) -> SessionTasks:
        from runtimes.chant.project_tasks import ProjectTasks

        return ProjectTasks(request, self._platform)


def _tell_ignored(count: int) -> None:
    """Say on stderr that servers were offered in vain; their addresses may hold secrets."""
    from actors.logs import say

    say(f"{count} MCP server(s) ignored: chant's tools are its own verbs")

"""From a prompt to the machine of its turn: a run, another verb, help, a refusal, an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.prompts import Text
from runtimes.chant.at_gate import DurableGates
from runtimes.chant.help_text import asked
from runtimes.chant.op_turn import OpTurn
from runtimes.chant.parsing import HelpAsked
from runtimes.chant.permissions import (
    Permission,
    PermissionDesk,
    UnclearPermission,
    read_permission,
)
from runtimes.chant.prompts import PromptRefused, read_prompt
from runtimes.chant.verb_turn import RemarkedTurn, SaidTurn, VerbTurn
from runtimes.chant.verbs.run import plays, request_of
from runtimes.chant.verbs.table import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.opened_session import OpenedSession
    from actors.platform import Platform
    from actors.turn import TurnMachine
    from ops.run_values import GateAnswered
    from protocol.acp.prompts import Prompt
    from runtimes.chant.acp_flags import GateRule
    from runtimes.chant.permission_turn import AnswerGiven
    from runtimes.chant.permissions import OpenRequest
    from runtimes.chant.place import Premises
    from runtimes.chant.prompts import Accepted
    from runtimes.chant.run_tasks import RunRequest, SessionTasks
    from runtimes.chant.verbs.verb import Invocation

NOT_OPEN = (
    "no such request is open here: one ends with its answer, with a cancel and with the process"
    " that asked; prompt the command line again"
)


class Turns:
    """Makes the turns of one connection and keeps what its client was asked."""

    def __init__(
        self,
        platform: Platform,
        environ: Mapping[str, str],
        tasks: Callable[[RunRequest], SessionTasks],
        grace_s: float | None,
        gates: GateRule,
        *,
        premises: Premises | None = None,
    ) -> None:
        """See `runtimes.chant.runtime.ChantRuntime`."""
        self._platform = platform
        self._environ = environ
        self._tasks = tasks
        self._grace_s = grace_s
        self._gates = gates
        self._premises = premises
        self._desk = PermissionDesk()

    def turn(self, session: OpenedSession, prompt: Prompt, key: str) -> TurnMachine:
        """Read the prompt and make the machine of its turn; ``key`` begins the ids in it."""
        permission = read_permission(prompt.meta)
        if permission is not None:
            return self._permission(session, permission, key)
        texts = [block.text for block in prompt.blocks if isinstance(block, Text)]
        machine = self._machine(session, read_prompt(texts, VERBS), key)
        if len(texts) == len(prompt.blocks):
            return machine
        return RemarkedTurn(machine, "links are not part of a command line: passed over", key)

    def cancelled(self, session_id: str) -> None:
        """Close a session's requests, as its client has done when it cancelled."""
        self._desk.close_all(session_id)

    def _machine(self, session: OpenedSession, read: Accepted, key: str) -> TurnMachine:
        match read:
            case PromptRefused(reason):
                return SaidTurn(reason, "refusal", key)
            case HelpAsked(verb, group):
                return SaidTurn(asked(verb, group, VERBS), "end_turn", key)
            case invocation if plays(invocation):
                return self._run(session, invocation, key)
            case invocation:
                from runtimes.chant.answering import answering

                run = answering(invocation, session.cwd, self._environ, self._premises)
                return VerbTurn(invocation.verb.name, run, key)

    def _run(
        self,
        session: OpenedSession,
        invocation: Invocation,
        key: str,
        denied: GateAnswered | None = None,
    ) -> TurnMachine:
        tasks = self._tasks(self._request(session, invocation))
        at_gate = None
        if self._gates != "tell":
            strict = self._gates == "ask_strictly"
            at_gate = DurableGates(self._desk, session.session_id, invocation, key, strict)
        return OpTurn(tasks, self._platform, key, self._grace_s, at_gate=at_gate, denied=denied)

    def _request(self, session: OpenedSession, invocation: Invocation) -> RunRequest:
        return request_of(invocation, session.cwd, self._environ, origin="acp")

    # --- an answer to a request of ours

    def _permission(
        self, session: OpenedSession, said: Permission | UnclearPermission, key: str
    ) -> TurnMachine:
        if isinstance(said, UnclearPermission):
            return SaidTurn(f"{said.reason}; nothing was done", "refusal", key)
        request = self._desk.take(session.session_id, said.request_id)
        if request is None:
            return SaidTurn(NOT_OPEN, "end_turn", key)
        return self._answer(session, request, said, key)

    def _answer(
        self, session: OpenedSession, request: OpenRequest, said: Permission, key: str
    ) -> TurnMachine:
        from runtimes.chant.permission_answer import answering_request, denial
        from runtimes.chant.permission_turn import PermissionTurn

        tasks = self._tasks(self._request(session, request.invocation))
        answer = answering_request(request, said.option, tasks, self._desk)

        def then(given: AnswerGiven) -> TurnMachine:
            denied = denial(request.fact) if given.then == "clean_up" else None
            return self._run(session, request.invocation, key, denied)

        return PermissionTurn(answer, then, key)

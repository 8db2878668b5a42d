"""The hooks of a session: a person's own and, where it is trusted, the project's; its last ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.turn import CancelAsked, EndTurn, MachineFailed, StepEnded, TurnResult, TurnStarted
from protocol.values import frozen
from runtimes.radian import events
from runtimes.radian.config import ConfigError
from runtimes.radian.hook_run import HookDesk, Invocation
from runtimes.radian.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from actors.turn import TurnEffect, TurnEvent
    from runtimes.radian.hook_config import Hook
    from runtimes.radian.hook_run import HookRun
    from runtimes.radian.session import SessionPlan

END_LIMIT_S = 10.0
"""What a `session_end` hook gets at most: somebody waits for the process to end."""


@frozen
class ProjectHooks:
    """What a project brings, and what is odd about its file."""

    hooks: tuple[Hook, ...] = ()
    warnings: tuple[str, ...] = ()


def project_hooks(plan: SessionPlan) -> ProjectHooks:
    """Read the hooks of a trusted project; of any other, nothing is opened.

    Raises:
        SettingsError: Its file is wrong.

    """
    if not plan.trusted:
        return ProjectHooks()
    from runtimes.radian.project_config import read_project_config

    try:
        config = read_project_config(plan.workspace)
        if "hooks" not in config.tables:
            return ProjectHooks((), config.warnings)
        from runtimes.radian.hook_config import hooks_of

        found = hooks_of(config.tables["hooks"], f"{config.path}: hooks", config.folder)
    except ConfigError as error:
        raise SettingsError(str(error)) from error
    return ProjectHooks(found, config.warnings)


def hook_desk(
    plan: SessionPlan,
    session_id: str,
    project: ProjectHooks,
    env: Mapping[str, str],
    mask: Callable[[str], str],
) -> HookDesk:
    """Put a session's hooks together: the project's first, so that a person's see the outcome."""
    facts = {
        "session_id": session_id,
        "workspace": plan.workspace,
        "profile": plan.settings.profile_name,
        "resumed": plan.resume is not None,
    }
    hooks = (*project.hooks, *plan.settings.hooks)
    return HookDesk(hooks, facts, plan.workspace, env, mask)


def end_session(desk: HookDesk, say: Callable[[str], None]) -> None:
    """Run the `session_end` hooks, once, of a session that had a turn.

    On the main thread: a first signal cancels what runs, a second one kills it.  ``say`` gets
    what they have to tell.
    """
    if not desk.began:
        return
    desk.began = False
    run = desk.run("session-end", None, Invocation("session_end", {}), limit_s=END_LIMIT_S)
    if run is None:
        return
    from actors.local_host import run_turn

    def deliver(items: Sequence[Any]) -> None:
        for item in items:
            if isinstance(item, events.Warning):
                say(item.message)

    run_turn(_LastHooks(run), deliver)


class _LastHooks:
    """A turn that does nothing but run hooks; see `actors.turn.TurnMachine`."""

    def __init__(self, run: HookRun) -> None:
        self._run = run

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        match event:
            case TurnStarted():
                return self._ended_after(self._run.begin())
            case StepEnded(end):
                return self._ended_after(self._run.ended(end))
            case CancelAsked():
                return self._ended_after(self._run.stop())
            case MachineFailed():
                return [EndTurn(TurnResult())]
            case _:
                return []

    def _ended_after(self, effects: list[TurnEffect]) -> list[TurnEffect]:
        return effects if self._run.verdict is None else [*effects, EndTurn(TurnResult())]

"""One conversation in this process: what both `radian exec` and `radian acp` drive turns on."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any

from actors.logs import mask_lines, say
from protocol.values import frozen, slotted
from runtimes.models.base import Tool as OfferedTool
from runtimes.models.config import ScriptInvalid
from runtimes.models.credentials import CredentialMissing, user_home
from runtimes.models.secrets import Secrets
from runtimes.radian import events
from runtimes.radian.flags import MAX_MODEL_CALLS
from runtimes.radian.ground import real_ground
from runtimes.radian.instructions import instructions_in
from runtimes.radian.model_desk import ModelDesk
from runtimes.radian.opened_journal import open_for
from runtimes.radian.policy import Policy
from runtimes.radian.records import RunStarted, UserMessage
from runtimes.radian.secret_set import secret_paths
from runtimes.radian.session_hooks import end_session, hook_desk, project_hooks
from runtimes.radian.session_jobs import SessionJobs
from runtimes.radian.session_mcp import belt_with, choose_servers, make_servers
from runtimes.radian.settings import SettingsError
from runtimes.radian.system_prompt import system_prompt
from runtimes.radian.tool_belt import LaterTools
from runtimes.radian.tool_desk import ToolDesk
from runtimes.radian.tools.base import ToolContext
from runtimes.radian.tools.environment import tool_env
from runtimes.radian.tools.places import Places
from runtimes.radian.tools.sandbox import Sandboxes
from runtimes.radian.tools.seen import SeenFiles
from runtimes.radian.turn_desk import TurnDesk
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from protocol.acp.sessions import StdioServer
    from runtimes.radian.agent_turn import AgentTurn
    from runtimes.radian.asker import Asker
    from runtimes.radian.ground import AgentGround
    from runtimes.radian.mcp.servers import McpServers
    from runtimes.radian.records import Origin, UserPart
    from runtimes.radian.settings import Settings
    from runtimes.radian.side_files import SideFiles
    from runtimes.radian.tools.base import Tool


@frozen
class SessionPlan:
    """Which session is wanted, where, and who answers questions."""

    settings: Settings
    workspace: str
    """Absolute, without links."""
    resume: str | None = None
    session_id: str | None = None
    """Of a new one; None: made up."""
    trusted: bool = False
    """What the project brings is loaded."""
    yes: bool = False
    asker: Asker | None = None
    client_servers: tuple[StdioServer, ...] = ()
    """MCP servers that a client brings."""
    say: Callable[[str], None] | None = None
    """Gets what people should know at once, from any thread; else a turn tells it."""


@slotted
class AgentSession:
    """An open journal and all that turns need; see `open_session`."""

    session_id: str
    plan: SessionPlan
    desk: TurnDesk
    side_files: SideFiles
    resumed: bool
    warnings: list[str] = field(default_factory=list[str])
    last_turn: int = 0
    mcp: McpServers | None = None

    def turn(
        self,
        content: Sequence[UserPart],
        origin: Origin = "prompt",
        notices: tuple[events.Warning, ...] = (),
    ) -> AgentTurn:
        """Make the next turn; the one before must be over.  ``notices`` are shown as it begins."""
        from runtimes.radian.agent_turn import AgentTurn

        self.last_turn += 1
        message = UserMessage(self.last_turn, tuple(content)) if content else None
        return AgentTurn(self.desk, self.last_turn, origin, message, notices)

    def started(self) -> events.SessionStarted:
        """Return the event that says what this is."""
        settings = self.plan.settings
        return events.SessionStarted(
            self.session_id,
            self.plan.workspace,
            settings.provider.id,
            settings.model,
            settings.profile_name,
            self.plan.trusted,
            self.resumed,
            VERSION,
            () if self.mcp is None else self.mcp.ids,
        )

    def close(self) -> None:
        """Run the last hooks, end background jobs, let go of the journal.  Safe to call twice.

        Raises:
            JournalError: Their end could not be recorded.

        """
        with ExitStack() as last:
            last.callback(self.desk.journal.close)
            if self.mcp is not None:
                last.callback(self.mcp.close)
            last.callback(self._end_jobs)
            end_session(self.desk.tools.hooks, say)

    def _end_jobs(self) -> None:
        left = self.desk.jobs.close()
        if left:
            self.desk.journal.append(left, sync=True)


def open_session(
    plan: SessionPlan, environ: Mapping[str, str], ground: AgentGround | None = None
) -> AgentSession:
    """Open or make the session of a plan.  Reads and writes the disk.

    Where it raises, nothing is held, and there is no new session.

    ``ground``: what it stands on; None: this process's own.

    Raises:
        SettingsError: A rule, a hook or the script of a provider is wrong.
        SessionError: The session can't be used; nothing was written.
        JournalError: The disk refused it.

    """
    ground = ground or real_ground()
    if plan.trusted or plan.settings.no_profile:
        from runtimes.radian.project_profiles import with_project_profile

        plan = with_project_profile(plan)
    platform, settings = ground.platform, plan.settings
    home = os.path.realpath(user_home(environ))
    rules = settings.rules(plan.workspace, home)
    secrets = Secrets(environ)
    mask_lines(secrets.mask)
    sessions = ground.sessions(settings.home)
    try:
        provider = ground.make_provider(settings.provider, secrets)
    except ScriptInvalid as error:
        raise SettingsError(str(error)) from error
    tools = LaterTools(lambda: _tools(ground, settings, environ), platform.condition())
    project = project_hooks(plan)
    chosen = choose_servers(plan)
    opened = open_for(plan, sessions, platform)
    with ExitStack() as undo:
        undo.callback(opened.let_go)
        journal, entries, session_id = opened.journal, opened.entries, opened.session_id
        journal.mask = secrets.mask
        side_files = sessions.side_files(session_id)
        steps = ground.make_steps()
        undo.callback(steps.close)
        jobs = SessionJobs(
            side_files.folder,
            steps,
            platform=platform,
            faults=ground.faults,
            before=opened.jobs(),
        )
        context = ToolContext(
            places=Places(
                plan.workspace,
                (os.path.realpath(side_files.folder),),
                secret_paths(home, settings.home),
                rules.unreadable(),
            ),
            profile=settings.profile,
            sandboxes=Sandboxes(ground.faults, workspace=plan.workspace),
            env=tool_env(_without_keys(secrets, settings, environ)),
            output_folder=side_files.folder,
            seen=SeenFiles(),
            faults=ground.faults,
            jobs=jobs.jobs,
        )
        mcp = make_servers(
            chosen,
            plan,
            apart=side_files.folder,
            env=context.env,
            secrets=secrets,
            ground=ground,
        )
        if mcp is not None:
            undo.callback(mcp.close)
        desk = TurnDesk(
            journal=journal,
            entries=entries,
            model=ModelDesk(
                config=settings.provider,
                model=settings.model,
                provider=provider,
                secrets=secrets,
                system=_system(plan),
                tools=lambda: tuple(map(_offered, tools.values())),
                effort=settings.effort,
                images=side_files.load_image,
                more=mcp,
                clock=platform.monotonic,
                chance=ground.chance,
            ),
            tools=ToolDesk(
                tools if mcp is None else belt_with(tools, mcp),
                context,
                Policy(settings.profile, rules, plan.yes, plan.asker),
                platform.monotonic,
                secrets.mask,
                hook_desk(plan, session_id, project, context.env, secrets.mask),
            ),
            limits=settings.limits,
            mask=secrets.mask,
            monotonic=platform.monotonic,
            jobs=jobs,
            used_ids=opened.call_ids(),
        )
        session = AgentSession(
            session_id,
            plan,
            desk,
            side_files,
            resumed=plan.resume is not None,
            warnings=[
                *settings.warnings,
                *opened.warnings,
                *project.warnings,
                *chosen.warnings,
            ],
            last_turn=opened.last_turn,
            mcp=mcp,
        )
        entries += journal.append([_run_started(session)], sync=False)
        if mcp is not None:
            mcp.start()
        undo.pop_all()
        return session


def _without_keys(
    secrets: Secrets, settings: Settings, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment without any provider's key, also if it stands in another variable."""
    for name in settings.key_variables:
        secrets.hide_variable(name)
    with suppress(CredentialMissing):  # the first call of the model will say so
        secrets.key(settings.provider)
    return secrets.clean(environ)


def _tools(ground: AgentGround, settings: Settings, environ: Mapping[str, str]) -> dict[str, Tool]:
    from runtimes.radian.tools.ask_user import NAME, AskUser

    return {**ground.make_tools(settings.profile, environ), NAME: AskUser()}


def _system(plan: SessionPlan) -> str:
    own = instructions_in(os.path.realpath(plan.settings.home)) if plan.settings.user_config else ""
    project = instructions_in(plan.workspace) if plan.trusted else ""
    return system_prompt(plan.workspace, plan.settings.profile, own, project)


def _run_started(session: AgentSession) -> RunStarted:
    settings = session.plan.settings
    return RunStarted(
        provider=settings.provider.id,
        model=settings.model,
        profile=settings.profile_name,
        trusted=session.plan.trusted,
        effort=settings.effort,
        flags=_flags(session.plan, session.desk.mask) or None,
        version=VERSION,
    )


def _flags(plan: SessionPlan, mask: Callable[[str], str]) -> dict[str, Any]:
    """Return what was said of permissions and limits, as a journal tells it."""
    settings, limits = plan.settings, plan.settings.limits
    numbers = {
        "max_model_calls": None
        if limits.model_calls == MAX_MODEL_CALLS
        else limits.model_calls or 0,
        "max_cost_micros": limits.cost_micros,
        "max_output_tokens": limits.output_tokens,
        "turn_timeout_ms": None if limits.time_s is None else round(limits.time_s * 1000),
    }
    flags: dict[str, Any] = {name: each for name, each in numbers.items() if each is not None}
    rules = {"allow": settings.allow, "deny": settings.deny}
    flags |= {name: list(map(mask, texts)) for name, texts in rules.items() if texts}
    switches = {"yes": plan.yes, "no_user_config": not settings.user_config}
    return flags | {name: on for name, on in switches.items() if on}


def _offered(tool: Tool) -> OfferedTool:
    return OfferedTool(tool.name, tool.summary, tool.schema)

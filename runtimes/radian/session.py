"""One conversation in this process: what both `radian exec` and `radian acp` drive turns on."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING

from actors.faults import NoFaults
from actors.logs import mask_lines, say
from actors.real_platform import RealPlatform
from protocol.values import frozen, slotted
from runtimes.models.base import Tool as OfferedTool
from runtimes.models.credentials import CredentialMissing
from runtimes.models.registry import make_provider
from runtimes.models.scripted import ScriptInvalid
from runtimes.models.secrets import Secrets
from runtimes.radian import events
from runtimes.radian.healing import calls_of
from runtimes.radian.home import sessions_of
from runtimes.radian.ids import new_session_id
from runtimes.radian.instructions import instructions_in
from runtimes.radian.model_desk import ModelDesk
from runtimes.radian.policy import Policy
from runtimes.radian.records import (
    AssistantMessage,
    RunStarted,
    SessionCreated,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.secret_set import secret_paths
from runtimes.radian.session_hooks import end_session, hook_desk, project_hooks
from runtimes.radian.session_jobs import SessionJobs
from runtimes.radian.session_mcp import belt_with, choose_servers, make_servers
from runtimes.radian.settings import SettingsError
from runtimes.radian.system_prompt import system_prompt
from runtimes.radian.tool_desk import ToolDesk
from runtimes.radian.tools.ask_user import NAME as ASK_USER
from runtimes.radian.tools.ask_user import AskUser
from runtimes.radian.tools.base import ToolContext
from runtimes.radian.tools.builtin import builtin_tools
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
    from runtimes.radian.journal import Journal
    from runtimes.radian.mcp.servers import McpServers
    from runtimes.radian.records import Entry, Origin, UserPart
    from runtimes.radian.sessions import Sessions
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
        try:
            end_session(self.desk.tools.hooks, say)
            left = self.desk.jobs.close()
            if left:
                self.desk.journal.append(left, sync=True)
        finally:
            if self.mcp is not None:
                self.mcp.close()
            self.desk.journal.close()


def open_session(plan: SessionPlan, environ: Mapping[str, str]) -> AgentSession:
    """Open or make the session of a plan.  Reads and writes the disk.

    Raises:
        SettingsError: A rule, a hook or the script of a provider is wrong.
        SessionError: The session can't be used; nothing was written.
        JournalError: The disk refused it.

    """
    settings = plan.settings
    home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))
    rules = settings.rules(plan.workspace, home)
    secrets = Secrets(environ)
    mask_lines(secrets.mask)
    sessions = sessions_of(settings.home)
    platform = RealPlatform()
    try:
        provider = make_provider(settings.provider, secrets)
    except ScriptInvalid as error:
        raise SettingsError(str(error)) from error
    tools = {**builtin_tools(settings.profile, environ), ASK_USER: AskUser()}
    project = project_hooks(plan)
    chosen = choose_servers(plan)
    journal, entries, warnings = _journal(sessions, plan)
    warnings += (*project.warnings, *chosen.warnings)
    session_id = _id_of(entries)
    side_files = sessions.side_files(session_id)
    jobs = SessionJobs(side_files.folder, platform, NoFaults())
    context = ToolContext(
        places=Places(
            plan.workspace,
            (os.path.realpath(side_files.folder),),
            secret_paths(home, settings.home),
            rules.unreadable(),
        ),
        profile=settings.profile,
        sandboxes=Sandboxes(NoFaults()),
        env=tool_env(_without_keys(secrets, settings, environ)),
        output_folder=side_files.folder,
        seen=SeenFiles(),
        faults=NoFaults(),
        jobs=jobs.jobs,
    )
    mcp = make_servers(
        chosen,
        plan,
        apart=side_files.folder,
        env=context.env,
        secrets=secrets,
        platform=platform,
    )
    desk = TurnDesk(
        journal=journal,
        entries=entries,
        model=ModelDesk(
            config=settings.provider,
            model=settings.model,
            provider=provider,
            secrets=secrets,
            system=_system(plan),
            tools=tuple(map(_offered, tools.values())),
            effort=settings.effort,
            images=side_files.load_image,
            more=mcp,
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
        used_ids=_call_ids(entries),
    )
    session = AgentSession(
        session_id,
        plan,
        desk,
        side_files,
        resumed=plan.resume is not None,
        warnings=warnings,
        last_turn=_last_turn(entries),
        mcp=mcp,
    )
    entries += journal.append([_run_started(session)], sync=False)
    if mcp is not None:
        mcp.start()
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


def _system(plan: SessionPlan) -> str:
    own = instructions_in(os.path.realpath(plan.settings.home)) if plan.settings.user_config else ""
    project = instructions_in(plan.workspace) if plan.trusted else ""
    return system_prompt(plan.workspace, plan.settings.profile, own, project)


def _journal(sessions: Sessions, plan: SessionPlan) -> tuple[Journal, list[Entry], list[str]]:
    if plan.resume is not None:
        journal, loaded = sessions.open(plan.resume, plan.workspace)
        warnings = list(loaded.warnings)
        if plan.session_id not in {None, plan.resume}:
            warnings.append(f"--session-id {plan.session_id} is ignored: --resume goes on")
        return journal, list(loaded.entries), warnings
    session_id = plan.session_id or new_session_id(time.time(), os.urandom(10))
    journal, entry = sessions.create(SessionCreated(session_id, plan.workspace, VERSION))
    return journal, [entry], []


def _run_started(session: AgentSession) -> RunStarted:
    settings = session.plan.settings
    return RunStarted(
        provider=settings.provider.id,
        model=settings.model,
        profile=settings.profile_name,
        trusted=session.plan.trusted,
        effort=settings.effort,
        version=VERSION,
    )


def _id_of(entries: Sequence[Entry]) -> str:
    first = entries[0].record
    assert isinstance(first, SessionCreated)  # noqa: S101 - a journal is not loaded otherwise
    return first.session_id


def _call_ids(entries: Sequence[Entry]) -> set[str]:
    messages = (each.record for each in entries)
    return {
        call.call_id
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in calls_of(message)
    }


def _last_turn(entries: Sequence[Entry]) -> int:
    records = (each.record for each in entries)
    return max((each.turn for each in records if isinstance(each, TurnStarted)), default=0)


def _offered(tool: Tool) -> OfferedTool:
    return OfferedTool(tool.name, tool.summary, tool.schema)

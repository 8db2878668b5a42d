"""Opening the one session that a client gets: the rules of `session/new` and `session/load`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from actors.logs import say
from actors.opened_session import OpenedSession
from protocol.acp.sessions import LoadSession, StdioServer, new_session_result
from protocol.errors import InvalidParams, InvalidRequest, SessionNotFound, shown
from runtimes.models.credentials import radian_home
from runtimes.radian.permission_questions import ClientAsker
from runtimes.radian.session import SessionPlan, open_session
from runtimes.radian.session_errors import (
    BadSessionId,
    JournalError,
    SessionError,
    SessionForeign,
    SessionMissing,
    for_client,
)
from runtimes.radian.sessions import same_directory
from runtimes.radian.settings import SettingsError, settings_for, trusts
from runtimes.radian.wakes import Wakes
from runtimes.radian.workspace_path import WorkspaceUnusable, usable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from protocol.acp.sessions import McpServer, NewSession, ResumeSession
    from runtimes.radian.ground import AgentGround
    from runtimes.radian.options import ConversationOptions
    from runtimes.radian.session import AgentSession

ONE = "one process holds one session"


def check_none_is_open(session: AgentSession | None) -> None:
    """Refuse a second session.

    Raises:
        InvalidRequest: There is one.

    """
    if session is not None:
        message = f"{ONE}; start another radian acp for another one"
        raise InvalidRequest(message)


def open_agent(
    request: NewSession | ResumeSession | LoadSession,
    options: ConversationOptions,
    environ: Mapping[str, str],
    ground: AgentGround | None = None,
) -> OpenedSession:
    """Make, continue or load a session.  Where it is refused, nothing was written.

    ``ground``: what it stands on; None: this process's own.

    Raises:
        ProtocolError: Worded for the client.

    """
    wanted = request.session_id if isinstance(request, LoadSession) else None
    if wanted is not None and options.resume not in {None, wanted}:
        message = f"{ONE}, and this one was started for session {options.resume}"
        raise InvalidRequest(message)
    workspace = _workspace(request.cwd, options)
    servers = _stdio_servers(request.mcp_servers)
    asker = ClientAsker()
    session = _open(wanted, workspace, options, environ, asker, servers=servers, ground=ground)
    asker.session_id = session.session_id
    with ExitStack() as undo:
        undo.callback(session.close)
        opened = _opened(session, load=wanted is not None)
        undo.pop_all()
        return opened


def _opened(session: AgentSession, *, load: bool) -> OpenedSession:
    """Tell what is odd about the session, and what was said in it so far."""
    for warning in session.warnings:
        say(session.desk.mask(warning))
    session_id, workspace, own = session.session_id, session.plan.workspace, Wakes(session)
    if not load:
        result = new_session_result(session_id)
        return OpenedSession(session_id, workspace, result, own_turns=own, state=session)
    from runtimes.radian.replay import replay

    tools = session.desk.tools.tools
    replayed = tuple(replay(session.desk.entries, workspace, tools))
    return OpenedSession(session_id, workspace, {}, before=replayed, own_turns=own, state=session)


def _workspace(cwd: str, options: ConversationOptions) -> str:
    """Return the folder to work in, absolute and without links."""
    if not os.path.isdir(cwd):
        message = "cwd must be an existing directory"
        raise InvalidParams(message)
    if options.workspace is None:
        try:
            return usable(os.path.realpath(cwd))
        except WorkspaceUnusable as error:
            raise InvalidParams(str(error)) from error
    if not same_directory(cwd, options.workspace):
        message = f"{ONE}, and cwd is another directory than its workspace"
        raise InvalidParams(message)
    return options.workspace


def _stdio_servers(servers: tuple[McpServer, ...]) -> tuple[StdioServer, ...]:
    """Refuse what does not run, rather than let a client believe that its tools are there."""
    started: list[StdioServer] = []
    for server in servers:
        if not isinstance(server, StdioServer):
            message = (
                f"MCP server {shown(server.name)} is of type {server.kind}; only stdio ones can run"
            )
            raise InvalidParams(message)
        started.append(server)
    return tuple(started)


def _open(
    load: str | None,
    workspace: str,
    options: ConversationOptions,
    environ: Mapping[str, str],
    asker: ClientAsker,
    *,
    servers: tuple[StdioServer, ...],
    ground: AgentGround | None,
) -> AgentSession:
    resume = options.resume if load is None else load
    try:
        settings = settings_for(options, environ)
        trusted, notice = trusts(options, workspace, settings.home)
        plan = SessionPlan(
            settings,
            workspace,
            resume,
            # Where it loads, --session-id has nothing to name.
            options.session_id if load is None else None,
            trusted=trusted,
            asker=asker,
            client_servers=servers,
            say=say,
        )
        session = open_session(plan, environ, ground)
    except (BadSessionId, SessionForeign) as error:
        raise InvalidParams(str(error)) from error
    except SessionMissing as error:
        raise SessionNotFound(resume or "") from error
    except (SettingsError, SessionError, JournalError) as error:
        raise InvalidRequest(for_client(error, radian_home(environ))) from error
    if notice:
        say(notice)
    return session

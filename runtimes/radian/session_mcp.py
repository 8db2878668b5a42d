"""The MCP servers of a session, from all places that may name some.  Starts none.

Where nobody names any, nothing of `runtimes.radian.mcp` is imported.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from protocol.values import frozen
from runtimes.radian.config import ConfigError
from runtimes.radian.settings import SettingsError
from runtimes.radian.workspace_path import WorkspaceUnusable, current_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.secrets import Secrets
    from runtimes.radian.ground import AgentGround
    from runtimes.radian.mcp.servers import McpServers
    from runtimes.radian.mcp.specs import Servers
    from runtimes.radian.session import SessionPlan
    from runtimes.radian.tools.base import Tool

SERVERS = "mcp_servers"


@frozen
class ChosenServers:
    """What came of all places."""

    servers: Servers | None = None
    warnings: tuple[str, ...] = ()


def choose_servers(plan: SessionPlan) -> ChosenServers:
    """Read the entries of the client, of ``--mcp-config``, of the person and of the project.

    Raises:
        SettingsError: One of them is wrong.

    """
    settings = plan.settings
    project_path, project = _of_project(plan)
    if not (plan.client_servers or settings.mcp_config or settings.mcp_servers or project):
        return ChosenServers()
    from runtimes.radian.mcp import specs

    try:
        chosen = specs.merged(
            specs.of_client(plan.client_servers),
            specs.of_flags(settings.mcp_config, current_folder() if settings.mcp_config else ""),
            specs.of_config(settings.mcp_servers, settings.config_path, "config.toml"),
            specs.of_config(project, project_path, "the project's config"),
        )
    except (specs.ServersInvalid, WorkspaceUnusable) as error:
        raise SettingsError(str(error)) from error
    return ChosenServers(chosen, chosen.warnings)


def make_servers(
    chosen: ChosenServers,
    plan: SessionPlan,
    *,
    apart: str,
    env: Mapping[str, str],
    secrets: Secrets,
    ground: AgentGround,
) -> McpServers | None:
    """Make what was chosen, ready to be started; None if nothing was.

    ``apart``: the session's own folder, where servers run that must not load what an untrusted
    project has lying about; ``env``: of programs, without secrets.  From here on the secrets of
    the entries are masked.
    """
    if chosen.servers is None or not chosen.servers.specs:
        return None
    from runtimes.radian.mcp.servers import McpServers

    if not plan.trusted and ground.mcp_program is None:
        with suppress(OSError):  # no server can start there then, and each says so
            os.makedirs(apart, mode=0o700, exist_ok=True)
    return McpServers(
        chosen.servers.specs,
        workspace=plan.workspace,
        folder=plan.workspace if plan.trusted else apart,
        env=env,
        profile=plan.settings.profile,
        secrets=secrets,
        platform=ground.platform,
        faults=ground.faults,
        say=plan.say,
        program=ground.mcp_program,
    )


def belt_with(tools: Mapping[str, Tool], servers: McpServers) -> Mapping[str, Tool]:
    """Put the tools of servers beside those that are built in."""
    from runtimes.radian.tool_belt import ToolBelt

    return ToolBelt(tools, servers.tools)


def _of_project(plan: SessionPlan) -> tuple[str, Any]:
    """Return the path and the table of a trusted project; of any other, nothing is opened."""
    if not plan.trusted:
        return "", {}
    from runtimes.radian.project_config import read_project_config

    try:
        config = read_project_config(plan.workspace)
    except ConfigError as error:
        raise SettingsError(str(error)) from error
    return config.path, config.tables.get(SERVERS, {})

"""The tools that need no server and no session: what a composition root starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.radian.profiles import offered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.tools.base import Tool


def builtin_tools(profile: ProfileName, environ: Mapping[str, str]) -> dict[str, Tool]:
    """Return the tools that a profile does not deny outright, by name, in a fixed order.

    ``environ`` may name proxies for `fetch`.
    """
    from runtimes.radian.tools.fetch import Fetch
    from runtimes.radian.tools.glob import Glob
    from runtimes.radian.tools.grep import Grep
    from runtimes.radian.tools.job import JobTool
    from runtimes.radian.tools.patch import Patch
    from runtimes.radian.tools.read import Read
    from runtimes.radian.tools.shell import Shell
    from runtimes.radian.tools.subagent import SubagentTool
    from runtimes.radian.tools.todo import Todo
    from runtimes.radian.tools.write import Write

    tools: tuple[Tool, ...] = (
        Read(),
        Grep(),
        Glob(),
        Write(),
        Patch(),
        Shell(),
        JobTool(),
        Todo(),
        Fetch(environ),
        SubagentTool(),
    )
    return {tool.name: tool for tool in tools if offered(profile, tool.name)}

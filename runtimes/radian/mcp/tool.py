"""One tool of one server, as the agent's engine knows tools."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from runtimes.models.base import Tool as OfferedTool
from runtimes.radian.mcp.connection import RequestFailed
from runtimes.radian.mcp.content import read_content
from runtimes.radian.permissions import GrantKey, Request
from runtimes.radian.tools.base import Prepared, ToolFailedError, ToolOutcome, ToolView
from runtimes.radian.tools.full_output import MAX_RESULT_BYTES, FullOutput, shorten
from runtimes.radian.tools.running import one_line, run_callable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.work import CancelToken, WorkContext
    from runtimes.radian.mcp.listing import Listed
    from runtimes.radian.mcp.server import McpServer
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
"""What its arguments are held against here; the server judges the rest."""


class McpTool:
    """See `runtimes.radian.tools.base.Tool`."""

    kind: Kind = "other"
    read_only = False
    """Whatever the server says of it: calls that may ask somebody come one after the other."""
    schema: Mapping[str, Any] = ANY_OBJECT

    def __init__(self, server: McpServer, listed: Listed, mask: Callable[[str], str]) -> None:
        self.server = server
        self._listed = listed
        self._mask = mask
        self.name = listed.called
        self.summary = listed.description or listed.title

    @property
    def offered(self) -> OfferedTool:
        """What the model gets to know: the schema as the server gave it."""
        return OfferedTool(self.name, self.summary, self._listed.schema)

    @property
    def reads_only(self) -> bool:
        """The server says so."""
        return self._listed.reads_only

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Name the call; nothing is asked yet."""
        del context
        server = self.server.spec.id
        # Rules name a server before the slash, so an id has none.
        target = f"{server.replace('/', '_')}/{self._listed.name}"
        request = Request(
            "mcp",
            "mcp",
            target,
            reads_only=self._listed.reads_only,
            grant=GrantKey("mcp", target, f"{target} (MCP)"),
        )
        view = ToolView(one_line(f"{server}: {self._listed.title}"))
        return Prepared(self.name, values, view, request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the call."""
        file_name = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:100]
        kept = FullOutput(
            os.path.join(context.output_folder, f"{file_name}.txt"),
            context.faults,
            spare_bytes=MAX_RESULT_BYTES,
        )

        def act(work: WorkContext) -> ToolOutcome:
            return self._call(prepared.input, work.cancel, kept)

        return run_callable(self.name, act)

    def _call(self, values: Input, cancel: CancelToken, kept: FullOutput) -> ToolOutcome:
        try:
            said = read_content(self.server.call(self._listed.name, values, cancel))
        except RequestFailed as error:
            raise ToolFailedError(str(error)) from error
        text = self._mask(said.text)
        kept.write(text)
        full = kept.path if kept.exists else None
        reason = "the tool says that it failed" if said.failed else None
        return ToolOutcome(shorten(text, full=full), said.failed, reason, full)

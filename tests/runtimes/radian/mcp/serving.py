"""Real servers of `stub_server.py`, and a cancel that a test can set."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

from actors.cancel import CancelSignal
from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from runtimes.models.secrets import Secrets
from runtimes.radian.mcp.servers import McpServers
from runtimes.radian.mcp.specs import ServerSpec
from tests.actors.stepping import MARK
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runtimes.radian.mcp.tool import McpTool
    from runtimes.radian.profiles import ProfileName

STUB = str(ROOT / "tests" / "runtimes" / "radian" / "mcp" / "stub_server.py")
WAIT_S = 30.0


def stub(
    name: str = "db",
    mode: str = "good",
    *,
    mark: str = "",
    timeout_s: float = 300.0,
    env: Mapping[str, str] | None = None,
) -> ServerSpec:
    """Configure a server that behaves as ``mode`` says; all its processes carry ``mark``."""
    pairs = tuple({MARK: mark, **(env or {})}.items())
    return ServerSpec(name, sys.executable, (STUB, mode), pairs, timeout_s)


class Running:
    """Servers that were started, and what was told of them."""

    def __init__(self, folder: Path, *specs: ServerSpec, profile: ProfileName = "full") -> None:
        self.platform = RealPlatform()
        self.told: list[str] = []
        self._changed = threading.Condition()
        self.secrets = Secrets({"HOME": str(folder)})
        self.servers = McpServers(
            specs,
            workspace=str(folder),
            folder=str(folder),
            env={"PATH": os.environ["PATH"]},
            profile=profile,
            secrets=self.secrets,
            platform=self.platform,
            faults=NoFaults(),
            say=self._say,
        )
        self.servers.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.servers.close()

    def _say(self, text: str) -> None:
        with self._changed:
            self.told.append(text)
            self._changed.notify_all()

    def wait_told(self, wanted: str) -> str:
        """Wait until something with these words was told."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(wanted in each for each in self.told), WAIT_S
            ), self.told
            return next(each for each in self.told if wanted in each)

    def cancel(self) -> CancelSignal:
        """Make a cancel."""
        return CancelSignal(self.platform)

    def ready(self) -> list[str]:
        """Wait as a call of the model does; return the names that it is offered."""
        list(self.servers.await_start(self.cancel()))
        return [tool.name for tool in self.servers.offered()]

    def tool(self, name: str) -> McpTool:
        """Return a tool by its name in the engine."""
        return self.servers.tools()[name]

    def call(self, name: str, cancel: CancelSignal | None = None, **values: Any) -> Any:
        """Call a tool of server ``db`` and return its raw result."""
        server = self.tool(f"mcp__db__{name}").server
        return server.call(name, values, cancel or self.cancel())


def log_of(path: Path) -> list[dict[str, Any]]:
    """Return what a server with ``STUB_LOG`` has received."""
    return [json.loads(line) for line in path.read_text().splitlines()]

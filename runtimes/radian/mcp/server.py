"""One MCP server over all its lives: started, asked, and started again a few times when it ends.

A keeper thread goes through the lives; calls come from the threads of tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.logs import log
from runtimes.radian.mcp.connection import (
    Connection,
    RequestCancelled,
    RequestFailed,
    RequestTimedOut,
    ServerEnded,
)
from runtimes.radian.mcp.handshake import HandshakeFailed, list_tools, shake_hands
from runtimes.radian.mcp.listing import read_listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import Cancel
    from runtimes.radian.mcp.listing import Listed
    from runtimes.radian.mcp.specs import ServerSpec
    from runtimes.radian.mcp.world import World

State: TypeAlias = Literal["starting", "ready", "down", "failed"]

PATIENCE_S = 10.0
"""What a turn waits for a server that is starting, and a call for one that starts again."""
MAX_RESTARTS = 3
"""In a row."""
FIRST_DELAY_S = 0.5
"""Before the first start again; each further one waits twice as long."""
STEADY_S = 60.0
"""After so long a life the count of restarts begins anew."""
RELIST_S = 1.0
"""Between two looks at a list that changes all the time."""


class McpServer:
    """See the module.  Any thread may use it."""

    def __init__(self, spec: ServerSpec, slug: str, world: World) -> None:
        """``slug`` is how the server stands in names of tools.  `start` starts it."""
        self.spec = spec
        self._slug = slug
        self._world = world
        self._changed = world.platform.condition()
        self._state: State = "starting"
        self._tools: tuple[Listed, ...] = ()
        self._connection: Connection | None = None
        self._why = ""
        self._began_s = world.platform.monotonic()
        self._warned: set[str] = set()
        self._late_told = self._closing = False

    @property
    def state(self) -> State:
        """How it is now."""
        with self._changed:
            return self._state

    @property
    def tools(self) -> tuple[Listed, ...]:
        """What it offers; nothing before it was ready once, or after it was given up."""
        with self._changed:
            return self._tools

    def start(self) -> None:
        """Start it on a thread of its own."""
        try:
            self._world.platform.spawn(f"mcp-{self.spec.id}", self._run)
        except RuntimeError as error:
            self._give_up(str(error))

    def await_start(self, cancel: Cancel, limit_s: float) -> bool:
        """Wait until it is known what it offers, at most ``limit_s`` after its start.

        False: it is not known yet.
        """
        cancel.on_cancel(self._wake)
        until = self._began_s + limit_s
        with self._changed:
            while self._state == "starting" and not cancel.is_set():
                left_s = until - self._world.platform.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            return self._state != "starting"

    def tell_late(self) -> None:
        """Say, once, that nobody waits for it any longer."""
        with self._changed:
            told, self._late_told = self._late_told, True
        if not told:
            self._tell(f"is not ready after {PATIENCE_S:g} s; the turn goes on without its tools")

    def call(self, tool: str, arguments: Mapping[str, Any], cancel: Cancel) -> Any:
        """Call a tool and return its result.

        Raises:
            RequestFailed: Nothing came of it; the text is for the model.

        """
        connection = self._await_connection(cancel)
        params = {"name": tool, "arguments": dict(arguments)}
        try:
            return connection.request("tools/call", params, self.spec.timeout_s, cancel)
        except (RequestCancelled, RequestTimedOut):
            raise
        except ServerEnded as error:
            message = (
                f"MCP server {self.spec.id!r}: {error}; whether the call had effects is unknown"
            )
            raise ServerEnded(message) from error

    def hang_up(self) -> None:
        """Begin its end."""
        with self._changed:
            self._closing = True
            connection = self._connection
            self._changed.notify_all()
        if connection is not None:
            connection.hang_up()

    def wait_end(self, timeout_s: float) -> None:
        """Wait until its program is gone, and ask it less politely if it is not."""
        with self._changed:
            connection = self._connection
        if connection is not None and not connection.wait_end(timeout_s):
            connection.terminate()

    def _await_connection(self, cancel: Cancel) -> Connection:
        """Return the live connection, waiting for one that is being made."""
        cancel.on_cancel(self._wake)
        until = self._world.platform.monotonic() + PATIENCE_S
        with self._changed:
            while True:
                connection = self._connection
                if self._state == "ready" and connection is not None and not connection.is_over:
                    return connection
                left_s = until - self._world.platform.monotonic()
                if left_s <= 0 or self._state == "failed" or self._closing or cancel.is_set():
                    break
                self._changed.wait(left_s)
            why = f": {self._why}" if self._why else ""
        if cancel.is_set():
            message = "cancelled"
            raise RequestCancelled(message)
        message = f"MCP server {self.spec.id!r} is not running{why}"
        raise ServerEnded(message)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    # --- the keeper's thread

    def _run(self) -> None:
        try:
            self._keep()
        except Exception as error:  # noqa: BLE001 - a fault of ours costs this server only
            log().opt(exception=error).error("the keeper of an MCP server failed")
            self._give_up("a fault of radian's own; the log has it")

    def _keep(self) -> None:
        """Go through the lives of the server until it is given up or we end."""
        restarts = 0
        while True:
            began_s = self._world.platform.monotonic()
            why, final = self._live()
            if self._closing:
                return
            if self._world.platform.monotonic() - began_s > STEADY_S:
                restarts = 0
            if final or restarts >= MAX_RESTARTS:
                self._give_up(why)
                return
            restarts += 1
            self._fall_down(why, restarts)
            if not self._pause(FIRST_DELAY_S * 2 ** (restarts - 1)):
                return

    def _live(self) -> tuple[str, bool]:
        """Go through one life; return why it ended, and whether another would end alike."""
        try:
            connection = self._connect()
            listed = shake_hands(connection, self._world.platform)
        except OSError as error:
            return error.strerror or str(error), False
        except RequestFailed as error:
            return self._failed_start(error)
        self._offer(listed, connection)
        while connection.wait_for_news():
            self._list_again(connection)
            if not self._pause(RELIST_S):
                break
        return connection.end_reason, False

    def _connect(self) -> Connection:
        connection = Connection(self.spec, self._world)
        with self._changed:
            self._connection = connection
            closing = self._closing
        connection.start()
        if closing:
            connection.hang_up()
        return connection

    def _failed_start(self, error: RequestFailed) -> tuple[str, bool]:
        connection = self._connection
        assert connection is not None  # noqa: S101 - who failed was there
        ended = isinstance(error, ServerEnded) and connection.is_over
        why = connection.end_reason if ended else str(error)
        final = connection.can_not_start or isinstance(error, HandshakeFailed | RequestTimedOut)
        connection.kill()
        return why, final

    def _offer(self, listed: list[Any], connection: Connection) -> None:
        listing = read_listing(self.spec.id, self._slug, listed)
        with self._changed:
            self._tools = listing.tools
            self._state = "down" if connection.is_over else "ready"
            self._why = ""
            self._changed.notify_all()
        for warning in listing.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._world.tell(self._world.mask(warning))

    def _list_again(self, connection: Connection) -> None:
        try:
            listed = list_tools(connection, self._world.platform)
        except RequestFailed as error:
            if not connection.is_over:
                self._tell(f"changed its tools, but does not list them: {error}")
            return
        self._offer(listed, connection)

    def _fall_down(self, why: str, restart: int) -> None:
        with self._changed:
            ready = self._state == "ready"
            # Nobody waits for a first start that failed: what comes later comes later.
            self._state, self._why = "down", why
            self._changed.notify_all()
        if ready or restart == 1:
            how = "ended" if ready else "did not start"
            self._tell(f"{how}: {why}; it is started again ({restart} of {MAX_RESTARTS})")

    def _give_up(self, why: str) -> None:
        with self._changed:
            ever = bool(self._tools)
            self._state, self._why, self._tools = "failed", why, ()
            self._changed.notify_all()
        self._tell(f"{'ended' if ever else 'did not start'}: {why}; its tools are not there")

    def _pause(self, wait_s: float) -> bool:
        """Wait; False when we end."""
        until = self._world.platform.monotonic() + wait_s
        with self._changed:
            while not self._closing and (left_s := until - self._world.platform.monotonic()) > 0:
                self._changed.wait(left_s)
            return not self._closing

    def _tell(self, what: str) -> None:
        self._world.tell(self._world.mask(f"MCP server {self.spec.id!r} {what}"))

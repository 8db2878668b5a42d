"""One running MCP server: requests that wait for their answers, until its end.

Any thread may ask, and waits no longer than its limit, its cancel and the server's life.  What the
server writes is read by the pump of its program.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from actors.logs import debug_wanted, log
from runtimes.radian.mcp.peer import Answered, McpPeer, Told

if TYPE_CHECKING:
    from actors.piped_program import ProgramEnd
    from actors.work import Stream
    from runtimes.models.base import Cancel
    from runtimes.radian.mcp.specs import ServerSpec
    from runtimes.radian.mcp.world import World

STDERR_CHARS = 2000
"""Kept of what a server says on stderr: enough for the reason of its end."""
MAX_LOGGED_LINES = 1000
"""Of one server's stderr and life; one that floods has nothing to say."""
ENDING_S = 0.5
"""Between the end of a program, which then takes nothing more, and the moment it is told."""


class RequestFailed(Exception):  # noqa: N818 - an answer, told to the model or to people
    """A request came to nothing; the text says why."""


class RequestCancelled(RequestFailed):
    """Whoever asked does not want it any more."""


class RequestTimedOut(RequestFailed):
    """No answer came within the limit; the server was told."""


class ServerEnded(RequestFailed):
    """The server is not there any more."""


class Connection:
    """One life of one server."""

    def __init__(self, spec: ServerSpec, world: World) -> None:
        """Make it; `start` runs it.

        Raises:
            OSError: There is no descriptor left.

        """
        from urllib.parse import quote

        platform = world.platform
        self._name = spec.id
        self._mask = world.mask
        self._platform = platform
        self._peer = McpPeer(f"file://{quote(world.workspace)}")
        self._talking = platform.condition()
        """Held while lines are read and written; a long line takes a while."""
        self._changed = platform.condition()
        """Held for a moment only."""
        self._answers: dict[int, Answered] = {}
        self._awaited: set[int] = set()
        self._end: ProgramEnd | None = None
        self._tools_changed = False
        self._stderr: deque[str] = deque(maxlen=STDERR_CHARS)
        self._logged = 0
        self._program = world.program(world.work_of(spec), self)

    @property
    def is_over(self) -> bool:
        """Tell whether the server is gone."""
        with self._changed:
            return self._end is not None

    @property
    def end_reason(self) -> str:
        """Say how it ended, with the last line that it printed for people."""
        with self._changed:
            why = "it still runs" if self._end is None else self._end.why
            lines = "".join(self._stderr).strip().splitlines()
        return self._mask(f"{why}: {lines[-1].strip()[:300]}" if lines else why)

    @property
    def can_not_start(self) -> bool:
        """Tell whether there was never a program: another try would not help."""
        with self._changed:
            return self._end is not None and not self._end.started

    def start(self) -> None:
        """Start the program."""
        self._program.start()

    def request(
        self, method: str, params: dict[str, Any], limit_s: float, cancel: Cancel | None = None
    ) -> Any:
        """Ask the server and return its result.

        Raises:
            RequestFailed: It refused, ended, or was given up; see the classes.

        """
        with self._talking:
            request_id = self._peer.request(method, params)
            with self._changed:
                self._awaited.add(request_id)
            taken = self._program.write(self._peer.take_outgoing())
        if cancel is not None:
            cancel.on_cancel(self._wake)
        if not taken:
            raise self._not_asked(method, cancel)
        answer = self._wait(request_id, limit_s, cancel)
        if answer is None:
            raise self._given_up(request_id, method, limit_s, cancel)
        if answer.error is not None:
            raise RequestFailed(self._mask(answer.error))
        return answer.value

    def notify(self, method: str) -> None:
        """Tell the server something."""
        with self._talking:
            self._peer.notify(method, {})
            taken = self._program.write(self._peer.take_outgoing())
        if not taken:
            raise self._not_asked(method)

    def wait_for_news(self) -> bool:
        """Wait until the server ended (False) or its list of tools changed (True)."""
        with self._changed:
            while self._end is None and not self._tools_changed:
                self._changed.wait()
            self._tools_changed = False
            return self._end is None

    def hang_up(self) -> None:
        """Close the server's stdin, upon which a polite one ends."""
        self._program.hang_up()

    def terminate(self) -> None:
        """Ask the server and all that it started to end."""
        self._program.terminate()

    def kill(self) -> None:
        """End the server and all that it started."""
        self._program.kill()

    def wait_end(self, timeout_s: float, cancel: Cancel | None = None) -> bool:
        """Wait for its end; tell whether it came.  ``cancel``, if it wakes us, ends the wait."""
        until = self._platform.monotonic() + timeout_s
        with self._changed:
            while self._end is None and (left_s := until - self._platform.monotonic()) > 0:
                if cancel is not None and cancel.is_set():
                    break
                self._changed.wait(left_s)
            return self._end is not None

    # --- the pump's thread

    def heard(self, stream: Stream, data: bytes) -> None:
        """Take what the server wrote."""
        if stream == "stderr":
            self._hear_stderr(data)
            return
        with self._talking:
            heard = self._peer.feed(data)
            answers = self._peer.take_outgoing()
        if answers:
            self._program.write(answers)
        with self._changed:
            for each in heard:
                match each:
                    case Answered(request_id):
                        if request_id in self._awaited:
                            self._answers[request_id] = each
                    case Told("notifications/tools/list_changed"):
                        self._tools_changed = True
                    case _:
                        pass  # progress and log messages: nobody reads them
            if heard:
                self._changed.notify_all()

    def ended(self, end: ProgramEnd) -> None:
        """Note its end."""
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def _hear_stderr(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        with self._changed:
            self._stderr.extend(text[-STDERR_CHARS:])
        if debug_wanted() and self._logged < MAX_LOGGED_LINES:
            for line in text.splitlines():
                self._logged += 1
                log().debug("MCP server {}: {}", self._name, self._mask(line[:STDERR_CHARS]))

    # --- waiting

    def _not_asked(self, method: str, cancel: Cancel | None = None) -> ServerEnded:
        """Say why it takes nothing; the pump, which knows its end, must be free to tell it."""
        why = self.end_reason if self.wait_end(ENDING_S, cancel) else "it does not read"
        return ServerEnded(self._mask(f"the server can't be asked for {method}: {why}"))

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _wait(self, request_id: int, limit_s: float, cancel: Cancel | None) -> Answered | None:
        until = self._platform.monotonic() + limit_s
        with self._changed:
            while request_id not in self._answers and self._end is None:
                left_s = until - self._platform.monotonic()
                if left_s <= 0 or (cancel is not None and cancel.is_set()):
                    break
                self._changed.wait(left_s)
            self._awaited.discard(request_id)
            return self._answers.pop(request_id, None)

    def _given_up(
        self, request_id: int, method: str, limit_s: float, cancel: Cancel | None
    ) -> RequestFailed:
        """Tell the server, and return why there is no answer."""
        if self.is_over:
            return ServerEnded(f"the server ended before it answered {method}: {self.end_reason}")
        cancelled = cancel is not None and cancel.is_set()
        reason = "cancelled" if cancelled else f"no answer within {limit_s:g} s"
        with self._talking:
            self._peer.give_up(request_id, reason)
            self._program.write(self._peer.take_outgoing())
        return RequestCancelled(reason) if cancelled else RequestTimedOut(f"{method}: {reason}")

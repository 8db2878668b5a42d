"""A workspace to try tools in, and the way of a call: prepared, decided, run as a real step."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING, Any

import orjson

from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from runtimes.radian.permissions import Allow, Decision, decide
from runtimes.radian.rules import Rules
from runtimes.radian.secret_set import secret_paths
from runtimes.radian.tools.base import Prepared, Tool, ToolContext, ToolOutcome, prepare
from runtimes.radian.tools.environment import tool_env
from runtimes.radian.tools.jobs import Job, Jobs
from runtimes.radian.tools.places import Places
from runtimes.radian.tools.sandbox import Sandboxes
from runtimes.radian.tools.seen import SeenFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from actors.faults import Faults, Verdict
    from actors.work import StepEnd, StepHandle, Stream
    from runtimes.radian.profiles import ProfileName

WAIT_S = 30.0


class Bench:
    """One session's tools, on real steps.  Close it."""

    def __init__(
        self,
        folder: Path,
        profile: ProfileName = "workspace",
        *,
        sandboxes: Sandboxes | None = None,
        faults: Faults | None = None,
        unreadable: tuple[str, ...] = (),
    ) -> None:
        """Make a home with a workspace in it below ``folder``."""
        self.home = folder / "home"
        self.workspace = self.home / "box"
        self.workspace.mkdir(parents=True)
        self.outputs = folder / "outputs"
        self.ended: list[Job] = []
        self._heard = threading.Condition()
        faults = faults or NoFaults()
        platform = RealPlatform()
        self.steps = RealSteps(platform, NoFaults())
        self.jobs = Jobs(
            self.steps, str(self.outputs), self._note, platform=platform, faults=faults
        )
        workspace = os.path.realpath(self.workspace)
        self.context = ToolContext(
            places=Places(
                workspace,
                (str(self.outputs),),
                secret_paths(str(self.home), str(self.home / ".radian")),
                tuple(os.path.join(workspace, one) for one in unreadable),
            ),
            profile=profile,
            sandboxes=sandboxes or Sandboxes(faults),
            env=tool_env({"PATH": os.environ["PATH"], "HOME": str(self.home)}),
            output_folder=str(self.outputs),
            seen=SeenFiles(),
            faults=faults,
            jobs=self.jobs,
        )

    def write(self, name: str, content: bytes | str = "") -> Path:
        """Put a file into the workspace."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def prepare(self, tool: Tool, **values: Any) -> Prepared:
        """Prepare a call that must be fine."""
        prepared = self.try_to_prepare(tool, **values)
        assert isinstance(prepared, Prepared), prepared
        return prepared

    def try_to_prepare(self, tool: Tool, **values: Any) -> Prepared | ToolOutcome:
        """Prepare a call."""
        arguments = orjson.dumps(values).decode()
        return prepare({tool.name: tool}, tool.name, arguments, self.context)

    def decide(self, prepared: Prepared, rules: Rules | None = None) -> Decision:
        """Decide a call without a person."""
        return decide(prepared.request, rules or Rules(), frozenset(), self.context.profile)

    def call(self, tool: Tool, **values: Any) -> ToolOutcome:
        """Prepare a call, which the profile must allow, and run it to its end."""
        prepared = self.try_to_prepare(tool, **values)
        if isinstance(prepared, ToolOutcome):
            return prepared
        decision = self.decide(prepared)
        assert isinstance(decision, Allow), decision
        return self.run(tool, prepared)

    def run(self, tool: Tool, prepared: Prepared) -> ToolOutcome:
        """Run a prepared call to its end, as if it had been allowed."""
        return self.begin(tool, prepared).outcome()

    def begin(self, tool: Tool, prepared: Prepared) -> Running:
        """Start a prepared call."""
        return Running(self.steps, tool, prepared, self.context)

    def wait_ended(self) -> Job:
        """Wait for the end of a job."""
        with self._heard:
            assert self._heard.wait_for(lambda: self.ended, WAIT_S)
            return self.ended[-1]

    def close(self) -> None:
        """Kill what is left."""
        self.steps.close()

    def _note(self, job: Job) -> None:
        with self._heard:
            self.ended.append(job)
            self._heard.notify_all()


class FullDisk(NoFaults):
    """The disk is full at one fault point."""

    def __init__(self, at: str) -> None:
        self._at = at

    def at(self, name: str, who: str = "") -> Verdict:
        """Refuse there."""
        if name == self._at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), who)
        return "pass"


class SwapsFolder(NoFaults):
    """At one fault point a folder becomes a link to another one."""

    def __init__(self, at: str, folder: Path, to: Path) -> None:
        self._at = at
        self._folder = folder
        self._to = to

    def at(self, name: str, who: str = "") -> Verdict:
        """Swap there, once."""
        del who
        if name == self._at and not self._folder.is_symlink():
            self._folder.rename(f"{self._folder}-before")
            self._folder.symlink_to(self._to)
        return "pass"


class Running:
    """One call on a real step."""

    def __init__(
        self, steps: RealSteps, tool: Tool, prepared: Prepared, context: ToolContext
    ) -> None:
        self._run = tool.start(prepared, "call-1", context)
        self._changed = threading.Condition()
        self._end: StepEnd | None = None
        self.heard = ""
        self._timer: threading.Timer | None = None
        self.handle: StepHandle = steps.start(
            "s1", self._run.work, self, self._render, self._on_end
        )
        if self._run.timeout_s is not None:
            self._timer = threading.Timer(self._run.timeout_s, self._time_out)
            self._timer.daemon = True
            self._timer.start()

    def offer(self, items: Iterable[str]) -> None:
        """Take what would be shown."""
        with self._changed:
            self.heard += "".join(items)
            self._changed.notify_all()

    def end(self) -> None:
        """Nobody waits in `offer`."""

    def wait(self, what: Callable[[], bool]) -> None:
        """Wait until output makes ``what`` true."""
        with self._changed:
            assert self._changed.wait_for(what, WAIT_S)

    def outcome(self) -> ToolOutcome:
        """Wait for the end."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._end is not None, WAIT_S)
            assert self._end is not None
        if self._timer is not None:
            self._timer.cancel()
        return self._run.finish(self._end)

    def _render(self, stream: Stream, text: str) -> tuple[str]:
        if self._run.hear is not None:
            self._run.hear(stream, text)
        return (text,)

    def _on_end(self, end: StepEnd) -> None:
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def _time_out(self) -> None:
        self.handle.abort("timed_out")
        self.handle.kill()

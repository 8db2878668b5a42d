"""The sandbox of commands: bubblewrap, else Landlock, else none, and then a person is asked.

Which one works is found out by running it, once a process, when the first command comes.  A
command is never run without a sandbox in silence: who prepares it asks `Sandboxes.found` first.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Literal, TypeAlias

from actors.faults import WITH_ERROR, point
from protocol.values import frozen
from runtimes.radian.tools.bubblewrap import bubblewrap_argv
from runtimes.radian.tools.programs import on_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.faults import Faults

AT_PROBE = point("sandbox.probe", "a sandbox is about to be tried", WITH_ERROR)

SandboxKind: TypeAlias = Literal["bubblewrap", "landlock"]

PROBE_TIMEOUT_S = 10.0
"""Trying a sandbox takes milliseconds; one that takes longer does not work."""
MAX_REASON_CHARS = 200
"""Of what a sandbox that does not work says."""

LANDLOCK_LIMITS = "bubblewrap does not work here; Landlock lets commands write .git and .radian"
LAUNCHER = os.path.join(os.path.dirname(__file__), "landlock_main.py")


@frozen
class View:
    """What a sandboxed command sees.  All paths are absolute, without links."""

    workspace: str
    writable: bool
    """The workspace (but for `protected`) and ``/tmp`` may be written."""
    protected: tuple[str, ...]
    """Below the workspace, never written."""
    secret: tuple[str, ...]
    """Not to be seen at all."""
    private_tmp: str
    """The folder that stands for ``/tmp``, or is named by TMPDIR; its maker is the caller."""


@frozen
class Sandbox:
    """A sandbox that works here; ``program`` is bubblewrap's path, or Python's."""

    kind: SandboxKind
    program: str
    limits: str = ""
    """What it can't keep, for people; empty for none."""

    def wrap(self, argv: Sequence[str], cwd: str, view: View) -> tuple[str, ...]:
        """Return the command line that runs ``argv`` in the sandbox.  Looks at the disk."""
        if self.kind == "bubblewrap":
            return bubblewrap_argv(self.program, argv, cwd, view)
        return landlock_argv(self.program, argv, view)

    def env(self, view: View) -> dict[str, str]:
        """Return what a command must know of the sandbox, for its environment."""
        return {} if self.kind == "bubblewrap" else {"TMPDIR": view.private_tmp}


@frozen
class NoSandbox:
    """Nothing works here; ``reason`` says for people what was tried."""

    reason: str


def landlock_argv(program: str, argv: Sequence[str], view: View) -> tuple[str, ...]:
    """Return the command line that takes rights away from itself, then becomes ``argv``."""
    options = [f"--write={view.workspace}", f"--write={view.private_tmp}"] if view.writable else []
    options += [f"--hide={path}" for path in (*view.secret, "/tmp", "/run/user")]  # noqa: S108
    options += [f"--read={view.workspace}", f"--read={view.private_tmp}"]
    return (program, "-I", "-S", LAUNCHER, *options, "--", *argv)


class Sandboxes:
    """Finds the sandbox of this machine, once.  Any thread may call it."""

    def __init__(
        self,
        faults: Faults,
        *,
        bubblewrap: str | None = None,
        kinds: tuple[SandboxKind, ...] = ("bubblewrap", "landlock"),
        workspace: str = "/",
    ) -> None:
        """``bubblewrap``: its path, None to look for it; ``kinds``: which to try, in order.

        ``workspace``: where it is not looked for.
        """
        self._workspace = workspace
        self._faults = faults
        self._bubblewrap = bubblewrap
        self._kinds = kinds
        self._lock = threading.Lock()
        self._found: Sandbox | NoSandbox | None = None

    def found(self) -> Sandbox | NoSandbox:
        """Return the sandbox, trying what there is if nobody did so before (milliseconds)."""
        with self._lock:
            if self._found is None:
                self._found = self._try_all()
            return self._found

    def _try_all(self) -> Sandbox | NoSandbox:
        reasons: list[str] = []
        for kind in self._kinds:
            sandbox = self._candidate(kind)
            reason = f"{kind} is not installed" if sandbox is None else self._try(sandbox)
            if sandbox is not None and not reason:
                return sandbox
            reasons.append(reason)
        return NoSandbox("no sandbox works here: " + "; ".join(reasons or ["none is allowed"]))

    def _candidate(self, kind: SandboxKind) -> Sandbox | None:
        if kind == "landlock":
            return Sandbox(kind, sys.executable, LANDLOCK_LIMITS)
        program = self._bubblewrap or on_path("bwrap", self._workspace)
        return Sandbox(kind, program) if program else None

    def _try(self, sandbox: Sandbox) -> str:
        """Run a program that does nothing; return why it did not work, empty if it did."""
        import subprocess

        view = View("/", writable=False, protected=(), secret=(), private_tmp="/")
        argv = sandbox.wrap(("/bin/sh", "-c", ":"), "/", view)
        try:
            self._faults.at(AT_PROBE, sandbox.kind)
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=PROBE_TIMEOUT_S,
                env={},
                cwd="/",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{sandbox.kind} does not end"
        except OSError as error:
            return f"{sandbox.kind}: {error.strerror or error}"
        if done.returncode == 0:
            return ""
        said = done.stderr.decode("utf-8", "replace").strip()[:MAX_REASON_CHARS]
        return f"{sandbox.kind}: {said or f'exit code {done.returncode}'}"

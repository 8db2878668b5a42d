"""git, as we call it: plumbing on one repository.

Hooks, prompts and the caller's own git variables have no say.  HEAD, the index and the working
tree are never touched.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from signal import SIGKILL, Signals
from typing import TYPE_CHECKING, Protocol

from ops.errors import LedgerError
from ops.faults import BEFORE_GIT, BEFORE_RETRY, NoFaults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen

    from ops.faults import Faults

TIMEOUT_S = 60.0
"""No plumbing call takes that long; one that does waits for something that won't come."""
HURRY_S = 1.5
"""What a call still gets once nobody wants to wait for it any more: less than the two
seconds that an aborted step has, or what talks to a remote would outlive the process."""
LOOK_S = 0.2
"""How often a call looks whether anybody still wants to wait."""

KEPT_VARIABLES = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_NO_VERIFY",
)
"""Who commits and how to reach a remote.  The others (GIT_DIR, GIT_INDEX_FILE, ...) say which
repository to work on; inside a hook they name the wrong one."""

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "core.quotePath=false",
    # A ref that survives a power cut must not point to objects that did not.
    "core.fsync=loose-object,reference",
)


class GitFailed(LedgerError):  # noqa: N818 - the tree names what happened
    """git exited with a code, or (below 0) by a signal; ``detail`` is what it said."""

    def __init__(self, command: str, code: int, detail: str) -> None:
        how = f"failed ({code})" if code >= 0 else f"was killed by {_signal_name(-code)}"
        super().__init__(f"git {command} {how}: {detail or 'it said nothing'}")
        self.detail = detail


def _signal_name(number: int) -> str:
    return Signals(number).name if number in set(Signals) else f"signal {number}"


class Stopping(Protocol):
    """Tells that nobody wants to wait any more."""

    def is_set(self) -> bool:
        """Tell whether that is so."""
        ...


class Git:
    """git on the repository that ``folder`` belongs to.  Safe to use from several threads."""

    def __init__(
        self, folder: str, environ: Mapping[str, str] | None = None, faults: Faults | None = None
    ) -> None:
        self._folder = folder
        self.faults: Faults = faults or NoFaults()
        base = os.environ if environ is None else environ
        self._env = git_environment(base)

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
        stop: Stopping | None = None,
    ) -> bytes:
        """Run one command and return what it printed; ``stop`` leaves it `HURRY_S`.

        One that does not end in time is killed with all that it started.

        Raises:
            GitFailed: It exited with another code than 0.
            LedgerError: There is no git, or it did not end in time.

        """
        import subprocess

        settings = [part for each in SETTINGS for part in ("-c", each)]
        argv = ["git", *settings, "-C", self._folder, *args]
        try:
            self.faults.at(BEFORE_GIT.name, args[0])
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self._env, **(env or {})},
                # Ctrl-C at the terminal is for us; a write under way goes on to its end.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            msg = "git is not installed"
            raise LedgerError(msg) from error
        except OSError as error:
            msg = f"git {args[0]} can't be run: {error.strerror}"
            raise LedgerError(msg) from error
        with process:
            try:
                printed, said = _wait(process, stdin, timeout_s, stop)
            except subprocess.TimeoutExpired as error:
                hurried = stop is not None and stop.is_set()
                msg = f"git {args[0]} did not end within {timeout_s:g} s"
                raise LedgerError(_GIVEN_UP.format(args[0]) if hurried else msg) from error
        if process.returncode:
            raise GitFailed(args[0], process.returncode, said.decode(errors="replace").strip())
        return printed

    def pause(self, seconds: float) -> None:
        """Wait before a change that lost a race is tried again."""
        import threading

        self.faults.at(BEFORE_RETRY.name)
        threading.Event().wait(seconds)

    def text(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """Run one command and return its output as stripped text."""
        return self.run(*args, stdin=stdin, env=env).decode(errors="surrogateescape").strip()

    def ask(self, *args: str) -> str | None:
        """Run a command that answers by its exit code; None when it says no."""
        try:
            return self.text(*args)
        except GitFailed:
            return None


_GIVEN_UP = "git {} was given up, since nobody waits for it any more"


def _wait(
    process: Popen[bytes], stdin: bytes, timeout_s: float, stop: Stopping | None
) -> tuple[bytes, bytes]:
    """Return what a process prints and what it complains of, when it has ended.

    Raises:
        TimeoutExpired: It was killed: there was no more time, see `Git.run`.

    """
    from subprocess import TimeoutExpired

    until_s = time.monotonic() + timeout_s
    given: bytes | None = stdin
    try:
        while True:
            if stop is not None and stop.is_set():
                until_s, stop = min(until_s, time.monotonic() + HURRY_S), None
            left_s = until_s - time.monotonic()
            try:
                return process.communicate(given, left_s if stop is None else min(left_s, LOOK_S))
            except TimeoutExpired:
                if time.monotonic() >= until_s:
                    raise
            given = None  # it is being written already
    except BaseException:
        # What talks to the remote (ssh, a helper) would wait on for an answer.  Not reaped yet:
        # the number is still its own.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, SIGKILL)
        raise


def git_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base`` without what would lead git elsewhere or make it ask a person."""
    kept = {name: value for name, value in base.items() if not name.startswith("GIT_")}
    kept.update((name, base[name]) for name in KEPT_VARIABLES if name in base)
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

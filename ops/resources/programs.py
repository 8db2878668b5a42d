"""Running a program to look at something: bounded in time and output, ended by a cancel."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen

    from ops.resources.reader import Look

MAX_OUTPUT_BYTES = 1024 * 1024
"""As much of each stream as is kept; the rest is read and dropped."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that ended by itself."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def why(self) -> str:
        """Say how it ended: the code and its last line of complaint."""
        said = self.stderr.decode(errors="replace").strip().splitlines()
        return f"exit code {self.code}" + (f": {said[-1][:300]}" if said else "")


def run_program(argv: Sequence[str], look: Look, env: Mapping[str, str] | None = None) -> Ran | str:
    """Run ``argv`` in the project's folder; return how it ended, or why nobody knows.

    When the time is over, or on a cancel, its whole process group is killed.
    """
    import subprocess

    try:
        process = subprocess.Popen(
            argv,
            cwd=look.root,
            env={**look.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        return f"there is no program {argv[0]!r}"
    except (OSError, ValueError) as error:
        return f"{argv[0]!r} can't be started: {getattr(error, 'strerror', None) or error}"
    look.cancel.on_cancel(lambda: _kill(process))
    try:
        streams = _read(process, time.monotonic() + look.timeout_s)
    finally:
        _kill(process)
        code = process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if streams is None:
        return f"{argv[0]} did not end within {look.timeout_s:g} s"
    return Ran(code, *streams)


def _read(process: Popen[bytes], give_up_s: float) -> tuple[bytes, bytes] | None:
    """Read both streams until the program has ended; None when the time is over before that."""
    import selectors
    import subprocess

    kept = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for pipe, content in kept.items():
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, content)
        while selector.get_map():
            left_s = give_up_s - time.monotonic()
            if left_s <= 0:
                return None
            for ready, _ in selector.select(left_s):
                piece = os.read(ready.fd, 65536)
                if not piece:
                    selector.unregister(ready.fileobj)
                content = cast("bytearray", ready.data)
                content.extend(piece[: MAX_OUTPUT_BYTES - len(content)])
    try:
        process.wait(max(give_up_s - time.monotonic(), 0.01))
    except subprocess.TimeoutExpired:
        return None
    stdout, stderr = kept.values()
    return bytes(stdout), bytes(stderr)


def _kill(process: Popen[bytes]) -> None:
    """Kill the program's group.  Its number can't be another's: nobody has waited for it yet."""
    import contextlib
    import signal

    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

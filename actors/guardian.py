"""The guardian's start and end, on the server's side; see `actors.guardian_main` for what it is."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from typing import TYPE_CHECKING

from actors import orphans
from actors.faults import WITH_ERROR, point
from actors.guardian_link import GuardianLink, LinkClosed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.faults import Faults
    from actors.platform import Platform

AT_START = point(
    "guardian.start", "the guardian, which starts all steps, is about to be started", WITH_ERROR
)

CLOSE_LIMIT_S = 6.0
"""What `close` waits for a guardian: a little more than it gives killed processes itself."""
CONTROL_FD = 3
"""Where `guardian_main` expects its socket."""
LOWEST_FREE_FD = 10
"""Our end must not already be descriptor 3: a copy onto itself would stay closed on exec."""
CODE = "import sys; sys.path.append(sys.argv[1]); from actors.guardian_main import main; main()"
"""An import, not a script: a script is compiled anew at each start (4 ms)."""
PASSED_ON = ("CHANTRY_", "LC_", "LD_")
"""How variables begin that the guardian gets: ours, and what loader and interpreter read."""


class Guardian:
    """Starts the guardian process before the first step, and again should it die."""

    def __init__(self, platform: Platform, faults: Faults) -> None:
        """Start nothing yet: the handshake must not wait for this."""
        self._platform = platform
        self._faults = faults
        self._lock = platform.condition()
        self._link: GuardianLink | None = None
        self._closed = False

    def ensure(self) -> GuardianLink:
        """Return a live connection, starting the process if there is none (about 1 ms).

        Does not wait for the process to be ready: requests queue up in its socket.

        Raises:
            LinkClosed: `close` was called.
            OSError: It can't be started.

        """
        with self._lock:
            if self._closed:
                message = "the server is ending"
                raise LinkClosed(message)
            orphans.bury_dead()
            if self._link is None or self._link.closed:
                self._faults.at(AT_START)
                self._link = self._start()
            return self._link

    def close(self) -> None:
        """Have everything killed and wait for it, bounded.  Safe to call twice."""
        with self._lock:
            self._closed = True
            link = self._link
        if link is not None:
            link.hang_up()
            link.wait_end(CLOSE_LIMIT_S)

    def _start(self) -> GuardianLink:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = orphans.start_guardian(lambda: _spawn(theirs))
            except OSError:
                ours.close()
                raise
        try:
            return GuardianLink(pid, ours, self._platform, self._faults)
        except OSError:
            ours.close()
            os.waitpid(pid, 0)  # it takes the closed socket as its end
            orphans.forget_guardian(pid)
            raise


def _spawn(control: socket.socket) -> int:
    """Run `guardian_main` in a session of its own, with a default signal set-up.

    It writes nowhere but to its socket and, should it fail, a traceback to our stderr.
    """
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    free = fcntl.fcntl(control.fileno(), fcntl.F_DUPFD_CLOEXEC, LOWEST_FREE_FD)
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", CODE, root],
            _environment(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1),
                (os.POSIX_SPAWN_DUP2, free, CONTROL_FD),
            ],
            setsid=True,
            setsigmask=(),
        )
    finally:
        os.close(free)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the guardian gets of our environment, which every process of ours can read.

    Steps bring their own, and keys that stand in variables are nobody else's business.
    """
    return {
        name: value
        for name, value in environ.items()
        if name == "LANG" or name.startswith(PASSED_ON)
    }

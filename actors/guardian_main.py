"""The guardian: a small process that starts a server's steps and leaves none of them behind.

Run with a socket to the server as descriptor 3.  For each step it forks a *warden*: a
subreaper, so that whatever the step starts, also by double fork or setsid, stays below that
warden until it is dead.  Three ends, one rule each: the server goes, the guardian kills all; the
guardian goes, each warden kills its own; a warden goes, the guardian kills what it adopts.  Should
guardian and wardens die at one stroke, the server kills what falls to it (`actors.orphans`).

Requests are a length (4 bytes, big-endian) and fields with NUL between them: ``spawn TOKEN
DESCRIPTORS CWD ARGC ARG... ENV...`` with that many descriptors riding along (stdout, stderr, and
perhaps one that becomes descriptor 3), ``talk`` with the same fields (stdin, stdout, stderr),
``term TOKEN``, ``kill TOKEN``.  Reports are lines ``TOKEN WHAT NUMBER``: ``fork``, ``chdir`` or
``exec`` failed (errno), ``exited`` (wait status), ``gone`` (no process left), ``stuck`` (killed,
yet not gone), ``lost`` (the warden died, and what it watched is gone).

Nothing here knows the server: standard library only, and few modules of it, because the first
step waits for this process.  Outside Linux there is no subreaper: a step is its process group.
"""

from __future__ import annotations

import _socket  # `socket` would cost 2 ms more of start
import gc
import os
import select
import signal
import sys
import time
from errno import EACCES, EMFILE, ENOENT, ENOTDIR

from actors.process_tree import (
    adopt_orphans,
    children,
    hear_of_parents_death,
    kill_below,
    tell_losers,
    terminate_below,
)

TYPE_CHECKING = False  # importing `typing` for it would cost 4 ms of start
if TYPE_CHECKING:
    from typing import NoReturn

CONTROL_FD = 3
KILL_LIMIT_S = 5.0
"""What killed processes get to disappear; longer means the kernel holds them."""
KILL_PASS_S = 0.05
"""Between two rounds of killing, or of looking who lost a TERM, when no child's end comes first."""
STRAY_PASS_MS = 50
READ_BYTES = 65536
LENGTH_BYTES = 4
MOST_DESCRIPTORS = 4
"""Of one request, 4 bytes each."""
MAX_DESCRIPTORS = 1 << 20
TERM_TREE = signal.SIGUSR1
"""To a warden: ask the step to stop."""
KILL_TREE = signal.SIGUSR2
"""To a warden: end the step."""
AT_PARENTS_DEATH = signal.SIGCONT
"""What the kernel sends a warden when the guardian dies, and the guardian when the server does.
It also wakes one that a step had stopped, who would else never know and let the step live on."""
DEAF_TO = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""What a terminal or an impatient user sends to everyone; only the socket's end ends us."""
RESET_IN_STEPS = (*DEAF_TO, signal.SIGPIPE, signal.SIGXFSZ)
"""Ignored by us or by Python; a program expects the default."""


def main() -> None:
    """Serve the socket until its other end is gone, then leave nothing alive."""
    gc.disable()  # no cycles to find, and a collection would copy pages that wardens share
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would bury our dead unseen
    signal.pthread_sigmask(signal.SIG_BLOCK, (TERM_TREE, KILL_TREE))  # wardens must never miss one
    _close_all_but(CONTROL_FD)
    adopt_orphans()
    hear_of_parents_death(AT_PARENTS_DEATH)  # of a thread of the server as well, which does no harm
    guardian = Guardian(_socket.socket(fileno=CONTROL_FD))
    try:
        guardian.serve()
    finally:
        nothing_left = guardian.end()
    if not nothing_left:
        sys.exit(1)  # the server goes on with it


class Guardian:
    """Forks wardens and carries words between them and the server."""

    def __init__(self, control: _socket.socket) -> None:
        self._control = control
        os.set_inheritable(control.fileno(), False)  # noqa: FBT003 - positional only
        self._buffer = bytearray()
        self._descriptors: list[int] = []
        self._wardens: dict[bytes, int] = {}
        self._reports: dict[int, bytes] = {}
        self._poll = select.poll()
        self._poll.register(control.fileno(), select.POLLIN)
        self._server_lives = True
        self._strays = False
        self._lost: dict[bytes, int] = {}
        """Tokens and wait statuses of dead wardens, until nothing is left of what they watched."""
        self._tell_s = 0.0
        """When they are told of in any case."""

    def serve(self) -> None:
        """Handle requests and reports until the server is gone."""
        while self._server_lives:
            self._turn(STRAY_PASS_MS if self._strays else None)

    def end(self) -> bool:
        """Kill everything; wait for it as long as killing may take, and tell if all is gone."""
        if self._server_lives:
            self._lose_server()  # we come from an error of our own
        for token in self._wardens:
            self._signal(token, KILL_TREE)
        until_s = time.monotonic() + KILL_LIMIT_S
        while self._wardens or self._strays:
            if time.monotonic() > until_s:
                return False
            try:
                self._turn(STRAY_PASS_MS)
            except (OSError, MemoryError):
                continue  # a round that fails must not be the last
        return True

    def _turn(self, timeout_ms: int | None) -> None:
        for fd, events in self._poll.poll(timeout_ms):
            if fd in self._reports:
                self._forward(fd)
            elif events & select.POLLHUP:
                self._lose_server()  # what it still asked for is of no use to anyone
            else:
                self._receive()
        if self._strays:
            self._kill_strays()
        if self._lost and (not self._strays or time.monotonic() > self._tell_s):
            self._tell_lost()

    def _receive(self) -> None:
        """Read once from the server; run the requests that are complete."""
        space = _socket.CMSG_SPACE(MOST_DESCRIPTORS * 4)
        try:
            data, ancillary, flags, _ = self._control.recvmsg(READ_BYTES, space)
        except ConnectionResetError:
            data, ancillary, flags = b"", [], 0
        for _, _, packed in ancillary:
            self._descriptors += memoryview(packed).cast("i").tolist()
        for fd in self._descriptors:
            # They arrive open to children.
            os.set_inheritable(fd, False)  # noqa: FBT003 - positional only
        if not data or flags & _socket.MSG_CTRUNC:
            # Cut descriptors: the next step would get another's pipe.  Better to end.
            self._lose_server()
            return
        self._buffer += data
        while (request := self._next_request()) is not None:
            self._obey(request)

    def _lose_server(self) -> None:
        self._server_lives = False
        self._poll.unregister(self._control.fileno())

    def _next_request(self) -> list[bytes] | None:
        if len(self._buffer) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
        if len(self._buffer) < end:
            return None
        request = bytes(self._buffer[LENGTH_BYTES:end])
        del self._buffer[:end]
        return request.split(b"\0")

    def _obey(self, request: list[bytes]) -> None:
        match request:
            case [b"spawn" | b"talk" as verb, token, given, cwd, count, *rest]:
                argc, number = int(count), int(given)
                descriptors = tuple(self._descriptors[:number])
                del self._descriptors[:number]
                program = Program(cwd, rest[:argc], rest[argc:], 0 if verb == b"talk" else 1)
                self._spawn(token, program, descriptors)
            case [b"term", token]:
                self._signal(token, TERM_TREE)
            case [b"kill", token]:
                self._signal(token, KILL_TREE)
            case _:
                message = f"unknown request {request[0]!r}"
                raise ValueError(message)

    def _signal(self, token: bytes, number: int) -> None:
        if (pid := self._wardens.get(token)) is not None:
            os.kill(pid, number)  # our child, not reaped yet: the pid is its own
            os.kill(pid, signal.SIGCONT)  # should a step have stopped it

    def _spawn(self, token: bytes, program: Program, descriptors: tuple[int, ...]) -> None:
        try:
            report, told = os.pipe()
        except OSError as error:
            self._close(*descriptors)
            self._say(token, b"fork %d" % (error.errno or EMFILE))
            return
        guardian = os.getpid()  # asked here: the child's parent may be another one already
        try:
            pid = os.fork()
        except OSError as error:
            self._close(*descriptors, report, told)
            self._say(token, b"fork %d" % (error.errno or EMFILE))
            return
        if pid == 0:
            _be_warden(told, guardian, program, descriptors)
        self._close(*descriptors, told)
        self._wardens[token] = pid
        self._reports[report] = token
        self._poll.register(report, select.POLLIN)

    def _close(self, *descriptors: int) -> None:
        for fd in descriptors:
            os.close(fd)

    def _forward(self, report: int) -> None:
        token = self._reports[report]
        words = os.read(report, READ_BYTES)
        for word in words.splitlines():
            self._say(token, word)
        if not words:
            self._bury(report, token)

    def _bury(self, report: int, token: bytes) -> None:
        """Reap a warden that closed its end: it has said everything, or it was killed."""
        self._poll.unregister(report)
        os.close(report)
        del self._reports[report]
        pid = self._wardens.pop(token)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            self._strays = True
            self._lost[token] = status
            self._tell_s = time.monotonic() + KILL_LIMIT_S

    def _tell_lost(self) -> None:
        """Say which steps lost their warden: whoever hears of an end may clean up after it."""
        for token, status in self._lost.items():
            self._say(token, b"lost %d" % status)
        self._lost.clear()

    def _kill_strays(self) -> None:
        """Kill what dead wardens left to us: every child of ours that is no warden."""
        kill_below(0, self._bury_strays, spare=frozenset(self._wardens.values()))
        self._bury_strays()

    def _bury_strays(self) -> None:
        """Reap the dead among them; until a look meets none at all, there are some.

        Who was reaped just now may have left us one that the same look did not show yet.
        """
        wardens = self._wardens.values()
        try:
            strays = [pid for pid in children(os.getpid()) if pid not in wardens]
        except OSError:
            return  # no descriptor is left to look with; the next round may have one
        for pid in strays:
            os.waitpid(pid, os.WNOHANG)
        self._strays = bool(strays)

    def _say(self, token: bytes, words: bytes) -> None:
        try:
            self._control.sendall(token + b" " + words + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # the server is gone, which the next read tells as well


class Program:
    """What a step runs, in bytes, exactly as the kernel gets it."""

    def __init__(self, cwd: bytes, argv: list[bytes], env: list[bytes], first: int) -> None:
        """``first``: the number that the first of its descriptors gets, the others follow."""
        self.cwd = cwd
        self.argv = argv
        self._first = first
        self.env = dict(pair.split(b"=", 1) for pair in env)

    def spawn(self, descriptors: tuple[int, ...]) -> int:
        """Start it in the current folder and in a group of its own; return its pid.

        Raises:
            OSError: It can't be run; of several failures the most telling one.

        """
        failure = OSError(ENOENT, "not found")
        for path in self._candidates():
            try:
                os.stat(path)  # a look costs a fiftieth of a child that finds nothing
                return self._spawn_at(path, descriptors)
            except OSError as error:
                if error.errno not in {ENOENT, ENOTDIR, EACCES}:
                    raise
                if error.errno == EACCES:
                    failure = error
        raise failure

    def _candidates(self) -> list[bytes]:
        """Where the program may be, by the PATH that the step gets."""
        name = self.argv[0]
        if b"/" in name:
            return [name]
        folders = self.env.get(b"PATH", os.fsencode(os.defpath)).split(b":")
        return [os.path.join(folder or b".", name) for folder in folders]

    def _spawn_at(self, path: bytes, descriptors: tuple[int, ...]) -> int:
        # Unless given, 0 is the null device already; everything else above 2 closes on exec.
        return os.posix_spawn(
            path,
            self.argv,
            self.env,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate(descriptors, self._first)
            ],
            setpgroup=0,
            setsigmask=(),
            setsigdef=RESET_IN_STEPS,
        )


class Warden:
    """The parent of one step.  Lives until the last process below it is gone."""

    def __init__(self, told: int, guardian: int) -> None:
        self._told = told
        self._guardian = guardian
        self._leader = 0
        self._kill_until_s: float | None = None
        """When to tell that what is left can't be killed; None: nothing is to be killed yet."""
        self._stuck = False
        self._unsure: frozenset[int] = frozenset()
        """Who may have lost the TERM it was told, until that is known."""

    def start(self, program: Program, descriptors: tuple[int, ...]) -> bool:
        """Run the program; False, and a report, when it can't be."""
        stage = b"chdir"
        try:
            os.chdir(program.cwd)  # noqa: TID251  (this process has no other purpose)
            stage = b"exec"
            self._leader = program.spawn(descriptors)
        except OSError as error:
            self._say(b"%s %d" % (stage, error.errno or ENOENT))
            return False
        os.chdir("/")  # noqa: TID251
        for fd in descriptors:
            os.close(fd)
        return True

    def watch(self) -> None:
        """Reap and obey until no process is left below us."""
        watched = (signal.SIGCHLD, TERM_TREE, KILL_TREE, AT_PARENTS_DEATH)
        while self._reap() and not self._deserted():
            killing = self._kill_until_s is not None
            number = _next_signal(watched, KILL_PASS_S if killing or self._unsure else None)
            self._unsure = tell_losers(self._unsure)
            if number == TERM_TREE:
                self._unsure |= terminate_below(self._leader, self._reap)
            orphaned = number == AT_PARENTS_DEATH and os.getppid() != self._guardian
            if number == KILL_TREE or orphaned or killing:
                self._kill()
        self._say(b"gone 0")

    def _reap(self) -> bool:
        """Collect the dead; False when none is left, alive or dead."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] == self._leader:
                    self._say(b"exited %d" % ended[1])
        except ChildProcessError:
            return False
        return True

    def _kill(self) -> None:
        if self._kill_until_s is None:
            self._kill_until_s = time.monotonic() + KILL_LIMIT_S
        kill_below(self._leader, self._reap)
        # By the clock: of many children each end makes a round of its own.
        if time.monotonic() > self._kill_until_s and not self._stuck:
            self._stuck = True
            self._say(b"stuck 0")

    def _deserted(self) -> bool:
        """Tell whether to give up: nobody to report to, and what is left can't be killed."""
        return self._stuck and os.getppid() != self._guardian

    def _say(self, words: bytes) -> None:
        try:
            os.write(self._told, words + b"\n")
        except BrokenPipeError:
            return  # the guardian is gone; what counts now is to leave nothing behind


def _be_warden(
    told: int, guardian: int, program: Program, descriptors: tuple[int, ...]
) -> NoReturn:
    """Turn the forked guardian into a warden; never returns into the guardian's code."""
    status = 1
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, AT_PARENTS_DEATH))
        _close_all_but(told, *descriptors)
        os.setsid()
        adopt_orphans()
        hear_of_parents_death(AT_PARENTS_DEATH)
        warden = Warden(told, guardian)
        if os.getppid() == guardian and warden.start(program, descriptors):
            warden.watch()
        status = 0
    except BaseException as error:  # noqa: BLE001 - nothing may get out of the fork
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(status)


def _next_signal(watched: tuple[int, ...], timeout_s: float | None) -> int | None:
    """Wait for one of the blocked signals, at most ``timeout_s`` seconds."""
    if timeout_s is None:
        return signal.sigwait(watched)
    info = signal.sigtimedwait(watched, timeout_s)
    return info.si_signo if info is not None else None


def _close_all_but(*keep: int) -> None:
    """Close every descriptor above stderr: a step must not inherit what we happened to."""
    low = 3
    for fd in sorted(keep):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, MAX_DESCRIPTORS)

"""Takes rights away from itself by Landlock, then becomes the given program.

Run as ``python -I -S landlock_main.py OPTIONS -- PROGRAM ARG…``, with the standard library only.
``--read=PATH`` and ``--write=PATH`` give rights below a path, ``--hide=PATH`` takes them from
below it.  Everything on the disk that is not hidden may be read; there is no network.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import NamedTuple, NoReturn

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls; the numbers are the same on every architecture."""
ASK_VERSION, PATH_BENEATH = 1, 1
SET_NO_NEW_PRIVS = 38
DROP_FROM_BOUNDS, CAPABILITIES_V3 = 24, 0x20080522
NEW_USER, NEW_NET = 0x10000000, 0x40000000
TCP_SINCE, SCOPES_SINCE = 4, 6
"""Versions of Landlock: what restricts TCP, and what keeps from signals and abstract sockets."""

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
ALL_BY_VERSION = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
REFUSED = 125
"""Our exit code when there is no sandbox; the program is then not run."""


class RefusedError(Exception):
    """There is no sandbox here; the text says why."""


class Options(NamedTuple):
    """What may be done where."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hide: tuple[str, ...]
    argv: tuple[str, ...]


def main() -> NoReturn:
    """Become the program, or say why not."""
    options = read_options(sys.argv[1:])
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        _restrict(libc, _usable_version(libc), options)
        _drop_capabilities(libc)
        os.execvp(options.argv[0], options.argv)  # noqa: S606 - which is what we are for
    except (RefusedError, OSError) as error:
        os.write(2, f"landlock: {error}\n".encode("utf-8", "replace"))
        os._exit(REFUSED)


def read_options(words: list[str]) -> Options:
    """Read the command line, which comes from us."""
    at = words.index("--")
    values: dict[str, list[str]] = {"--read": [], "--write": [], "--hide": []}
    for word in words[:at]:
        name, _, value = word.partition("=")
        values[name].append(value)
    read, write, hide = (tuple(values[name]) for name in ("--read", "--write", "--hide"))
    return Options(("/", *read), write, hide, tuple(words[at + 1 :]))


def open_paths(top: str, hide: tuple[str, ...]) -> list[str]:
    """Return the paths that together are everything below ``top`` but for what is hidden.

    Rights can only be given, never taken: so a folder with something hidden in it gets none, and
    what is in it gets them one by one.
    """
    shut = tuple(path for path in hide if path != top and _lies_in(path, top))
    if not shut:
        return [top]
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return []
    children = [os.path.join(top, name) for name in names]
    return [
        path
        for child in children
        if child not in shut and not os.path.islink(child)
        for path in open_paths(child, shut)
    ]


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _usable_version(libc: ctypes.CDLL) -> int:
    version: int = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    if version < 1:
        message = f"not in this kernel ({os.strerror(ctypes.get_errno())})"
        raise RefusedError(message)
    if not _leave_network(libc) and version < TCP_SINCE:
        message = f"version {version} can't keep a command from the network"
        raise RefusedError(message)
    return version


def _leave_network(libc: ctypes.CDLL) -> bool:
    """Go to a network of our own, with nothing in it, where the kernel lets us."""
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(NEW_NET) == 0:
        return True
    if libc.unshare(NEW_USER | NEW_NET) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return True


def _restrict(libc: ctypes.CDLL, version: int, options: Options) -> None:
    rights = 0
    for since, added in ALL_BY_VERSION:
        rights |= added if version >= since else 0
    fields = [rights]
    fields += [0b11] if version >= TCP_SINCE else []
    fields += [0b11] if version >= SCOPES_SINCE else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset: int = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(ruleset)
    for top in options.read:
        for path in open_paths(top, options.hide):
            _give(libc, ruleset, path, READ & rights)
    for top in options.write:
        for path in open_paths(top, options.hide):
            _give(libc, ruleset, path, rights)
    for path in DEVICES:
        _give(libc, ruleset, path, (READ_FILE | WRITE_FILE | IOCTL_DEV) & rights)
    _check(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _check(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Keep no power of root's: it could make a device file, and read the disk below all rules."""
    capability = 0
    while libc.prctl(DROP_FROM_BOUNDS, capability, 0, 0, 0) == 0:
        capability += 1
    _check(libc.capset(struct.pack("=Ii", CAPABILITIES_V3, 0), bytes(24)))


def _give(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return  # not there, or not ours to see
    allowed = rights if os.path.isdir(path) else rights & ON_FILES
    beneath = struct.pack("=Qi", allowed, fd)
    _check(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, beneath, 0))
    os.close(fd)


def _check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()

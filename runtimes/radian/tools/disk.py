"""Reading and replacing one file, as the tools for files do it."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from actors.faults import WITH_ERROR, point
from runtimes.radian.tools.base import LEADS_ELSEWHERE, ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Generator

    from actors.faults import Faults

AT_OPEN = point("file.open", "a tool is about to open a file", WITH_ERROR)
AT_REPLACE = point("file.replace", "a tool is about to replace a file, or to make it", WITH_ERROR)

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of a file that is edited or compared; it is held in memory."""


def open_regular(path: str, faults: Faults) -> int:
    """Open a regular file for reading; its descriptor is the caller's.

    ``path`` has no links in it; one that a program puts there meanwhile is not followed.

    Raises:
        ToolFailedError: It is none: a pipe would wait, a device may never end.
        OSError: It can't be opened.

    """
    faults.at(AT_OPEN, os.path.basename(path))
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    mode = os.fstat(fd).st_mode
    there = lies_at(fd, path)
    if there and stat.S_ISREG(mode):
        return fd
    os.close(fd)
    what = "is a folder" if stat.S_ISDIR(mode) else "is no regular file"
    message = f"{path} {what if there else LEADS_ELSEWHERE}"
    raise ToolFailedError(message)


def lies_at(fd: int, path: str) -> bool:
    """Tell whether an open file lies just at ``path``, and no link led to it.

    One that was replaced since it was opened lay there.  Where nobody can tell, it does.
    """
    try:
        real = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return True
    return real in {path, f"{path} (deleted)"}


def is_there(path: str) -> bool:
    """Tell whether there is something at a path, and no link leads to it."""
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        return lies_at(fd, path)
    finally:
        os.close(fd)


def read_whole(path: str, faults: Faults) -> bytes | None:
    """Return a file's bytes; None where there is no file.

    Raises:
        ToolFailedError: It is no regular file, or too large.
        OSError: It can't be read.

    """
    try:
        fd = open_regular(path, faults)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as stream:
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        message = f"{path} is larger than {MAX_FILE_BYTES} bytes; change it by a command"
        raise ToolFailedError(message)
    return data


def replace_whole(path: str, data: bytes, faults: Faults, *, before: bytes | None) -> None:
    """Put ``data`` in place of a file, whole or not at all, kept also by a power cut.

    Mode and owner stay.  ``before`` is what the file must still hold; None: it must not be there.
    ``path`` has no links in it; one that a program puts there meanwhile is not followed.

    Raises:
        ToolFailedError: It holds something else by now, or leads elsewhere.
        OSError: The disk refused; the file is as it was.

    """
    from ops.whole_file import whole_file

    faults.at(AT_REPLACE, os.path.basename(path))
    mode = None if before is not None else 0o666 & ~_mask()
    with _folder(path) as fd:
        here = _by_folder(path, fd)
        with whole_file(here, mode, faults) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if before is not None:
                _keep_owner(here, stream.fileno())
            if read_whole(path, faults) != before:
                message = f"{path} changed while it was being written; read it again"
                raise ToolFailedError(message)
        faults.at(AT_REPLACE, os.path.dirname(path))
        os.fsync(fd)  # keep the rename, too


@contextmanager
def _folder(path: str) -> Generator[int]:
    """Open the folder of a file, made where it is missing, to write to it whatever its name is."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not lies_at(fd, folder):
            message = f"{path} {LEADS_ELSEWHERE}"
            raise ToolFailedError(message)
        yield fd
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, error.strerror, path) from error  # not a name within `fd`
    finally:
        os.close(fd)


def _by_folder(path: str, fd: int) -> str:
    """Return a name of a file that leads there as long as its folder is open."""
    here = f"/proc/self/fd/{fd}"
    return os.path.join(here, os.path.basename(path)) if os.path.isdir(here) else path


def _keep_owner(path: str, fd: int) -> None:
    import contextlib

    status = os.stat(path)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # then it is ours, as with any editor
            os.fchown(fd, status.st_uid, status.st_gid)


def _mask() -> int:
    """Return the umask, which can be asked for without setting it only on Linux."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            return next(int(line[6:], 8) for line in lines if line.startswith("Umask:"))
    except (OSError, StopIteration):
        return 0o022

"""`copy`: a file or a folder, file by file, each whole or not at all, links kept as links."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from ops.activities.places import working_folder
from ops.counts import counted
from ops.errors import ActivityFailed
from ops.whole_file import whole_file
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.work import ActivityContext, WorkContext

CHUNK_BYTES = 1024 * 1024
"""Between two chunks an abort is looked for."""


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the copying."""
    folder = working_folder(args, context)
    src, dest = os.path.join(folder, args["src"]), os.path.join(folder, args["dest"])

    def run(work: WorkContext) -> dict[str, Any]:
        try:
            return _copy(src, dest, work)
        except OSError as error:
            msg = f"can't copy {args['src']} to {args['dest']}: {error.strerror}: {error.filename}"
            raise ActivityFailed(msg) from error

    return CallableWork("copy", run)


def _copy(src: str, dest: str, work: WorkContext) -> dict[str, Any]:
    target = _target(src, dest)
    # Listed before the first write, so that copying a folder into itself ends.
    pairs = [(one, _below(target, one, src)) for one in _entries(src)]
    sizes = [_copy_one(one, to, work) for one, to in pairs]
    files, total = sum(size is not None for size in sizes), sum(size or 0 for size in sizes)
    work.emit("stdout", f"{counted(files, 'file')}, {counted(total, 'byte')} to {target}\n")
    return {"dest": target, "files": files, "bytes": total}


def _target(src: str, dest: str) -> str:
    """Return the new path: inside ``dest`` when that is, or is meant to be, a folder."""
    if dest.endswith("/") or (os.path.isdir(dest) and not os.path.isdir(src)):
        return os.path.join(dest, os.path.basename(src.rstrip("/")))
    return dest


def _below(target: str, one: str, src: str) -> str:
    return target if one == src else os.path.join(target, os.path.relpath(one, src))


def _entries(src: str) -> Iterator[str]:
    """Yield everything to copy; folders too, so that empty ones are not lost."""
    if not os.path.isdir(src) or os.path.islink(src):
        yield src
        return
    for folder, folders, files in os.walk(src, onerror=_raise):
        yield folder
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted(files + links):
            yield os.path.join(folder, name)


def _raise(error: OSError) -> None:
    raise error


def _copy_one(src: str, dest: str, work: WorkContext) -> int | None:
    """Copy one entry and return its bytes; None for a folder, which is only made."""
    status = os.lstat(src)
    if stat.S_ISDIR(status.st_mode):
        os.makedirs(dest, exist_ok=True)
        return None
    if stat.S_ISLNK(status.st_mode):
        return _copy_link(src, dest)
    if not stat.S_ISREG(status.st_mode):
        msg = f"{src} is neither a file, a folder nor a link"
        raise ActivityFailed(msg)
    if os.path.exists(dest) and os.path.samefile(src, dest):
        msg = f"{src} and {dest} are the same file"
        raise ActivityFailed(msg)
    written = 0
    with open(src, "rb") as source, whole_file(dest, status.st_mode & 0o7777) as stream:
        while chunk := source.read(CHUNK_BYTES):
            if work.cancel.is_set():
                msg = f"stopped while copying {src}"
                raise ActivityFailed(msg)
            written += stream.write(chunk)
    return written


def _copy_link(src: str, dest: str) -> int:
    os.makedirs(os.path.dirname(dest), exist_ok=True)
    if os.path.islink(dest):
        os.unlink(dest)
    os.symlink(os.readlink(src), dest)
    return 0

"""Writing a file that appears whole or not at all: a temporary file beside it, then rename.

Against a power cut it is the caller who syncs: a folder of thousands of files can't wait for each.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ops.disk import THE_DISK
from ops.faults import BEFORE_RENAME, BEFORE_WRITE, NoFaults

if TYPE_CHECKING:
    from collections.abc import Generator

    from ops.disk import Disk
    from ops.faults import Faults


@contextmanager
def whole_file(
    path: str, mode: int | None = None, faults: Faults | None = None, disk: Disk = THE_DISK
) -> Generator[IO[bytes]]:
    """Yield a file to write; it becomes ``path`` when the block ends, and vanishes if it fails.

    ``mode`` are its permission bits; None: those of the file that it replaces, else the usual.
    """
    at = (faults or NoFaults()).at
    folder, name = os.path.split(path)
    at(BEFORE_WRITE.name, name)
    disk.make_folders(folder or ".")
    temporary = os.path.join(folder, f".{name[:100]}.{disk.unique()}")
    stream = disk.open(temporary, os.O_CREAT | os.O_EXCL)
    try:
        with stream:
            yield stream
            disk.permit(stream, path, mode)
        at(BEFORE_RENAME.name, name)
        disk.rename(temporary, path)
    except BaseException:
        disk.remove(temporary)
        raise

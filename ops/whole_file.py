"""Writing a file that appears whole or not at all: a temporary file beside it, then rename.

Against a power cut it is the caller who syncs: a folder of thousands of files can't wait for each.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ops.faults import BEFORE_RENAME, BEFORE_WRITE, NoFaults

if TYPE_CHECKING:
    from collections.abc import Generator

    from ops.faults import Faults


@contextmanager
def whole_file(
    path: str, mode: int | None = None, faults: Faults | None = None
) -> Generator[IO[bytes]]:
    """Yield a file to write; it becomes ``path`` when the block ends, and vanishes if it fails.

    ``mode`` are its permission bits; None: those of the file that it replaces, else the usual.
    """
    import contextlib
    import tempfile

    at = (faults or NoFaults()).at
    folder, name = os.path.split(path)
    at(BEFORE_WRITE.name, name)
    os.makedirs(folder or ".", exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder or ".")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), _mode(path) if mode is None else mode)
        at(BEFORE_RENAME.name, name)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        # The only way to read the mask is to set it, which another thread would notice.
        return 0o644

"""Opens files that must be files: a pipe in their place would wait, and a device never end."""

from __future__ import annotations

import errno
import os
import stat


def plain(path: str, flags: int) -> int:
    """Open ``path`` as the ``opener`` of `open`; links are followed, new files are only yours.

    Raises:
        OSError: It can't be opened, or is no regular file.

    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "no regular file", path)

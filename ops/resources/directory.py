"""The reader `directory`."""

from __future__ import annotations

import hashlib
import os
import stat
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from ops.resources.hashing import MAX_BYTES, Limit, sha256_of
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.resources.reader import Look

MAX_FILES = 20_000
"""More is not one resource but a disk."""


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    root = os.path.join(look.root, keys["path"])
    if not os.path.lexists(root):
        return ABSENT
    if not os.path.isdir(root):
        return unobserved(f"{keys['path']} is not a folder")
    summed, files, size, limit = hashlib.sha256(), 0, 0, Limit(look)
    for name, path in _files(root, keys.get("ignore", ()), limit):
        found = os.lstat(path)
        files, size = files + 1, size + found.st_size
        if files > MAX_FILES or size > MAX_BYTES:
            return unobserved(f"{keys['path']} has more than {MAX_FILES} files or 1 GiB")
        summed.update(f"{name}\0{_content(path, found, limit)}\n".encode(errors="surrogateescape"))
    return present(files=files, bytes=size, sha256=summed.hexdigest())


def _content(path: str, found: os.stat_result, limit: Limit) -> str:
    if stat.S_ISREG(found.st_mode):
        return sha256_of(path, limit)
    if stat.S_ISLNK(found.st_mode):
        return f"link {os.readlink(path)}"
    return f"special {stat.S_IFMT(found.st_mode):o}"


def _files(root: str, ignore: Sequence[str], limit: Limit) -> Iterator[tuple[str, str]]:
    def failed(error: OSError) -> None:
        raise error

    def wanted(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in ignore)

    for folder, folders, files in os.walk(root, onerror=failed):
        limit.check(folder)
        folders[:] = sorted(filter(wanted, folders))
        links = [each for each in folders if os.path.islink(os.path.join(folder, each))]
        for name in sorted([*filter(wanted, files), *links]):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, root), path

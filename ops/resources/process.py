"""The reader `process`."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, Any

from ops.processes import start_time
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.resources.reader import Look

PROC = "/proc"


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    if "pid_file" in keys:
        return _named(os.path.join(look.root, keys["pid_file"]))
    if not os.path.exists(f"{PROC}/self/cmdline"):
        return unobserved("this system does not list its processes in /proc")
    try:
        wanted = re.compile(keys["match"])
    except re.error as error:
        return unobserved(f"{keys['match']!r} is no regular expression: {error}")
    count = sum(1 for line in _command_lines() if wanted.search(line))
    return present(count=count) if count else ABSENT


def _named(path: str) -> Observation:
    try:
        with open(path, "rb") as stream:
            text = stream.read(32).split()
    except FileNotFoundError:
        return ABSENT
    if not text or not text[0].isdigit():
        return unobserved("the file holds no process number")
    return ABSENT if start_time(int(text[0])) is None else present(count=1)


def _command_lines() -> Iterator[str]:
    """Yield the command lines of all processes but this one."""
    for name in os.listdir(PROC):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        # Gone meanwhile, or hidden from us: then it is not ours to count.
        with contextlib.suppress(OSError), open(f"{PROC}/{name}/cmdline", "rb") as stream:
            if line := stream.read(65536).rstrip(b"\0"):
                yield line.replace(b"\0", b" ").decode(errors="replace")

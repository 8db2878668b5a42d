"""The files of an Op's runs: one that grows, and full ones beside it.  Pure but for the tree.

``<env>/runs/<op>.jsonl`` has the newest runs, ``<op>.1.jsonl`` the oldest, higher numbers later
ones.  So neither a write nor a look at the last runs costs more in a ledger of years.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ops.errors import LedgerError
from ops.json_in import read_json
from ops.run_shape import checked_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.branch_tree import BranchTree

MAX_FILE_BYTES = 128 * 1024
"""Some 80 runs of a usual Op.  Every write stores the newest file anew, every commit the list of
all files: this size keeps both small up to a million runs."""

_FILE = re.compile(r"(?P<env>[^/]+)/runs/(?P<op>[^/.]+)(?:\.(?P<number>[0-9]+))?\.jsonl")


def runs_path(env: str, op: str, number: int | None = None) -> str:
    """Return the file of an Op's runs on the branch: the newest, or a full one by its number.

    Raises:
        LedgerError: A name can't be part of a path.

    """
    for name in (env, op):
        if not name or name.startswith(".") or "/" in name or not name.isprintable():
            raise LedgerError(_unusable(name))
    if "." in op:
        raise LedgerError(_unusable(op))
    return f"{env}/runs/{op}.jsonl" if number is None else f"{env}/runs/{op}.{number}.jsonl"


def _unusable(name: str) -> str:
    return f"{name!r} can't name a file of the ledger"


class RunFiles:
    """The files of one Op in one environment, newest first."""

    def __init__(self, newest: str | None, full: Mapping[int, str]) -> None:
        """Take paths."""
        self._newest = newest
        self._full = full

    @property
    def next_number(self) -> int:
        """The number of the next file that is full."""
        return max(self._full, default=0) + 1

    def paths(self) -> list[str]:
        """Return the paths, those with the newest runs first."""
        full = [self._full[number] for number in sorted(self._full, reverse=True)]
        return [self._newest, *full] if self._newest else full


def sort_files(paths: Mapping[str, Any]) -> dict[str, RunFiles]:
    """Return the files of each Op among ``paths`` of one environment; other files are left out."""
    newest: dict[str, str] = {}
    full: dict[str, dict[int, str]] = {}
    for path in paths:
        if found := _FILE.fullmatch(path):
            numbered = full.setdefault(found["op"], {})
            if found["number"] is None:
                newest[found["op"]] = path
            else:
                numbered[int(found["number"])] = path
    return {op: RunFiles(newest.get(op), full[op]) for op in sorted(full)}


def with_line(tree: BranchTree, env: str, op: str, content: bytes, line: bytes) -> dict[str, bytes]:
    """Return the files that change when ``line`` is put behind ``content``, the newest file's."""
    path = runs_path(env, op)
    # A line that was cut off must not swallow the next one.
    ended = content if not content or content.endswith(b"\n") else content + b"\n"
    if not ended or len(ended) + len(line) <= MAX_FILE_BYTES:
        return {path: ended + line}
    files = sort_files(tree.blobs(f"{env}/runs/"))[op]
    return {runs_path(env, op, files.next_number): ended, path: line}


def is_known(record: Mapping[str, Any], contents: Iterator[bytes]) -> bool:
    """Tell whether a run is there; what became of it outranks that it was interrupted.

    ``contents`` are files, newest first; as many are looked at as can hold a run that began then.
    """
    mark = json.dumps(record["id"]).encode()
    for content in contents:
        if mark in content:
            lines = (read_line(line) for line in content.splitlines() if mark in line)
            known = [each["status"] for each in lines if each and each["id"] == record["id"]]
            if any(record["status"] == "interrupted" or each != "interrupted" for each in known):
                return True
        first = next(filter(None, map(read_line, content.splitlines())), None)
        if first and str(first.get("ended") or "") < str(record.get("started") or ""):
            return False
    return False


def read_line(line: bytes) -> Mapping[str, Any] | None:
    """Return the run of a line, None when it is none."""
    try:
        return checked_run(read_json(line))
    except (ValueError, TypeError):
        return None

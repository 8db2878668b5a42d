"""Two states of the ledger that grew apart, as one: every line of both, each once.  Pure.

Files of lines only ever grow, so their lines are united; those that were published first come
first.  Of a file that is one value, changed on both sides, the published one stands, and the other
stays in the history.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Contents = Callable[[str], bytes]

LINES = ".jsonl"
_ASIDE = re.compile(r"\.[0-9a-f]+(?=\.jsonl$)")
"""What tells a file that was put aside from the one that grows; see `ops.run_files` and
`ops.gate_files`."""


class Sides:
    """Path to blob of three states, and how to read what ours and theirs have at a path."""

    def __init__(
        self,
        base: Mapping[str, str],
        ours: Mapping[str, str],
        theirs: Mapping[str, str],
        read_ours: Contents,
        read_theirs: Contents,
    ) -> None:
        """Take what ours and theirs grew from, and both of them."""
        self._base = base
        self._ours = ours
        self._theirs = theirs
        self._read_ours = read_ours
        self._read_theirs = read_theirs

    def changes(self) -> dict[str, bytes]:
        """Return the files that must be written to ours so that nothing of theirs is missing."""
        changed = [path for path in self._theirs if self._theirs_counts(path)]
        return {path: self._merged(path) for path in changed}

    def _theirs_counts(self, path: str) -> bool:
        theirs = self._theirs[path]
        return theirs not in {self._ours.get(path), self._base.get(path)}

    def _merged(self, path: str) -> bytes:
        ours = self._ours.get(path)
        published = self._read_theirs(path)
        if ours is None or ours == self._base.get(path) or not path.endswith(LINES):
            return published
        kept = self._lines(self._kept_family(path), self._read_ours)
        known = self._lines(self._published_family(path), self._read_theirs)
        lines = [line for line in _split(published) if line not in kept]
        lines += [line for line in _split(self._read_ours(path)) if line not in known]
        return b"".join(line + b"\n" for line in lines)

    def _kept_family(self, path: str) -> list[str]:
        """The files beside ``path`` that stay as ours: a line of theirs may have moved there."""
        beside = (each for each in self._ours if each != path and _family(each) == _family(path))
        return [each for each in beside if each not in self._theirs or not self._differs(each)]

    def _published_family(self, path: str) -> list[str]:
        """The files of theirs whose lines will all be there."""
        family = (each for each in self._theirs if _family(each) == _family(path))
        return [each for each in family if self._differs(each)]

    def _differs(self, path: str) -> bool:
        return path in self._theirs and self._theirs_counts(path)

    @staticmethod
    def _lines(paths: Iterable[str], read: Contents) -> set[bytes]:
        return {line for path in paths for line in _split(read(path))}


def _family(path: str) -> str:
    return _ASIDE.sub("", path)


def _split(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line]

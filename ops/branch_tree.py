"""One state of the ledger branch, for reading: which files it has and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ops.git import Git


class BranchTree:
    """The branch as of one commit; ``tip`` None: there is no branch, so there are no files.

    Everything raises `LedgerError` for what is there and can't be read.
    """

    def __init__(self, git: Git, tip: str | None) -> None:
        self._git = git
        self.tip = tip

    def blobs(self, *paths: str) -> dict[str, str]:
        """Return path to blob of the files at ``paths``; a folder stands for all below it."""
        if self.tip is None:
            return {}
        out = self._git.run("ls-tree", "--full-tree", "-rz", self.tip, "--", *paths)
        rows = out.decode(errors="surrogateescape").split("\0")
        pairs = (row.split("\t", 1) for row in rows if row)
        return {path: head.rsplit(" ", 1)[1] for head, path in pairs}

    def folders(self) -> tuple[str, ...]:
        """Return the names of the folders at the top."""
        if self.tip is None:
            return ()
        out = self._git.run("ls-tree", "--full-tree", "-dz", "--name-only", self.tip)
        return tuple(name for name in out.decode(errors="surrogateescape").split("\0") if name)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None when it is not there."""
        return next(iter(self.contents(self.blobs(path))), (path, None))[1]

    def contents(self, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content for each of ``blobs`` (see there), all by one call of git."""
        if not blobs:
            return
        asked = "".join(f"{blob}\n" for blob in blobs.values()).encode()
        out = self._git.run("cat-file", "--batch", stdin=asked)
        yield from zip(blobs, _batch(out, blobs), strict=True)


def _batch(out: bytes, blobs: Iterable[str]) -> Iterator[bytes]:
    at = 0
    for path in blobs:
        end = out.find(b"\n", at)
        head = out[at:end].split(b" ")
        if head[1:2] != [b"blob"]:
            msg = (
                f"{path} is on the branch and can't be read: {out[at:end].decode(errors='replace')}"
            )
            raise LedgerError(msg)
        begin = end + 1
        at = begin + int(head[2]) + 1
        yield out[begin : at - 1]

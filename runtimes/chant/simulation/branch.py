"""A simulated ledger branch: `ops.branch.Branch` on a simulated disk instead of git."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ops.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from actors.simulation.disk import SimDisk
    from actors.simulation.platform import SimPlatform

REF, OBJECTS = "refs/ledger", "objects"
TRIES = 20


class SimTree:
    """See `ops.branch_tree.BranchTree`; a blob's name is its path."""

    def __init__(self, files: Mapping[str, str], tip: str | None) -> None:
        """Be the state ``tip``."""
        self._files = files
        self.tip = tip

    def blobs(self, *paths: str) -> dict[str, str]:
        """Return the files at ``paths``, and below those that are folders."""
        wanted = tuple(path.rstrip("/") for path in paths)
        return {
            path: path
            for path in sorted(self._files)
            if any(path == each or path.startswith(f"{each}/") for each in wanted)
        }

    def folders(self) -> tuple[str, ...]:
        """Return the folders at the top."""
        return tuple(dict.fromkeys(path.partition("/")[0] for path in sorted(self._files)))

    def read(self, path: str) -> bytes | None:
        """Return a file."""
        return self._files[path].encode() if path in self._files else None

    def contents(self, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        """Yield files."""
        for path, blob in blobs.items():
            yield path, self._files[blob].encode()


class SimBranch:
    """See `ops.branch.Branch`."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, moved: Callable[[], None]) -> None:
        """Be the branch on ``disk``; ``moved`` is called whenever something was written."""
        self._moved = moved
        self._platform = platform
        self._disk = disk
        self._lock = platform.condition()

    def tip(self) -> str | None:
        """Return the newest commit."""
        content = self._disk.read(REF)
        return content.decode() if content else None

    def tree(self) -> SimTree:
        """Return the newest state.

        Raises:
            LedgerError: The branch names a commit that is not whole.

        """
        tip = self.tip()
        if tip is None:
            return SimTree({}, None)
        try:
            return SimTree(json.loads(self._disk.read(f"{OBJECTS}/{tip}") or b""), tip)
        except ValueError as error:
            message = f"commit {tip} is damaged"
            raise LedgerError(message) from error

    def edit(
        self, make: Callable[[SimTree], Mapping[str, bytes] | None], message: str
    ) -> str | None:
        """Write files in one commit, by compare-and-swap.

        Raises:
            LedgerError: The disk failed, or others were faster each time.

        """
        try:
            for _ in range(TRIES):
                tree = self.tree()
                files = make(tree)
                if files is None:
                    return None
                commit = self._commit(tree, files)
                if self._swap(commit, tree.tip):
                    return commit
        except OSError as error:
            text = f"git: {error}"
            raise LedgerError(text) from error
        text = f"nothing was written: {message}"
        raise LedgerError(text)

    def take_back(self, commit: str) -> bool:
        """Undo a commit; nothing here is pushed, so nobody asks for it."""
        del commit
        return False

    def _commit(self, tree: SimTree, files: Mapping[str, bytes]) -> str:
        commit = self._platform.entropy(4).hex()
        kept = {
            path: content.decode() for path, content in tree.contents(tree.blobs(*tree.folders()))
        }
        kept.update({path: content.decode() for path, content in files.items()})
        self._disk.replace(f"{OBJECTS}/{commit}", json.dumps(kept).encode())
        return commit

    def _swap(self, commit: str, tip: str | None) -> bool:
        with self._lock:
            if self.tip() != tip:
                return False
            self._disk.replace(REF, commit.encode())
        self._moved()
        return True

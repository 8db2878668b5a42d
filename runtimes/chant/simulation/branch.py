"""A simulated ledger branch: the real `ops.branch.Branch` on a git that is a simulated disk.

What is git's own (commits, the compare-and-swap of a ref) is played here; trying again, and what a
lost race means, is the real code.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ops.branch import Branch
from ops.errors import LedgerError
from ops.git import GitFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from actors.simulation.disk import SimDisk
    from actors.simulation.platform import SimPlatform

REF, OBJECTS = "refs/ledger", "objects"
NOWHERE = "/dev/null/nowhere"
"""No lock can be had there, so every race is run out."""
PAUSE_S = 0.01
LOST_RACE_CODE = 128
LOST_RACE = "cannot lock ref: is at another commit but expected this one"


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


class SimGit:
    """The commands of `ops.git.Git` that a branch needs for its ref."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, moved: Callable[[], None]) -> None:
        """Keep the ref on ``disk``; ``moved`` is called whenever it was moved."""
        self._platform = platform
        self._disk = disk
        self._moved = moved
        self._lock = platform.condition()

    def ask(self, *args: str) -> str | None:
        """Answer ``rev-parse``: the newest commit."""
        del args
        content = self._disk.read(REF)
        return content.decode() if content else None

    def run(self, command: str, *args: str) -> bytes:
        """Obey ``update-ref --no-deref REF NEW [OLD]``; an empty OLD: there is none yet.

        Raises:
            GitFailed: The ref is not at OLD.
            LedgerError: The disk failed.

        """
        _flag, _ref, new, *old = args
        try:
            with self._lock:
                if old and old[0] != (self.ask() or ""):
                    raise GitFailed(command, LOST_RACE_CODE, LOST_RACE)
                self._disk.replace(REF, new.encode())
        except OSError as error:
            raise _failed(error) from error
        self._moved()
        return b""

    def pause(self, seconds: float) -> None:
        """Let others go on: how long is drawn at random, which no seed knows of."""
        del seconds
        self._platform.sleep(PAUSE_S)


class SimBranch(Branch):
    """See `ops.branch.Branch`."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, moved: Callable[[], None]) -> None:
        """Be the branch on ``disk``; ``moved`` is called whenever something was written."""
        super().__init__(cast("Any", SimGit(platform, disk, moved)), "ledger", NOWHERE)
        self._platform = platform
        self._disk = disk

    def tree(self) -> Any:
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

    def _commit(
        self, files: Mapping[str, bytes], tip: str | None, message: str, also: str | None = None
    ) -> str:
        del message, also
        commit = self._platform.entropy(4).hex()
        kept: dict[str, str] = {}
        if tip is not None:
            kept = json.loads(self._disk.read(f"{OBJECTS}/{tip}") or b"")
        kept.update({path: content.decode() for path, content in files.items()})
        try:
            self._disk.replace(f"{OBJECTS}/{commit}", json.dumps(kept).encode())
        except OSError as error:
            raise _failed(error) from error
        return commit


def _failed(error: OSError) -> LedgerError:
    return LedgerError(f"git: {error}")

"""An orphan branch as a place for facts: files of lines, changed by compare-and-swap.

Every change is one commit whose parent is the tip it was made from.  A writer that dies at any
moment leaves the branch as it was, perhaps with a few unreachable objects.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from typing import TYPE_CHECKING

from ops.branch_tree import BranchTree
from ops.errors import LedgerError
from ops.faults import BEFORE_LOCK
from ops.git import GitFailed
from ops.union import Sides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.git import Git

PATIENCE_S = 60.0
"""How long a change is tried again while others win the race."""
QUEUE_PATIENCE_S = 30.0
"""How long we wait for our turn while nobody gets his: whoever has it is stopped, or hangs."""
LONGEST_QUEUE_S = 300.0
"""How long in all, should new writers come without end."""

LOST_RACE = ("but expected", "already exists", "File exists")
"""What git says when the ref has moved, or is just being moved, by another writer."""

FIRST_PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.1

COMMITTER = {
    "GIT_AUTHOR_NAME": "chant",
    "GIT_AUTHOR_EMAIL": "chant@localhost",
    "GIT_COMMITTER_NAME": "chant",
    "GIT_COMMITTER_EMAIL": "chant@localhost",
}
"""Who commits where nobody has an identity: a fact must not be lost for want of a name."""


class Branch:
    """One branch of one repository.  Safe to use from several threads and processes."""

    def __init__(self, git: Git, name: str, state_dir: str) -> None:
        self._git = git
        self.name = name
        self.ref = f"refs/heads/{name}"
        self._state_dir = state_dir
        self._identity: dict[str, str] | None = None

    def tip(self) -> str | None:
        """Return the newest commit, None when the branch does not exist.

        Raises:
            LedgerError: It exists and can't be read, which must not pass for an empty ledger.

        """
        found = self._commit_of(f"{self.ref}^{{commit}}")
        if found is None and self._exists():
            found = self._commit_of(f"{self.ref}^{{commit}}")  # or it was begun just now
            if found is None:
                why = "its newest commit can't be read; see git fsck"
                msg = f"branch {self.name} is there, but {why}"
                raise LedgerError(msg)
        return found

    def _exists(self) -> bool:
        # git passes over a file that holds no commit's name, as a power cut may leave it.
        file = os.path.join(os.path.dirname(self._state_dir), self.ref)
        return os.path.isfile(file) or self._commit_of(self.ref) is not None

    def _commit_of(self, name: str) -> str | None:
        return self._git.ask("rev-parse", "--verify", "--quiet", name)

    def tree(self) -> BranchTree:
        """Return the branch as it is now, for reading."""
        return BranchTree(self._git, self.tip())

    def read(self, path: str, tip: str | None) -> bytes | None:
        """Return a file as of commit ``tip``, None when it is not there.

        Raises:
            LedgerError: It is there and can't be read.

        """
        return BranchTree(self._git, tip).read(path)

    def files(self, folder: str, tip: str | None) -> list[str]:
        """Return the paths below ``folder`` as of commit ``tip``."""
        return list(BranchTree(self._git, tip).blobs(folder))

    def change(self, path: str, make: Callable[[bytes], bytes | None], message: str) -> str | None:
        """Replace the file at ``path`` by what ``make`` returns for its content (empty: new).

        See `edit`.
        """

        def one(tree: BranchTree) -> dict[str, bytes] | None:
            content = make(tree.read(path) or b"")
            return None if content is None else {path: content}

        return self.edit(one, message)

    def edit(
        self,
        make: Callable[[BranchTree], Mapping[str, bytes] | None],
        message: str,
        also: str | None = None,
    ) -> str | None:
        """Write the files (path to content) that ``make`` returns, all of them in one commit.

        ``make`` may be called several times, each time with what others have written meanwhile.
        ``also`` is a second parent of the commit.
        Returns the commit, or None when ``make`` returned None and nothing was changed.

        Raises:
            LedgerError: git failed, an old lock of its is in the way, or others won for a minute.

        """
        from ops.ref_lock import left_lock

        why: str | None = None
        with _queue(self._git, self._state_dir):
            give_up_s = time.monotonic() + PATIENCE_S
            for pause_s in pauses():
                tree = self.tree()
                files = make(tree)
                if files is None:
                    return None
                commit = self._commit(files, tree.tip, message, also)
                why = self._swap(commit, tree.tip)
                if why is None:
                    return commit
                if left := left_lock(why):
                    msg = f"nothing was written to branch {self.name}: {left}"
                    raise LedgerError(msg)
                if time.monotonic() + pause_s > give_up_s:
                    break
                self._git.pause(pause_s)
        msg = f"nothing was written to branch {self.name} within {PATIENCE_S:g} s: {why}"
        raise LedgerError(msg)

    def take_back(self, commit: str) -> bool:
        """Undo a commit of ours; False when it is not the newest any more."""
        parent = self._git.ask("rev-parse", "--verify", "--quiet", f"{commit}^")
        order = [self.ref, parent, commit] if parent else ["-d", self.ref, commit]
        return self._git.ask("update-ref", "--no-deref", *order) is not None

    def merge(self, published: str) -> None:
        """Bring in what others have published as commit ``published``; see `ops.union`.

        Raises:
            LedgerError: One of the two can't be read, or the branch not be written.

        """
        theirs = BranchTree(self._git, published)

        def make(tree: BranchTree) -> dict[str, bytes] | None:
            if tree.tip is not None and self._contains(tree.tip, published):
                return None
            base = self._git.ask("merge-base", tree.tip, published) if tree.tip else None
            if base == tree.tip and self._swap(published, tree.tip) is None:
                return None
            return united(BranchTree(self._git, base), tree, theirs)

        self.edit(make, "merge what others recorded", also=published)

    def _contains(self, tip: str, commit: str) -> bool:
        return self._git.ask("merge-base", "--is-ancestor", commit, tip) is not None

    def _commit(
        self, files: Mapping[str, bytes], tip: str | None, message: str, also: str | None = None
    ) -> str:
        from ops.scratch_index import scratch_index

        rows: list[str] = []
        for path, content in files.items():
            blob = self._git.text("hash-object", "-w", "--stdin", stdin=content)
            rows.append(f"100644 {blob}\t{path}\0")
        entries = "".join(rows).encode(errors="surrogateescape")
        with scratch_index(self._state_dir) as index:
            if tip is not None:
                self._git.run("read-tree", tip, env=index)
            self._git.run("update-index", "-z", "--index-info", stdin=entries, env=index)
            tree = self._git.text("write-tree", env=index)
        parents = [part for each in (tip, also) if each is not None for part in ("-p", each)]
        return self._git.text("commit-tree", tree, *parents, "-m", message, env=self._committer())

    def _swap(self, commit: str, tip: str | None) -> str | None:
        """Move the branch from ``tip`` to ``commit``; say why not when someone else was faster."""
        try:
            self._git.run("update-ref", "--no-deref", self.ref, commit, tip or "")
        except GitFailed as error:
            if not any(sign in error.detail for sign in LOST_RACE) and self.tip() == tip:
                from ops.taken_name import taken_name

                if taken := taken_name(error.detail):
                    raise LedgerError(taken) from error
                raise
            return error.detail
        return None

    def _committer(self) -> dict[str, str]:
        if self._identity is None:
            known = self._git.ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
            self._identity = {} if known else COMMITTER
        return self._identity


def united(base: BranchTree, ours: BranchTree, theirs: BranchTree) -> dict[str, bytes]:
    """Return what must be written to ``ours`` so that nothing of ``theirs`` is missing."""

    def reader(tree: BranchTree) -> Callable[[str], bytes]:
        return lambda path: tree.read(path) or b""

    sides = Sides(base.blobs(), ours.blobs(), theirs.blobs(), reader(ours), reader(theirs))
    return sides.changes()


def pauses() -> Iterator[float]:
    """Yield how long to wait before each new try, in seconds, without end."""
    pause_s = FIRST_PAUSE_S
    while True:
        # Spread out, or the losers of one race meet again in the next.
        yield random.uniform(pause_s / 2, pause_s)  # noqa: S311 - nothing secret about a pause
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


class _queue:  # noqa: N801 - used like a function
    """Let the writers of one machine go one after another.

    Only to spare them work: the compare-and-swap is what loses nothing.  So when the lock can't
    be had in time, or at all, they go on without it.  Whoever gets it dates its file, which tells
    the others that the queue moves: many at once need as long as they need.
    """

    def __init__(self, git: Git, state_dir: str) -> None:
        self._git = git
        self._path = os.path.join(state_dir, "ledger.lock")
        self._lock: int | None = None

    def __enter__(self) -> None:
        try:
            with contextlib.suppress(FileExistsError):
                # One level, not a path: a repository that is gone must not be made anew.
                os.mkdir(os.path.dirname(self._path))
            self._lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return
        self._wait(self._lock)

    def _wait(self, lock: int) -> None:
        import fcntl

        began_s = moved_s = time.monotonic()
        dated = None
        for pause_s in pauses():
            try:
                self._git.faults.at(BEFORE_LOCK.name)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                before, dated = dated, os.fstat(lock).st_mtime_ns
                now_s = time.monotonic()
                if dated != before:
                    moved_s = now_s
                if now_s - moved_s > QUEUE_PATIENCE_S or now_s - began_s > LONGEST_QUEUE_S:
                    return
                self._git.pause(pause_s)
            except OSError:  # a file system without locks
                return
            else:
                with contextlib.suppress(OSError):
                    os.utime(lock)
                return

    def __exit__(self, *_error: object) -> None:
        if self._lock is not None:
            os.close(self._lock)

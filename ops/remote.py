"""The ledger's branch on a remote: fetched, united with ours, pushed.  Never forced.

Whoever publishes first stays first: a push that is refused because others were faster is tried
again on top of what they published.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ops.branch import PATIENCE_S, pauses
from ops.errors import LedgerError
from ops.git import GitFailed
from ops.push_refusals import judge
from ops.ref_lock import OLD_S, left_at_remote, left_lock

if TYPE_CHECKING:
    from ops.branch import Branch
    from ops.git import Git, Stopping

TIMEOUT_S = 60.0
"""For one talk with the remote."""

NOT_THERE = "couldn't find remote ref"
FETCHED = "refs/chant/published"
"""Where a remote's branch is kept, one ref a remote: no branch of the user's and no tag."""


class Remote:
    """One remote's copy of the ledger's branch."""

    def __init__(self, git: Git, branch: Branch, name: str, stop: Stopping | None = None) -> None:
        """Talk to the remote that git knows as ``name``, a name or an address.

        After ``stop`` a talk gets a few seconds, and none is begun again.
        """
        self._git = git
        self._branch = branch
        self._name = name
        self._stop = stop

    def fetch(self) -> str | None:
        """Bring in what others published; return its newest commit, None when there is none.

        Raises:
            LedgerError: The remote can't be reached, or the two can't be united.

        """
        return self._fetch(TIMEOUT_S)

    def _fetch(self, timeout_s: float) -> str | None:
        import hashlib

        kept = f"{FETCHED}/{hashlib.sha256(self._name.encode()).hexdigest()[:12]}"
        tries = _Tries(time.monotonic() + timeout_s)
        for pause_s in pauses():
            # --refmap=: no other ref is written beside, over which two of us could fall out.
            what = ("--quiet", "--no-tags", "--refmap=", self._name, f"+{self._branch.ref}:{kept}")
            try:
                self._talk(tries.left_s(), "fetch", *what)
            except GitFailed as error:
                if NOT_THERE in error.detail:
                    return None
                if kept not in error.detail:
                    raise
                tries.refused(error)  # another process of ours was just writing what it fetched
                failed = error
            else:
                break
            self._git.pause(pause_s)
            self._give_up_if_stopped(failed)
        published = self._git.text("rev-parse", "--verify", f"{kept}^{{commit}}")
        self._branch.merge(published)
        return published

    def push(self, patience_s: float = PATIENCE_S) -> None:
        """Publish our branch, on top of what others have published meanwhile.

        All of it gets ``patience_s``, however many talks it takes.

        Raises:
            LedgerError: The remote can't be reached or refuses, a lock was left there, or others
                won for all of our patience.

        """
        refs = f"{self._branch.ref}:{self._branch.ref}"
        tries = _Tries(time.monotonic() + patience_s)
        for pause_s in pauses():
            try:
                self._talk(tries.left_s(), "push", "--quiet", self._name, refs)
            except GitFailed as error:
                tries.refused(error)
                failed = error
            else:
                return
            self._git.pause(pause_s)
            self._give_up_if_stopped(failed)
            tries.published(self._fetch(tries.left_s()))
            self._give_up_if_stopped(failed)

    def _talk(self, timeout_s: float, *args: str) -> None:
        self._git.run(*args, timeout_s=timeout_s, stop=self._stop)

    def _give_up_if_stopped(self, failed: GitFailed) -> None:
        if self._stop is not None and self._stop.is_set():
            raise failed


class _Tries:
    """How often a push was refused, why, and whether it may be tried again."""

    def __init__(self, until_s: float) -> None:
        self._until_s = until_s
        self._lock: str | None = None
        self._lock_since_s = 0.0
        self._published: str | None = None

    def left_s(self) -> float:
        """Return how long a talk may take that begins now: little, rather than none."""
        return max(0.1, self._until_s - time.monotonic())

    def refused(self, error: GitFailed) -> None:
        """Hear of a refusal.

        Raises:
            LedgerError: Another try is of no use, or there is no time for one.

        """
        refusal, now_s = judge(error.detail), time.monotonic()
        if left := left_lock(error.detail):  # here, or at a remote on this machine
            raise LedgerError(left) from error
        if refusal.hint:
            raise LedgerError(refusal.hint) from error
        if not refusal.passing:
            raise error
        if refusal.lock != self._lock:
            self._lock, self._lock_since_s = refusal.lock, now_s
        late = now_s > self._until_s
        stood_s = now_s - self._lock_since_s
        if self._lock is not None and (late or stood_s > OLD_S):
            raise LedgerError(left_at_remote(self._lock, stood_s)) from error
        if late:
            raise error

    def published(self, commit: str | None) -> None:
        """Hear what is at the remote: where that moves, a lock is somebody's at work."""
        if commit != self._published:
            self._published, self._lock = commit, None

"""Gates on the ledger's branch: asked, answered and walked through by compare-and-swap.

What a run does next is decided on the very state of the branch that its line is added to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.errors import LedgerError, OpsError
from ops.gate_book import GateBook
from ops.gate_facts import read_facts, with_fact
from ops.gate_files import GATES, gates_path, ops_with_gates, put_aside
from ops.gates import answer, reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.branch_tree import BranchTree
    from ops.gate_book import Standing
    from ops.gate_facts import GateAsk, Pending
    from ops.gates import GateAnswer, Reached
    from ops.git import Stopping
    from ops.ledger import Ledger


MAX_TRIES = 5
"""Two are enough: who lost an approval to another machine asks anew."""


class Stopped(OpsError):  # noqa: N818 - the tree names what happened
    """The run was cancelled before anything was written."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that is on the branch, and how its gate stands with it."""

    line: Mapping[str, Any]
    pending: Pending
    standing: Standing
    pushed: bool
    warnings: tuple[str, ...]


class GateLedger:
    """The gates of one project's Ops."""

    def __init__(self, ledger: Ledger) -> None:
        """Work on ``ledger``."""
        self._ledger = ledger

    def book(self, op: str) -> GateBook:
        """Return what is known of an Op's gates on this machine.

        Raises:
            LedgerError: It can't be read.

        """
        return _book(self._ledger.branch.tree(), op)

    def open(self, now_s: float) -> list[tuple[Pending, Standing]]:
        """Return what waits at all gates of all Ops, and approvals that no run has used yet.

        Raises:
            LedgerError: It can't be read.

        """
        tree = self._ledger.branch.tree()
        books = (_book(tree, op) for op in ops_with_gates(tree.blobs(f"{GATES}/")))
        return [pair for book in books for pair in book.open(now_s)]

    def reach(self, ask: GateAsk, now_s: float, stop: Stopping) -> tuple[Reached, tuple[str, ...]]:
        """Let a run reach a gate; what it may act on is written when this returns.

        Returns:
            What the run is told, and warnings for people.

        Raises:
            LedgerError: It can't be told, or not be written: the gate stays shut.
            Stopped: ``stop`` came first.

        """
        late = self._ledger.refresh(stop)
        for _ in range(MAX_TRIES):
            found: list[Reached] = []

            def make(tree: BranchTree, found: list[Reached] = found) -> dict[str, bytes] | None:
                if stop.is_set():
                    message = "the run was cancelled at the gate"
                    raise Stopped(message)
                found.append(reach(_book(tree, ask.op), ask, now_s))
                return _with(tree, ask.op, found[-1].line, now_s)

            appended = self._ledger.edit_or_nothing(
                make, f"{ask.op}: run {ask.run_id} at gate {ask.gate}", stop
            )
            if self._stands(ask, found[-1], now_s):
                return found[-1], _said(late, appended.warning)
        message = f"others went through gate {ask.gate} at the same moment, {MAX_TRIES} times"
        raise LedgerError(message)

    def _stands(self, ask: GateAsk, reached: Reached, now_s: float) -> bool:
        """Tell whether a passage holds with what others had published before it.

        Two machines that use one approval at once both write so, and their lines are united: those
        that were published first come first.  Then the other has used it, or taken it back.
        """
        if reached.state != "approved" or self._ledger.settings.push == "never":
            return True
        path = gates_path(ask.op)
        content = self._ledger.branch.tree().read(path) or b""
        ours = with_fact(b"", reached.line or {})
        before, there, _ = content.partition(ours)
        if not there:
            return False
        return reach(GateBook(read_facts(before, path)), ask, now_s).state == "approved"

    def answer(self, given: GateAnswer, now_s: float) -> Answered:
        """Record an answer.

        Raises:
            GateRefused: It is not taken; nothing was written.
            LedgerError: It can't be read or written: the gate stays as it was.

        """
        late = self._ledger.refresh()
        lines: list[dict[str, Any]] = []

        def make(tree: BranchTree) -> dict[str, bytes] | None:
            lines.append(answer(_book(tree, given.op), given, now_s))
            return _with(tree, given.op, lines[-1], now_s)

        message = f"{given.op}: gate {given.gate} {given.verdict} by {given.approver}"
        appended = self._ledger.edit_or_nothing(make, message.replace("\0", ""))
        book = self.book(given.op)
        line = lines[-1]
        asked = book.asked(line["gate"], line["env"])
        # The last: somebody's tool may have written the very same line twice.
        pending = [each for each in asked if each.fact_id == line["pending"]][-1]
        standing = book.standing(pending, now_s)
        warnings = _said(late, appended.warning)
        return Answered(line, pending, standing, appended.pushed, warnings)


def _book(tree: BranchTree, op: str) -> GateBook:
    path = gates_path(op)
    return GateBook(read_facts(tree.read(path) or b"", path))


def _with(
    tree: BranchTree, op: str, line: Mapping[str, Any] | None, now_s: float
) -> dict[str, bytes] | None:
    if line is None:
        return None
    path = gates_path(op)
    content = tree.read(path) or b""
    ended = content if not content or content.endswith(b"\n") else content + b"\n"
    files = put_aside(op, ended, now_s)
    return {**files, path: with_fact(files[path], line)}


def _said(*warnings: str | None) -> tuple[str, ...]:
    return tuple(each for each in warnings if each is not None)

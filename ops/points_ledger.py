"""Questions on the ledger's branch: asked once, answered by compare-and-swap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.errors import LedgerError
from ops.points_book import (
    FOLDER,
    QUESTION_UNKNOWN,
    PointRefused,
    answer_path,
    is_open,
    read_record,
    retracted,
    voted,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.branch_tree import BranchTree
    from ops.git import Stopping
    from ops.ledger import Ledger
    from ops.points_asking import Settled
    from ops.points_book import Voice


@dataclass(frozen=True, slots=True)
class Kept:
    """A question as it is on the branch now."""

    record: Mapping[str, Any]
    pushed: bool = False
    warnings: tuple[str, ...] = ()


class PointLedger:
    """The questions of one project."""

    def __init__(self, ledger: Ledger) -> None:
        """Work on ``ledger``."""
        self._ledger = ledger

    def find(self, question_id: str) -> dict[str, Any] | None:
        """Return a question's record, None when it was never asked.

        Raises:
            LedgerError: It is there and can't be read.

        """
        return _find(self._ledger.branch.tree(), question_id)

    def refresh(self, stop: Stopping | None = None) -> tuple[str, ...]:
        """Bring in what others answered, where the project pushes; return warnings for people."""
        return tuple(each for each in (self._ledger.refresh(stop),) if each is not None)

    def every(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return all questions, oldest first, and what could not be read.

        Raises:
            LedgerError: The branch can't be read.

        """
        tree = self._ledger.branch.tree()
        records: list[dict[str, Any]] = []
        damaged: list[str] = []
        for path, content in tree.contents(tree.blobs(f"{FOLDER}/")):
            try:
                records.append(read_record(content, path))
            except LedgerError as error:
                damaged.append(error.message)
        return sorted(records, key=lambda each: (each["asked"]["at"], each["id"])), damaged

    def open(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the questions that people have to answer, oldest first; see `every`."""
        records, damaged = self.every()
        return [each for each in records if is_open(each)], damaged

    def keep(self, settled: Settled, stop: Stopping | None = None) -> Kept:
        """Write a question that was not asked before; if it was meanwhile, that one stays.

        After ``stop`` the remote gets a few seconds.

        Raises:
            LedgerError: It could not be written.

        """
        record = settled.record
        found: list[Mapping[str, Any]] = []

        def make(tree: BranchTree) -> dict[str, bytes] | None:
            known = _find(tree, record["id"])
            found.append(known or record)
            return None if known else {answer_path(record["id"]): written(record)}

        said = f"{record['point']}: question {record['id']} {record['state']}"
        appended = self._ledger.edit_or_nothing(make, said, stop)
        return Kept(found[-1], appended.pushed, _said(appended.warning))

    def answer(
        self, question_id: str, voices: Sequence[Voice], value: str, note: str, now_s: float
    ) -> Kept:
        """Record what people say.

        Raises:
            PointRefused: It is not taken; nothing was written.
            LedgerError: It could not be read or written.

        """
        names = ", ".join(voice.name for voice in voices)
        return self._change(
            question_id,
            lambda record: voted(record, voices, value, note, now_s),
            f"question {question_id}: {value} by {names}",
        )

    def retract(self, question_id: str, voice: Voice, note: str, now_s: float) -> Kept:
        """Open a question again.

        Raises:
            PointRefused: It is not taken; nothing was written.
            LedgerError: It could not be read or written.

        """
        return self._change(
            question_id,
            lambda record: retracted(record, voice, note, now_s),
            f"question {question_id}: retracted by {voice.name}",
        )

    def _change(
        self,
        question_id: str,
        change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        message: str,
    ) -> Kept:
        path = answer_path(question_id)
        late = self._ledger.refresh()
        changed: list[Mapping[str, Any]] = []

        def make(tree: BranchTree) -> dict[str, bytes]:
            record = _find(tree, question_id)
            if record is None:
                reason = f"there is no question {question_id!r}; chant workspace points lists them"
                raise PointRefused(QUESTION_UNKNOWN, reason)
            changed.append(change(record))
            return {path: written(changed[-1])}

        appended = self._ledger.edit_or_nothing(make, message.replace("\0", ""))
        if self.find(question_id) != changed[-1]:
            # Of two states of one file the published one stands; see `ops.union`.
            why = f"others changed question {question_id} at the same time, and theirs stands"
            raise LedgerError(why)
        return Kept(changed[-1], appended.pushed, _said(late, appended.warning))


def _find(tree: BranchTree, question_id: str) -> dict[str, Any] | None:
    path = answer_path(question_id)
    content = tree.read(path)
    return None if content is None else read_record(content, path)


def _said(*warnings: str | None) -> tuple[str, ...]:
    return tuple(each for each in warnings if each is not None)

"""The files of an Op's gates: one that is read, and what is over put beside it.  Pure.

``_gates/<op>.jsonl`` has all that can still count; ``<op>.<digest>.jsonl`` has questions that were
settled.  So a gate costs the same in a ledger of years.  Put-aside files are named by their
content: two machines never write different ones of one name, so each stays whole when their
ledgers are united, and no approval loses the line that says it was used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ops.errors import LedgerError
from ops.gate_book import GateBook
from ops.gate_facts import Passed, Pending, read_facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.gate_facts import GateFact

GATES = "_gates"
MAX_FILE_BYTES = 128 * 1024
"""Some 100 gates that were reached, opened and passed."""

DIGEST_CHARS = 12
_FILE = re.compile(rf"{GATES}/(?P<op>[^/.]+)\.jsonl")


def gates_path(op: str) -> str:
    """Return the file of an Op's gates on the branch.

    Raises:
        LedgerError: The name can't be part of a path.

    """
    if not op or "." in op or "/" in op or not op.isprintable():
        msg = f"{op!r} can't name a file of the ledger"
        raise LedgerError(msg)
    return f"{GATES}/{op}.jsonl"


def ops_with_gates(paths: Iterable[str]) -> list[str]:
    """Return the Ops that have a file among ``paths``."""
    found = (_FILE.fullmatch(path) for path in paths)
    return sorted(match["op"] for match in found if match)


def put_aside(op: str, content: bytes, now_s: float) -> dict[str, bytes]:
    """Return the files that ``content``, an Op's file of gates, becomes: perhaps a smaller one.

    Raises:
        LedgerError: A line can't be read.

    """
    path = gates_path(op)
    if len(content) <= MAX_FILE_BYTES:
        return {path: content}
    facts = read_facts(content, path)
    lines = [line + b"\n" for line in content.split(b"\n") if line]
    keeps = _keeps(facts, now_s)
    done = b"".join(line for line, keep in zip(lines, keeps, strict=True) if not keep)
    if len(done) < MAX_FILE_BYTES // 2:
        return {path: content}
    kept = b"".join(line for line, keep in zip(lines, keeps, strict=True) if keep)
    return {path: kept, _aside_path(op, done): done}


def _keeps(facts: tuple[GateFact, ...], now_s: float) -> list[bool]:
    """Say of each fact whether it can still count, or tells why the next run must ask."""
    book = GateBook(facts)
    asked = [fact for fact in facts if isinstance(fact, Pending)]
    newest = {(fact.gate, fact.env): fact.fact_id for fact in asked}
    live = {fact.fact_id for fact, _standing in book.open(now_s)} | set(newest.values())
    return [_about(fact) in live and not (isinstance(fact, Passed) and fact.kept) for fact in facts]


def _about(fact: GateFact) -> str:
    return fact.fact_id if isinstance(fact, Pending) else fact.pending


def _aside_path(op: str, content: bytes) -> str:
    import hashlib

    digest = hashlib.sha256(content).hexdigest()[:DIGEST_CHARS]
    return f"{GATES}/{op}.{digest}.jsonl"

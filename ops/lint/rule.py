"""What a rule is, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ops.lint.subject import Subject

    Found: TypeAlias = tuple[str, int, str]
    """File (relative to the project), line (from 1), message."""

Level: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: ``check`` yields what it finds, ``mend`` makes a file's text right, if it can."""

    rule_id: str
    level: Level
    summary: str
    check: Callable[[Subject], Iterable[Found]]
    mend: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True, order=True)
class LintFinding:
    """One finding; ``fixable`` says that --fix mends it."""

    file: str
    line: int
    rule: str
    level: Level
    message: str
    fixable: bool = False

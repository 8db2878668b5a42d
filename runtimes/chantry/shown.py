"""What a conversation wants seen, as values.  Pure: a screen decides how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from runtimes.chantry.board import Board, Row

Voice: TypeAlias = Literal["agent", "thought", "user"]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of ours about what happens; one dim line."""

    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something went wrong; goes to stderr.  May have several lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Prompted:
    """This prompt went to the agent."""

    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A chunk of text that the agent streams; it may end anywhere."""

    text: str
    voice: Voice


@dataclass(frozen=True, slots=True)
class Changed:
    """These rows of the board look different now."""

    board: Board
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class TurnOver:
    """The turn has ended; its board will not change any more."""

    board: Board
    stopped: tuple[Row, ...]
    """Rows that the end of the turn stopped."""
    outcome: str
    """In a few words."""


@dataclass(frozen=True, slots=True)
class Question:
    """Lines to read before an answer is typed behind ``ask``."""

    lines: tuple[str, ...]


Shown: TypeAlias = Note | Problem | Prompted | Said | Changed | TurnOver | Question

"""Whom a turn asks: nobody, a person at a terminal, or a client behind the protocol.

A question is one effect of the turn, and the event that ends it holds the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import ClientAnswered, StepEnded, TurnEffect
    from runtimes.radian.permissions import Option
    from runtimes.radian.tools.base import Prepared


@frozen
class PermissionQuestion:
    """May this call run?  ``key`` is unique in the session."""

    key: str
    call_id: str
    prepared: Prepared
    reason: str
    options: tuple[Option, ...]


@frozen
class UserQuestion:
    """One question of `ask_user`.  ``options``: label and description; their ids count from 1."""

    key: str
    call_id: str
    question: str
    options: tuple[tuple[str, str], ...] = ()
    multiple: bool = False
    free_text: bool = False


@frozen
class Chosen:
    """The id of the option that a person chose; of several, joined by commas."""

    option_id: str


@frozen
class Typed:
    """What a person typed."""

    text: str


@frozen
class NotAnswered:
    """There is no answer, and ``reason`` says why.  ``cancels``: the turn ends with it."""

    reason: str
    cancels: bool = False


Question: TypeAlias = PermissionQuestion | UserQuestion
Reply: TypeAlias = Chosen | Typed | NotAnswered
AnswerEvent: TypeAlias = "StepEnded | ClientAnswered"


class Asker(Protocol):
    """Puts questions."""

    def refuses(self, question: UserQuestion) -> str | None:
        """Say why a question of this kind can't be put here; None: it can."""
        ...

    def ask(self, question: Question) -> Sequence[TurnEffect]:
        """Put a question; an event with its key (``step_id`` or ``key``) ends it."""
        ...

    def withdraw(self, key: str) -> Sequence[TurnEffect]:
        """Take a question back, for the turn is cancelled; its event may still come."""
        ...

    def reply(self, event: AnswerEvent) -> Reply:
        """Read the event that ended a question.  Pure."""
        ...

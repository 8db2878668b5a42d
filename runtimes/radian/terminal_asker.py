"""Questions to the person at this process's own terminal: put on stderr, answered on stdin."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Any

from actors.turn import AbortStep, Say, StartStep, StepEnded
from actors.work import CallableWork
from ops.digits import whole_number
from runtimes.radian.asker import Chosen, NotAnswered, PermissionQuestion, Typed, UserQuestion
from runtimes.radian.events import Asked
from runtimes.radian.user_questions import labelled

if TYPE_CHECKING:
    from actors.turn import TurnEffect
    from actors.work import Stream, WorkContext
    from runtimes.radian.asker import AnswerEvent, Question, Reply

STDIN = 0
MAX_LINE = 64 * 1024
GLANCE_MS = 100
"""How often a wait for a line looks whether it is wanted any more."""
NO_ANSWER = "the person gave no answer"


class TerminalAsker:
    """See `runtimes.radian.asker.Asker`.  One question at a time."""

    def __init__(self) -> None:
        self._asked: dict[str, Question] = {}

    def refuses(self, question: UserQuestion) -> None:
        """Refuse nothing: a terminal takes numbers and text."""
        del question

    def ask(self, question: Question) -> list[TurnEffect]:
        """Show the question and read a line."""
        self._asked[question.key] = question
        said = Say((Asked(question_text(question)),))
        return [said, StartStep(question.key, CallableWork("question", _read), _nothing)]

    def withdraw(self, key: str) -> list[TurnEffect]:
        """Stop reading."""
        return [AbortStep(key)]

    def reply(self, event: AnswerEvent) -> Reply:
        """Read what was typed."""
        if not isinstance(event, StepEnded) or not isinstance(event.end.value, str):
            return NotAnswered(NO_ANSWER)
        question = self._asked.pop(event.end.step_id)
        typed = event.end.value.strip()
        if isinstance(question, PermissionQuestion):
            return _permission(question, typed)
        return _answer(question, typed)


def question_text(question: Question) -> str:
    """Return a question as it is put, with what may be typed."""
    if isinstance(question, PermissionQuestion):
        prepared = question.prepared
        lines = [f"? {prepared.tool}: {prepared.view.title}"]
        if question.reason:
            lines.append(f"  {question.reason}")
        choices = [option.name for option in question.options]
    else:
        lines = [f"? {question.question}"]
        choices = [labelled(option) for option in question.options]
    lines += [f"  {at}. {name}" for at, name in enumerate(choices, 1)]
    return "\n".join(map(_printable, lines)) + f"\n{_hint(question)}: "


def _hint(question: Question) -> str:
    if isinstance(question, PermissionQuestion):
        return "Number (anything else rejects)"
    if not question.options:
        return "Answer"
    number = "Numbers, with commas" if question.multiple else "Number"
    return f"{number}, or an answer" if question.free_text else number


def _permission(question: PermissionQuestion, typed: str) -> Reply:
    at = whole_number(typed) or 0
    if 0 < at <= len(question.options):
        return Chosen(question.options[at - 1].option_id)
    return NotAnswered(f"the user rejected it: {typed}" if typed else "the user rejected it")


def _answer(question: UserQuestion, typed: str) -> Reply:
    numbers = [each.strip() for each in typed.split(",")]
    fine = all(0 < (whole_number(each) or 0) <= len(question.options) for each in numbers)
    if fine and (question.multiple or len(numbers) == 1):
        return Chosen(",".join(numbers))
    if typed and question.free_text:
        return Typed(typed)
    return NotAnswered(NO_ANSWER)


def _read(context: WorkContext) -> str | None:
    """Read a line, or None once the step is aborted or the terminal is gone."""
    poll = select.poll()
    poll.register(STDIN, select.POLLIN)
    while not poll.poll(GLANCE_MS):
        if context.cancel.is_set():
            return None
    data = os.read(STDIN, MAX_LINE)
    return data.decode("utf-8", "replace") if data else None


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


def _nothing(stream: Stream, text: str) -> tuple[Any, ...]:
    del stream, text
    return ()

"""The questions of one `ask_user` call, one at a time, until one is not answered.  Pure."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from ops.digits import whole_number
from protocol.values import slotted
from runtimes.radian.asker import Chosen, NotAnswered, Typed, UserQuestion
from runtimes.radian.records import QuestionAnswered
from runtimes.radian.tools.base import ToolOutcome, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.radian.asker import Asker, Reply


@slotted
class Questioning:
    """Where a call stands with its questions."""

    turn: int
    call_id: str
    questions: Sequence[Mapping[str, Any]]
    asked: list[UserQuestion] = field(default_factory=list[UserQuestion])
    answers: list[str] = field(default_factory=list[str])

    def next_question(self, key: str, asker: Asker) -> UserQuestion | ToolOutcome:
        """Return the next question, or what came of the call when there is none left."""
        if len(self.answers) == len(self.questions):
            return ToolOutcome("\n\n".join(map(_told, self.asked, self.answers)))
        # One that can't be put fails the call before a person has answered the others in vain.
        questions = [] if self.answers else [self._made(key, each) for each in self.questions]
        refusal = next(filter(None, map(asker.refuses, questions)), None)
        if refusal is not None:
            return failure(refusal, "no answer")
        question = self._made(key, self.questions[len(self.answers)])
        self.asked.append(question)
        return question

    def _made(self, key: str, table: Mapping[str, Any]) -> UserQuestion:
        options = table.get("options", ())
        return UserQuestion(
            key,
            self.call_id,
            table["question"],
            tuple((each["label"], each.get("description", "")) for each in options),
            multiple=bool(table.get("multiple")),
            free_text=bool(table.get("free_text")) or not options,
        )

    def take(self, reply: Reply, wait_ms: int) -> tuple[QuestionAnswered, ToolOutcome | None]:
        """Take the answer to the last question; an outcome means that there was none."""
        question = self.asked[-1]
        said = _said(question, reply)
        record = QuestionAnswered(self.turn, self.call_id, question.question, said, wait_ms)
        if said is None:
            reason = reply.reason if isinstance(reply, NotAnswered) else "no such option"
            return record, failure(f"no answer to {question.question!r}: {reason}", "no answer")
        self.answers.append(said)
        return record, None


def _said(question: UserQuestion, reply: Reply) -> str | None:
    match reply:
        case Typed(text):
            return text
        case Chosen(option_id):
            chosen = [_label(question, each) for each in option_id.split(",")]
            labels = [each for each in chosen if each is not None]
            return ", ".join(labels) if len(labels) == len(chosen) else None
        case NotAnswered():
            return None


def _label(question: UserQuestion, option_id: str) -> str | None:
    """Return the label of an option; ids are numbers from 1."""
    at = whole_number(option_id) or 0
    return question.options[at - 1][0] if 0 < at <= len(question.options) else None


def _told(question: UserQuestion, answer: str) -> str:
    return f"{question.question}\n-> {answer}"


def labelled(option: tuple[str, str]) -> str:
    """Return an option as one line."""
    label, description = option
    return f"{label}: {description}" if description else label

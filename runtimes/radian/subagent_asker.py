"""A subagent's questions: put to whoever the turn asks, with the subagent named.  Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from actors.turn import ClientAnswered, Say
from runtimes.radian.asker import PermissionQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import TurnEffect
    from runtimes.radian.asker import AnswerEvent, Asker, Question, Reply, UserQuestion
    from runtimes.radian.question_line import QuestionLine
    from runtimes.radian.subagent_progress import SubagentProgress


class SubagentAsker:
    """See `runtimes.radian.asker.Asker`."""

    def __init__(
        self, asker: Asker, line: QuestionLine, name: str, progress: SubagentProgress
    ) -> None:
        """``name`` is how people know the subagent; ``progress`` shows what it asks about."""
        self._asker = asker
        self._line = line
        self._name = name
        self._progress = progress

    def refuses(self, question: UserQuestion) -> str | None:
        """Refuse what can't be put."""
        return self._asker.refuses(question)

    def ask(self, question: Question) -> Sequence[TurnEffect]:
        """Put the question in its turn, after the call that it is about was shown."""
        shown = self._progress.surface(question.call_id, self._name)
        named = self._named(question)
        asked = self._line.enter(question.key, lambda: self._asker.ask(named))
        return [Say(shown), *asked] if shown else asked

    def withdraw(self, key: str) -> Sequence[TurnEffect]:
        """Take it back; one that still waits was never put."""
        return self._asker.withdraw(key) if self._line.leave(key) else ()

    def reply(self, event: AnswerEvent) -> Reply:
        """Read the answer."""
        self._line.leave(event.key if isinstance(event, ClientAnswered) else event.end.step_id)
        return self._asker.reply(event)

    def _named(self, question: Question) -> Question:
        if not isinstance(question, PermissionQuestion):
            return replace(question, question=f"{self._name}: {question.question}")
        prepared = question.prepared
        view = replace(prepared.view, title=f"{self._name}: {prepared.view.title}")
        return replace(question, prepared=replace(prepared, view=view))

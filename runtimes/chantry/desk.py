"""The agent's permission questions on their way to an answer, one at a time.  Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from protocol import jsonrpc
from protocol.acp import client_side as acp
from runtimes.chantry.effects import Ask, AskNoMore, Send, Show
from runtimes.chantry.shown import Note, Question

if TYPE_CHECKING:
    from protocol.acp.permissions import PermissionOption
    from runtimes.chantry.effects import Effect
    from runtimes.chantry.permission import Permission, Policy


class Desk:
    """Answers by policy, or keeps questions in order until the user has answered them."""

    def __init__(self, policy: Policy, *, interactive: bool) -> None:
        """Start without questions; ``interactive``: there is someone to ask."""
        self._policy: Policy = policy
        self._interactive = interactive
        self._open: deque[Permission] = deque()

    @property
    def is_asking(self) -> bool:
        """Whether the next typed line answers a question."""
        return bool(self._open)

    def take(self, question: Permission) -> list[Effect]:
        """Settle a question at once, or put it to the user when its turn comes."""
        if self._policy != "ask":
            return self.settle(question, question.by_policy(self._policy))
        if not self._interactive:
            refusal = self.settle(question, question.by_policy("reject"))
            return [Show(Note("nobody to ask here; --yes would allow it")), *refusal]
        self._open.append(question)
        return self._ask() if len(self._open) == 1 else []

    def typed(self, line: str) -> list[Effect]:
        """Take what was typed; a question stays until it is one of the options."""
        option = self._open[0].choose(line)
        if option is None:
            return [Ask(self._open[0].prompt, fresh=True)]
        return [*self.settle(self._open.popleft(), option), *self._ask()]

    def typing_ended(self) -> list[Effect]:
        """Take the end of what the user types: a question without an answer is rejected."""
        question = self._open.popleft()
        effects = self.settle(question, question.by_policy("reject"))
        return [Show(Note("no answer")), *effects, *self._ask()]

    def withdraw(self) -> list[Effect]:
        """Drop all questions: their turn is being cancelled, or over."""
        effects: list[Effect] = [AskNoMore()] if self._open else []
        while self._open:
            effects += self.settle(self._open.popleft(), None)
        return effects

    def settle(self, question: Permission, option: PermissionOption | None) -> list[Effect]:
        """Answer the agent; None is the cancelled outcome."""
        chosen = acp.selected_outcome(option.option_id) if option else acp.cancelled_outcome()
        answer = jsonrpc.encode_result(question.request_id, chosen)
        return [
            Send(answer),
            Show(Note(f"{question.title}: {option.name if option else 'cancelled'}")),
        ]

    def _ask(self) -> list[Effect]:
        """Put the oldest question, if there is one."""
        if not self._open:
            return []
        question = self._open[0]
        return [Show(Question(question.lines())), Ask(question.prompt, fresh=True)]

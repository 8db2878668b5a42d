"""Questions that a client answers, of permission and of `ask_user`: `session/request_permission`.

Such a request carries one choice and no text, which is why some questions can't be put.  The answer
of `session/new` waits for this module, so what a question is made of is imported with the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import TurnEffect
    from protocol.acp.permissions import PermissionOption
    from protocol.acp.updates import ToolCallUpdate, ToolContent
    from runtimes.radian.asker import (
        AnswerEvent,
        PermissionQuestion,
        Question,
        Reply,
        UserQuestion,
    )

METHOD = "session/request_permission"
NO_TEXT = "this client takes no typed answers: ask again with options to choose from"
ONE_CHOICE = "this client takes one choice a question: ask again, without 'multiple'"
QUESTION_BYTES = 16 * 1024
OPTION_BYTES = 2 * 1024
"""A question and each of its options: with twelve of them it still is a line under 60 KiB."""


class ClientAsker:
    """See `runtimes.radian.asker.Asker`."""

    def __init__(self) -> None:
        """Ask for a session whose id is not known yet."""
        self.session_id = ""
        self._offered: dict[str, tuple[str, ...]] = {}

    def refuses(self, question: UserQuestion) -> str | None:
        """Refuse what one choice can't answer."""
        if not question.options:
            return NO_TEXT
        return ONE_CHOICE if question.multiple else None

    def ask(self, question: Question) -> Sequence[TurnEffect]:
        """Send the question; its call was shown before."""
        from actors.turn import AskClient
        from protocol.acp.permissions import permission_request
        from runtimes.radian.asker import PermissionQuestion

        if isinstance(question, PermissionQuestion):
            call, options = _of_permission(question)
        else:
            call, options = _of_user(question)
        self._offered[question.key] = tuple(each.option_id for each in options)
        return [AskClient(question.key, METHOD, permission_request(self.session_id, call, options))]

    def withdraw(self, key: str) -> Sequence[TurnEffect]:
        """Forget it: the end of the turn closes its questions, and a late answer is dropped."""
        self._offered.pop(key, None)
        return []

    def reply(self, event: AnswerEvent) -> Reply:
        """Read an answer.  Whatever is no clear choice is a refusal."""
        from actors.turn import ClientAnswered
        from protocol.acp.permissions import (
            CancelledOutcome,
            Selected,
            parse_permission_outcome,
        )
        from runtimes.radian.asker import Chosen, NotAnswered

        if not isinstance(event, ClientAnswered):
            return NotAnswered("nobody was asked")
        offered = self._offered.pop(event.key, ())
        if event.failed:
            return NotAnswered("the client could not be asked")
        match parse_permission_outcome(event.answer, offered):
            case Selected(option_id):
                return Chosen(option_id)
            case CancelledOutcome():
                return NotAnswered("the question was cancelled", cancels=True)
            case _:
                return NotAnswered("the client gave no answer that can be read")


def _of_user(question: UserQuestion) -> tuple[ToolCallUpdate, list[PermissionOption]]:
    from protocol.acp.cutting import shorten_text
    from protocol.acp.permissions import PermissionOption
    from protocol.acp.updates import ToolCallUpdate
    from runtimes.radian.user_questions import labelled

    title = shorten_text(question.question, QUESTION_BYTES)
    call = ToolCallUpdate(tool_call_id=question.call_id, title=title)
    return call, [
        PermissionOption(str(at), shorten_text(labelled(each), OPTION_BYTES), "allow_once")
        for at, each in enumerate(question.options, 1)
    ]


def _of_permission(question: PermissionQuestion) -> tuple[ToolCallUpdate, list[PermissionOption]]:
    from protocol.acp.permissions import PermissionOption

    return _call(question), [
        PermissionOption(each.option_id, each.name, each.kind) for each in question.options
    ]


def _call(question: PermissionQuestion) -> ToolCallUpdate:
    from protocol.acp.cutting import shorten_raw
    from protocol.acp.updates import Location, ToolCallUpdate, ToolText
    from runtimes.radian.shown_diff import shown_diff
    from runtimes.radian.updates import PART_BYTES

    view = question.prepared.view
    content: list[ToolContent] = []
    if question.reason:
        content.append(ToolText(question.reason))
    if view.diff is not None:
        content.append(shown_diff(view.diff, PART_BYTES))
    return ToolCallUpdate(
        tool_call_id=question.call_id,
        title=view.title,
        status="pending",
        raw_input=shorten_raw(dict(question.prepared.input), PART_BYTES),
        content=tuple(content) or None,
        locations=tuple(Location(each.path, each.line) for each in view.locations) or None,
    )

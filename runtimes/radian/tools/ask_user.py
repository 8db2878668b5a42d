"""`ask_user`: questions for the person; who puts them, and how, is the session's business."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.permissions import Request
from runtimes.radian.tools.base import Prepared, ToolFailedError, ToolView, failure
from runtimes.radian.tools.running import one_line, run_callable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

NAME = "ask_user"
MAX_QUESTIONS = 8
MAX_OPTIONS = 12
NOBODY = "nobody is there to answer; decide yourself, or say what you need to know"


class AskUser:
    """Asks; its calls are answered by `runtimes.radian.user_questions` where somebody is there."""

    name = NAME
    kind: Kind = "other"
    read_only = False
    summary = (
        "Ask the person something that you can't find out and that changes what you do. Give "
        "options where you can; without options a text is asked for."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "items": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "minLength": 1},
                        "options": {
                            "type": "array",
                            "maxItems": MAX_OPTIONS,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": {"type": "string", "minLength": 1},
                                    "description": {"type": "string"},
                                },
                                "required": ["label"],
                                "additionalProperties": False,
                            },
                        },
                        "multiple": {"type": "boolean", "description": "Several may be chosen"},
                        "free_text": {
                            "type": "boolean",
                            "description": "Another answer may be typed",
                        },
                    },
                    "required": ["question"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["questions"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Check that no question is blank."""
        del context
        questions = [each["question"].strip() for each in values["questions"]]
        if not all(questions):
            message = "a question is blank"
            raise ToolFailedError(message)
        view = ToolView(one_line(questions[0]))
        return Prepared(self.name, values, view, Request(self.name, "talk"))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return a run that fails: where somebody can be asked, nobody starts it."""
        del prepared, call_id, context
        return run_callable("ask-user", lambda _work: failure(NOBODY, "nobody"))

"""Questions that a later prompt answers, as ``chant acp --durable-requests`` asks them.  Pure.

Such a turn ends waiting; the answer to the request itself opens nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from protocol.members import as_object, optional_text

if TYPE_CHECKING:
    from protocol.acp.client_side import PromptAnswer
    from protocol.members import JsonObject

GO_ON: Final = "go on"
"""What the later prompt says; the agent reads its ``_meta``."""


def named_in(meta: JsonObject) -> str:
    """Return the id by which a later prompt names a question; empty if it is an ordinary one."""
    return optional_text(as_object(meta.get("chant")), "requestId") or ""


def waits_for(answer: PromptAnswer, request_id: str) -> bool:
    """Tell whether a turn ended because it waits for the answer to that question."""
    chant = as_object(answer.meta.get("chant"))
    return chant.get("state") == "waiting" and chant.get("requestId") == request_id


def answer_meta(request_id: str, option_id: str) -> JsonObject:
    """Make the ``_meta`` of the prompt that answers."""
    return {"chant": {"permission": {"requestId": request_id, "optionId": option_id}}}

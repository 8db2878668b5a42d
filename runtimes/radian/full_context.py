"""Whether an answer ended where the context of its model does.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtimes.models.answer import Answer

CONTEXT_FULL = "model_context_window_exceeded"
"""What Anthropic says of such an answer."""
FULL = 0.98
"""Of the window: providers stop a little before its end."""


def is_full(answer: Answer, window: int | None) -> bool:
    """Tell whether an answer was cut because nothing more goes into the context.

    ``window``: tokens; None: nobody knows.
    """
    if answer.finish != "length":
        return False
    if answer.detail == CONTEXT_FULL:
        return True
    if window is None or answer.usage is None:
        return False
    return answer.usage.input_tokens + answer.usage.output_tokens >= FULL * window

"""A step's output while it runs: to the tool, and within bounds to whoever watches."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from protocol.values import slotted
from runtimes.radian import events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.work import Stream
    from runtimes.radian.tools.base import ToolRun

LIVE_CHARS = 256 * 1024
"""Of a command's output that is shown while it runs."""


@slotted
class LiveOutput:
    """One call's output as it comes; `render` is for the step."""

    turn: int
    call_id: str
    run: ToolRun
    mask: Callable[[str], str]
    shows: bool
    left: int = field(default=LIVE_CHARS)

    def render(self, stream: Stream, text: str) -> Sequence[Any]:
        """Pass a piece on; return what is shown of it."""
        if self.run.hear is not None:
            self.run.hear(stream, text)
        if not self.shows or not self.left:
            return ()
        shown, self.left = text[: self.left], max(0, self.left - len(text))
        return (events.ToolOutput(self.turn, self.call_id, self.mask(shown)),)


def nothing_shown(stream: Stream, text: str) -> tuple[Any, ...]:
    """Render nothing."""
    del stream, text
    return ()

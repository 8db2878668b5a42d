"""What a session gives the rounds of its turns."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from protocol.values import slotted
from runtimes.radian.hook_run import HookDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtimes.radian.policy import Policy
    from runtimes.radian.tools.base import Tool, ToolContext


@slotted
class ToolDesk:
    """One session's tools, and what their calls need."""

    tools: Mapping[str, Tool]
    context: ToolContext
    policy: Policy
    monotonic: Callable[[], float]
    mask: Callable[[str], str]
    """Takes known secrets out of a text."""
    hooks: HookDesk = field(default_factory=HookDesk)

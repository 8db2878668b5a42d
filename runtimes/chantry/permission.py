"""The agent's permission questions: as lines to read, and what a typed answer chooses.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from protocol.acp.permissions import PermissionOption
    from protocol.jsonrpc import RequestId

Policy: TypeAlias = Literal["ask", "allow", "reject"]


@dataclass(frozen=True, slots=True)
class Permission:
    """One question, to be answered under ``request_id``."""

    request_id: RequestId
    title: str
    options: tuple[PermissionOption, ...]
    late_id: str = ""
    """How a later prompt names it, if that is how it is answered."""
    details: tuple[str, ...] = ()
    """What it is about, line by line."""

    def lines(self) -> tuple[str, ...]:
        """Put the question and its numbered options into words."""
        numbered = (f"  {n}  {option.name}" for n, option in enumerate(self.options, 1))
        return (f"? {self.title}", *self.details, *numbered)

    @property
    def prompt(self) -> str:
        """What stands before the typed answer."""
        return f"answer (1-{len(self.options)}): "

    def choose(self, answer: str) -> PermissionOption | None:
        """Read a typed answer: a number, an option's id or its name; None if it is none of them."""
        word = answer.strip().lower()
        for number, option in enumerate(self.options, 1):
            if word and word in (str(number), option.option_id.lower(), option.name.lower()):
                return option
        return None

    def by_policy(self, policy: Policy) -> PermissionOption | None:
        """Answer without asking: the mildest option of that sort; None if there is none."""
        for kind in (f"{policy}_once", f"{policy}_always"):
            for option in self.options:
                if option.kind == kind:
                    return option
        return None

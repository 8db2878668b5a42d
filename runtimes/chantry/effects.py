"""What a conversation wants done, as values.  Pure: the loop does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from runtimes.chantry.shown import Shown

Patience: TypeAlias = Literal["polite", "brisk", "none"]
"""How long each step waits that ends an agent."""


@dataclass(frozen=True, slots=True)
class Send:
    """Write this line to the agent."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Show:
    """Let the user see this."""

    item: Shown


@dataclass(frozen=True, slots=True)
class Ask:
    """Read one line from the user; he sees ``prompt``.  With ``fresh``, not one typed before."""

    prompt: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class AskNoMore:
    """What was asked needs no answer any more."""


@dataclass(frozen=True, slots=True)
class End:
    """End the agent and then us, with ``code``.  A further one is more impatient."""

    code: int
    patience: Patience = "polite"


Effect: TypeAlias = Send | Show | Ask | AskNoMore | End

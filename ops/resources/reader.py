"""What a reader is, what it is given, and what it answers."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Read: TypeAlias = Callable[[Mapping[str, Any], "Look"], "Observation"]

KeyKind: TypeAlias = Literal["text", "whole", "flag", "texts", "wholes", "text_map", "command"]
State: TypeAlias = Literal["present", "absent", "unobserved"]


@frozen
class Key:
    """A key of a resource's table that its reader understands."""

    name: str
    kind: KeyKind
    summary: str
    required: bool = False


@frozen
class Observation:
    """What a reader saw.

    ``unobserved`` means that nobody knows: it has a reason, no facts, and is never an absence.
    """

    state: State
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""


ABSENT = Observation("absent")


def present(**facts: Any) -> Observation:
    """Make an observation of something that is there."""
    return Observation("present", facts)


def unobserved(reason: str) -> Observation:
    """Make an observation of something that could not be looked at."""
    return Observation("unobserved", reason=reason)


class Stopping(Protocol):
    """How a reader learns that nobody wants to know any more."""

    def is_set(self) -> bool:
        """Tell whether it was asked to stop."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once when it is, at once when it was already."""
        ...


@frozen
class Look:
    """Where and for how long a reader may look."""

    root: str
    """The project's folder, absolute: paths in resources are relative to it."""
    environ: Mapping[str, str]
    cancel: Stopping
    timeout_s: float = 10.0


@frozen
class Reader:
    """A way to look at one kind of thing.  ``module`` holds ``read(keys, look)``.

    A reader changes nothing, ends within the look's time, and ends early on a cancel.
    """

    name: str
    summary: str
    keys: tuple[Key, ...]
    facts: Mapping[str, str]
    """What it may answer, and what that is; also what ``expect`` may state."""
    module: str
    one_of: tuple[str, ...] = ()
    """Keys of which exactly one must be given."""
    any_fact: bool = False
    """Facts may have other names than those listed."""

    def read(self, keys: Mapping[str, Any], look: Look) -> Observation:
        """Look.  What goes wrong is an observation, too."""
        import importlib

        if look.cancel.is_set():
            return unobserved("stopped before it was looked at")
        try:
            seen = cast("Read", importlib.import_module(self.module).read)(keys, look)
        except (OSError, ValueError) as error:
            seen = unobserved(getattr(error, "strerror", None) or str(error))
        stopped = look.cancel.is_set() and seen.state == "unobserved"
        return unobserved("stopped while it was looked at") if stopped else seen

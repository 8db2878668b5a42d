"""What a verb is: its words, flags, exit codes, what a prompt may do with it, and its handler."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtimes.chant.place import Premises

OK = 0
FAILED = 1
USAGE = 2
WAITING = 3
REFUSED = 4
CANCELLED = 130

MEANINGS: dict[int, str] = {
    OK: "fine",
    FAILED: "failed, or something was found",
    USAGE: "the command line can't be understood",
    WAITING: "stopped at a gate or a question",
    REFUSED: "refused before anything ran",
    CANCELLED: "cancelled",
}
"""Every exit code of chant and what it says."""

WIDTH = 100
"""Columns of a text for people where no terminal says otherwise, as in a session."""


@frozen
class Param:
    """A positional word of a verb."""

    name: str
    summary: str
    required: bool = True
    many: bool = False
    choices: tuple[str, ...] = ()
    """All that it may be; completion offers them."""


@frozen
class Flag:
    """A flag of a verb; without ``value`` (the name of its value in the help) it is a switch."""

    name: str
    summary: str
    value: str = ""
    many: bool = False


JSON = Flag("--json", "answer with one JSON document")
HELP = Flag("--help", "show this and do nothing else")
SHORT_HELP = "-h"
"""What many type for it."""
COMMON = (JSON, HELP)
"""Flags that every verb has."""


@frozen
class NotInPrompts:
    """Why a verb can't be used in a session's prompt, ``unless`` a flag is given."""

    reason: str
    unless: str = ""


InPrompts: TypeAlias = "Literal['run', 'verb'] | NotInPrompts"
"""``run``: an Op's run with its plan as tool calls; ``verb``: runs with --json, output streams."""


class CancelSignal(Protocol):
    """How a handler learns that it should stop."""

    def is_set(self) -> bool:
        """Tell whether it was asked to."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once when it is, at once when it was already."""
        ...


@frozen
class Surroundings:
    """Where a verb runs: nothing of it is taken from the process behind its back."""

    cwd: str
    """Absolute."""
    environ: Mapping[str, str]
    cancel: CancelSignal
    premises: Premises | None = None
    """Where it finds its project; None: on this machine's disk."""
    width: int = WIDTH
    """Columns that a text for people may have."""
    confined: bool = False
    """It writes no file outside of ``cwd``: a prompt's, which may come from anybody's document."""


@frozen
class Outcome:
    """What a verb has to say: an exit code, a JSON-able document, and the same as text."""

    code: int
    document: Any
    text: str
    warnings: tuple[str, ...] = ()
    """For people, beside the text; the document has the facts behind them."""
    is_answer: bool = False
    """The text is what was asked for, although the code is not 0: it goes to stdout."""
    is_table: bool = False
    """The text is in columns, which a terminal that is too narrow may break apart."""


@frozen
class Verb:
    """One verb, complete: parser, help, completion and prompts read nothing else."""

    path: tuple[str, ...]
    summary: str
    handler: Callable[[Invocation, Surroundings], Outcome]
    """May look at the disk, so never called by an actor.  Raises `ops.errors.OpsError`."""
    document: str
    """The shape of what --json prints."""
    params: tuple[Param, ...] = ()
    own_flags: tuple[Flag, ...] = ()
    exit_codes: tuple[int, ...] = (OK, FAILED, USAGE)
    in_prompts: InPrompts = "verb"

    @property
    def name(self) -> str:
        """The words one types."""
        return " ".join(self.path)

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Its own flags, then those that every verb has."""
        return self.own_flags + COMMON


@frozen
class Invocation:
    """A verb with checked words: every param and flag is one that the verb declares."""

    verb: Verb
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Values in the order given; a switch that is on has one empty value."""

    def param(self, name: str) -> str:
        """Return a positional word, empty when it was left out."""
        return next(iter(self.params.get(name, ())), "")

    def on(self, flag: str) -> bool:
        """Tell whether a flag was given."""
        return flag in self.flags

    def value(self, flag: str) -> str | None:
        """Return the value of a flag, None when it was not given."""
        return next(iter(self.flags.get(flag, ())), None)

    def values(self, flag: str) -> tuple[str, ...]:
        """Return all values of a flag that may be given more than once."""
        return self.flags.get(flag, ())

"""What a step is, as values: the work to do, how it ended, and who is told.

A step is a child process or a callable on a leaf thread.  The StepExecutorActor starts steps for
whoever drives it and knows nothing of Ops or tools.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Stream: TypeAlias = Literal["stdout", "stderr"]
EndKind: TypeAlias = Literal["exited", "returned", "failed", "cancelled", "timed_out", "lost"]
AbortReason: TypeAlias = Literal["cancelled", "timed_out"]


@frozen
class ProcessWork:
    """A program to run: no shell, no terminal, its own process group."""

    argv: tuple[str, ...]
    cwd: str
    """Absolute."""
    env: Mapping[str, str]
    """The whole environment; nothing is inherited behind its back."""
    reports: bool = False
    """It finds descriptor 3 open and writes there what `StepEnd.value` is to be, as bytes."""
    stdin: bytes | None = None
    """What it can read, all of it, and then the end of its stdin; None: the null device."""


class CancelToken(Protocol):
    """How a callable learns that it should stop."""

    def is_set(self) -> bool:
        """Tell whether the step was aborted."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as the step was aborted."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once on abort (at once when it already happened); it must not wait."""
        ...


class WorkContext(Protocol):
    """What a callable step may use."""

    @property
    def cancel(self) -> CancelToken:
        """The step's own token."""
        ...

    def emit(self, stream: Stream, text: str) -> None:
        """Show output; may wait for a slow client.  Counted and captured like a process's."""
        ...

    def monotonic(self) -> float:
        """Seconds on the runtime's clock."""
        ...


@frozen
class CallableWork:
    """A function to run on a leaf thread.  What it returns is the step's value.

    ``name`` appears in logs and thread names.  An exception is the step's failure, and its text
    is shown to people, so it must name the thing and hold no secret.
    """

    name: str
    run: Callable[[WorkContext], Any]


Work: TypeAlias = ProcessWork | CallableWork


@frozen
class Captured:
    """What one stream of a step printed: bounded text, exact counts."""

    text: str = ""
    """Head and tail, with a line between them that says how many bytes were left out."""
    total_bytes: int = 0
    digest: str = ""
    """sha256 (hex) of all bytes, empty when nothing was printed."""


@frozen
class StepEnd:
    """How a step ended: told exactly once for each started step.

    ``kind``: exited (``exit_code`` is set; 128+n for signal n; ``value``: what a program wrote
    to descriptor 3, if it was to report), returned (``value``), failed
    (``error``: it could not start, or the callable raised), cancelled or timed_out (it was
    aborted; ``exit_code`` if the process had one), lost (nobody can tell; ``error`` says why).
    """

    step_id: str
    kind: EndKind
    exit_code: int | None = None
    value: Any = None
    error: str | None = None
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)


class OutputSource(Protocol):
    """One step's way into the turn's outlet."""

    def offer(self, items: Iterable[Any]) -> None:
        """Hand over items, waiting for room until `end` is called or the outlet is closed."""
        ...

    def end(self) -> None:
        """Release a waiting `offer` and let later ones pass without waiting.  Never waits."""
        ...


Render: TypeAlias = "Callable[[Stream, str], Iterable[Any]]"
"""Turns output text into items for the outlet.  Pure; called on the step's leaf thread."""


class StepHandle(Protocol):
    """A started step, as its executor sees it.  Nothing here waits."""

    step_id: str

    def abort(self, reason: AbortReason) -> None:
        """Ask it to stop (TERM to the process tree, or the token).  Later calls change nothing."""
        ...

    def kill(self) -> None:
        """Stop it for good (KILL to the tree, or fence the callable off)."""
        ...


class StepService(Protocol):
    """Starts steps.  The real one spawns through the guardian; a simulation brings its own."""

    def start(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        render: Render,
        on_end: Callable[[StepEnd], None],
    ) -> StepHandle:
        """Start ``work``; ``on_end`` is called once, from any thread, also when it can't start.

        Never waits for the step and never raises for a step that can't start: that is a
        `StepEnd` of kind ``failed``.
        """
        ...

    def close(self) -> None:
        """Kill what is left and free everything.  Bounded; safe to call twice."""
        ...

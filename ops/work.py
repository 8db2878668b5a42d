"""What an activity hands over to be run: a program, or a callable.

The same in shape as what the executor takes; `ops` does not know the executor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.events import Stream


@frozen
class ProcessWork:
    """A program: ``cwd`` is absolute, ``env`` is the whole environment."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    reports: bool = False
    """It writes its output to descriptor 3, see `ops.step_result.reported`."""


class CancelToken(Protocol):
    """How a callable learns that it should stop."""

    def is_set(self) -> bool:
        """Tell whether the step was aborted."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as the step was aborted."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once on abort, at once when it already happened."""
        ...


class WorkContext(Protocol):
    """What a callable may use while it runs."""

    @property
    def cancel(self) -> CancelToken:
        """The step's own token."""
        ...

    def emit(self, stream: Stream, text: str) -> None:
        """Show output; may wait for a slow reader."""
        ...

    def monotonic(self) -> float:
        """Seconds on the host's clock."""
        ...


@frozen
class CallableWork:
    """A function for a leaf thread.  What it returns is the step's output."""

    name: str
    run: Callable[[WorkContext], Any]


Work: TypeAlias = ProcessWork | CallableWork


@frozen
class ActivityContext:
    """Where a step runs: the project's folder (absolute) and the whole environment."""

    cwd: str
    env: Mapping[str, str]

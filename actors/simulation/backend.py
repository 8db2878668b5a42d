"""How tasks are carried: what a scheduler needs to pass control from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from actors.simulation.task import SimTask

    Body: TypeAlias = Callable[[SimTask], SimTask | None]

BackendName: TypeAlias = Literal["threads", "greenlet"]


class Backend(Protocol):
    """Carries the tasks of one world at a time; exactly one of them runs."""

    def begin(self, body: Body) -> None:
        """Start a world whose tasks run by ``body``."""
        ...

    def run(self, task: SimTask) -> None:
        """From outside: let ``task`` go on, and return when control comes back."""
        ...

    def hand_over(self, me: SimTask, to: SimTask | None) -> None:
        """From ``me``: let ``to`` go on (None: give control back), return when it is our turn."""
        ...

    def frame(self, task: SimTask) -> FrameType | None:
        """Return where a task stands; None where it has not begun."""
        ...

    def close(self) -> None:
        """Let go of what was kept for the next world.  Between worlds only."""
        ...


def make_backend(name: BackendName) -> Backend:
    """Make a backend; keep it, it reuses what it made.

    Raises:
        ImportError: greenlet is asked for and not installed.

    """
    if name == "greenlet":
        from actors.simulation.greenlet_backend import GreenletBackend

        return GreenletBackend()
    from actors.simulation.baton_backend import BatonBackend

    return BatonBackend()

"""Real steps: programs through the guardian, callables on leaf threads."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from actors.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.callable_step import CallableStep
    from actors.capture import StepOutput
    from actors.faults import Faults
    from actors.guardian import Guardian
    from actors.platform import Platform
    from actors.process_step import ProcessStep
    from actors.work import OutputSource, Render, StepEnd, Work, WorkContext

    Step: TypeAlias = ProcessStep | CallableStep


class RealSteps:
    """The `StepService` that servers run on."""

    def __init__(
        self, platform: Platform, faults: Faults, live_limit_bytes: int | None = None
    ) -> None:
        """Import and start nothing yet: `initialize` must not wait for this.

        ``live_limit_bytes`` bounds what of each stream of a step is offered while it runs.
        """
        self._platform = platform
        self._faults = faults
        self._live_limit_bytes = live_limit_bytes
        self._lock = platform.condition()
        self._guardian: Guardian | None = None
        self._live: dict[int, Step] = {}
        self._started = 0
        self._closed = False

    def warm_up(self) -> None:
        """Import what steps need and start the guardian: the first step is then like the others."""
        from actors.guardian_link import LinkClosed

        import_module("actors.callable_step")
        import_module("actors.process_step")
        # What is wrong with it shows again, and is told, when a step is started.
        with suppress(OSError, LinkClosed):
            self._the_guardian().ensure()

    def start(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        render: Render,
        on_end: Callable[[StepEnd], None],
    ) -> Step:
        """Start ``work``; see `actors.work.StepService`.  After `close` it ends as cancelled."""
        with self._lock:
            self._started += 1
            key = self._started

        def ended(end: StepEnd) -> None:
            with self._lock:
                self._live.pop(key, None)
            on_end(end)

        output = self._output(source, render)
        try:
            step = self._make(step_id, work, source, output, ended)
        except OSError as error:  # no descriptor is left: this step's failure, not its starter's
            step = self._make(step_id, _failing(work, error), source, output, ended)
        with self._lock:
            self._live[key] = step
            closed = self._closed
        if closed:
            step.abort("cancelled")
        step.start()
        return step

    def close(self) -> None:
        """Kill every step and everything that steps left behind, and wait for it, bounded."""
        with self._lock:
            self._closed = True
            steps = tuple(self._live.values())
            guardian = self._guardian
        for step in steps:
            step.abort("cancelled")
            step.kill()
        if guardian is not None:
            guardian.close()

    def _make(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        output: StepOutput,
        on_end: Callable[[StepEnd], None],
    ) -> Step:
        if isinstance(work, CallableWork):
            from actors.callable_step import CallableStep

            return CallableStep(
                step_id, work, output, source, on_end, platform=self._platform, faults=self._faults
            )
        from actors.process_step import ProcessStep

        return ProcessStep(
            step_id,
            work,
            output,
            source,
            on_end,
            guardian=self._the_guardian(),
            platform=self._platform,
            faults=self._faults,
        )

    def _output(self, source: OutputSource, render: Render) -> StepOutput:
        from actors.capture import LIVE_LIMIT_BYTES, StepOutput

        return StepOutput(source, render, self._live_limit_bytes or LIVE_LIMIT_BYTES)

    def _the_guardian(self) -> Guardian:
        from actors.guardian import Guardian

        with self._lock:
            if self._guardian is None:
                self._guardian = Guardian(self._platform, self._faults)
            return self._guardian


def _failing(work: Work, error: OSError) -> CallableWork:
    """Return what fails in place of a step that there is no descriptor for."""
    name = work.name if isinstance(work, CallableWork) else repr("".join(work.argv[:1]))

    def fail(_context: WorkContext) -> object:
        message = f"can't start {name}: {error.strerror}"
        raise RuntimeError(message)

    return CallableWork("start", fail)

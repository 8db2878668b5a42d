"""Simulated steps: programs by script, callables as they are, on tasks instead of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from actors.callable_step import CallableStep
from actors.capture import StepOutput
from actors.simulation.process import SimProcess, read_script
from actors.work import CallableWork, StepEnd
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.simulation.book import Book
    from actors.simulation.platform import SimPlatform
    from actors.simulation.process import Script
    from actors.work import OutputSource, ProcessWork, Render, Work

    Step: TypeAlias = SimProcess | CallableStep

TAG_VARIABLES = ("SIM_TAG", "CHANT_RUN_ID")
"""Where a program's environment says which turn it belongs to."""


class Ran(NamedTuple):
    """A program that was started, and how it ended."""

    tag: str
    step_id: str
    end: StepEnd
    aborted_after_s: float | None
    """How long it had run when TERM came."""


class Part(NamedTuple):
    """What a program plays."""

    tag: str
    """The turn that it belongs to."""
    script: Script


class SimSteps:
    """See `actors.work.StepService`."""

    def __init__(self, platform: SimPlatform, faults: Faults, book: Book) -> None:
        """Start nothing yet."""
        self._platform = platform
        self._faults = faults
        self._book = book
        self._live: dict[int, Step] = {}
        self._processes: list[SimProcess] = []
        self._started = 0
        self._closed = False
        self._hasty: list[str] = []
        self.begun: list[tuple[str, str]] = []
        """Turn and step of each program in the order of starting."""
        self.ran: list[Ran] = []
        """Each program in the order of ending."""
        self.cast: Callable[[str, ProcessWork], Part] = as_told
        """Says what the program of a step plays; called as it is started."""

    def start(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        render: Render,
        on_end: Callable[[StepEnd], None],
    ) -> Step:
        """See `actors.work.StepService.start`."""
        self._started += 1
        key = self._started
        output = StepOutput(source, render)
        step: Step

        def ended(end: StepEnd) -> None:
            self._live.pop(key, None)
            if isinstance(step, SimProcess):
                self.ran.append(Ran(step.tag, step_id, end, step.aborted_after_s))
            on_end(end)

        if isinstance(work, CallableWork):
            step = CallableStep(
                step_id, work, output, source, ended, platform=self._platform, faults=self._faults
            )
        else:
            step = self._program(step_id, self.cast(step_id, work), output, source, ended)
        self._live[key] = step
        if self._closed:
            step.abort("cancelled")
        step.start()
        return step

    def close(self) -> None:
        """Kill what is left, which has no time any more."""
        self._hasty = self.hasty
        self._closed = True
        for step in tuple(self._live.values()):
            step.abort("cancelled")
            step.kill()
        self.sweep()

    def sweep(self) -> None:
        """Kill every program and child, as the guardian does when the server is gone."""
        for process in self._processes:
            process.sweep()

    @property
    def hasty(self) -> list[str]:
        """The steps that were killed before they had their grace, while there was time for it."""
        if self._closed:
            return self._hasty
        return [process.step_id for process in self._processes if process.hasty]

    @property
    def alive(self) -> list[str]:
        """The steps of which a program or its child still runs."""
        return [process.step_id for process in self._processes if process.alive]

    def _program(
        self,
        step_id: str,
        part: Part,
        output: StepOutput,
        source: OutputSource,
        on_end: Callable[[StepEnd], None],
    ) -> SimProcess:
        tag = part.tag
        live = [each for each in self._live.values() if isinstance(each, SimProcess)]
        if any(each.is_attempt_of(tag, step_id) for each in live):
            self._book.violated("children", f"step {step_id} of {tag} was started while it runs")
        self.begun.append((tag, step_id))
        process = SimProcess(
            step_id,
            part.script,
            output,
            source,
            on_end,
            platform=self._platform,
            faults=self._faults,
            book=self._book,
            tag=tag,
        )
        self._processes.append(process)
        return process


def as_told(step_id: str, work: ProcessWork) -> Part:
    """Have a program play what its command line says."""
    del step_id
    tag = next((work.env[name] for name in TAG_VARIABLES if name in work.env), "")
    return Part(tag, read_script(work.argv[-1]))

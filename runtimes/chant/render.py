"""A run on a terminal, or as plain lines where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from ops.counts import counted
from ops.events import (
    CompensationStarted,
    GatePending,
    PointWaiting,
    RunSettled,
    RunStarted,
    StepOutput,
    StepRetrying,
    StepSettled,
    StepStarted,
)
from runtimes.chant.error_text import error_line
from runtimes.chant.items import PlanAnnounced, RecordWritten, Refusal, Remark
from runtimes.chant.line_buffer import LineBuffer
from runtimes.chant.marks import Marks, marks_for
from runtimes.chant.wording import (
    duration_text,
    gate_text,
    point_text,
    retry_text,
    settled_text,
    verdict_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.plan import Plan
    from runtimes.chant.items import Item


def remark_text(remark: Remark) -> str:
    """Return what a person at a terminal reads on stderr."""
    refused = isinstance(remark, Refusal)
    return error_line("run", remark.text.rstrip("\n")) if refused else remark.text


class View(Protocol):
    """Shows what a run says."""

    def show(self, items: Sequence[Item]) -> None:
        """Show items, in order.  May wait for whoever reads."""
        ...


class TerminalView:
    """Lines for people: what starts, what it prints, how it ends, and the last word."""

    def __init__(self, out: TextIO, err: TextIO, *, colors: bool) -> None:
        self._out = out
        self._err = err
        self._marks: Marks = marks_for(out.encoding or "ascii", colors=colors)
        self._printed = LineBuffer()
        self._began = 0.0
        self._took = ""

    def show(self, items: Sequence[Item]) -> None:
        """Write and flush."""
        for item in items:
            if isinstance(item, Remark):
                self._out.flush()
                self._err.write(remark_text(item))
                self._err.flush()
            else:
                self._out.writelines(f"{line}\n" for line in self._lines(item))
        self._out.flush()

    def _lines(self, item: Item) -> Iterator[str]:
        marks = self._marks
        match item:
            case PlanAnnounced(run_id, plan):
                yield f"{marks.bold(plan.op)} in {plan.env}: {_size(plan)}, run {run_id}"
            case StepStarted():
                yield f"{marks.started} {item.title}  {marks.dim(item.step_id)}"
            case StepOutput(step_id=step_id, stream=stream, text=text):
                for line in self._printed.feed((step_id, stream), text):
                    yield self._printed_line(step_id, line)
            case StepRetrying():
                yield f"{marks.waits} {item.step_id}: {retry_text(item)}"
            case StepSettled():
                yield from self._settled(item)
            case CompensationStarted(phases=phases):
                yield marks.bold(f"on_failure: {', '.join(phases)}")
            case GatePending():
                yield from gate_text(item).splitlines()
            case PointWaiting():
                yield from point_text(item).splitlines()
            case RunStarted(time=time):
                self._began = time
            case RunSettled(time=time):
                self._took = f" in {duration_text(round((time - self._began) * 1000))}"
            case RecordWritten(record=record):
                last = marks.bold(verdict_text(record, self._took))
                yield f"{marks.of(str(record['status']))} {last}"
            case _:
                return

    def _settled(self, event: StepSettled) -> Iterator[str]:
        for line in self._printed.rest(event.step_id):
            yield self._printed_line(event.step_id, line)
        marks, text = self._marks, settled_text(event)
        took = duration_text(event.duration_ms) if event.attempts else ""
        words = [f"{event.title}  {marks.dim(event.step_id)}", text, marks.dim(took)]
        yield f"{marks.of(event.status)} " + "  ".join(word for word in words if word)

    def _printed_line(self, step_id: str, line: str) -> str:
        return f"  {self._marks.dim(f'{step_id} {self._marks.bar}')} {line}"


def _size(plan: Plan) -> str:
    phases, steps = len(plan.phases), len(plan.steps)
    return f"{counted(phases, 'phase')}, {counted(steps, 'step')}"

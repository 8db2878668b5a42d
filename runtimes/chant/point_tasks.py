"""A run's questions on a real project: looked up, put to their deciders, written to the ledger.

Called on leaf threads: each method may wait for disk and git, `open_call` for a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.errors import OpsError
from ops.points_asking import ModelWanted, NotReached, Settled, Undecided, after_model, ask
from ops.points_book import Asker, fact_of, is_open
from ops.points_ledger import PointLedger
from ops.points_reply import SYSTEM, question_text
from ops.run_values import PointAnswered
from ops.stewards import capabilities_of
from runtimes.models.base import Message, ModelRequest, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.git import Stopping
    from ops.ledger import Ledger
    from ops.plan import Plan
    from ops.points import Point, Points
    from ops.points_asking import Asked, Said
    from ops.project import Project
    from ops.run_values import AskPoint, RunContext
    from runtimes.models.base import Cancel, ModelEvent, Provider

MAX_REPLY_TOKENS = 1024
TOLD = ("id", "point", "state", "by")
"""What of an answered question becomes the step's output, beside the answer."""


@dataclass(frozen=True, slots=True)
class PointLooked:
    """What came of a question: an answer for the run, or a model that has to be called first."""

    point: Point
    answer: PointAnswered | None = None
    wanted: ModelWanted | None = None
    remarks: tuple[str, ...] = ()


class PointTasks:
    """The questions of one run."""

    def __init__(
        self,
        *,
        points: Points,
        project: Project,
        ledger: Ledger | None,
        context: RunContext,
        plan: Plan,
        provider: Callable[[str], Provider],
        wall: Callable[[], float],
    ) -> None:
        """Work for the run ``context`` of ``plan``.

        ``provider`` finds a model's provider by name, or raises
        `runtimes.models.providers.ProviderMissing`.
        """
        self._points = points
        self._capabilities = capabilities_of(project, context.steward)
        self._ledger = None if ledger is None else PointLedger(ledger)
        self._context = context
        self._plan = plan
        self._provider = provider
        self._wall = wall

    def ask(self, asked: AskPoint, stop: Stopping) -> PointLooked:
        """Ask; the same question was perhaps asked before, and then it is not asked again."""
        point = self._points.find(asked.step.point or "")
        try:
            inputs = point.typed(asked.args)
            remarks: tuple[str, ...] = ()
            if self._ledger is not None:
                remarks = tuple(f"warning: {each}" for each in self._ledger.refresh(stop))
                known = self._ledger.find(point.question_id(inputs))
                if known is not None:
                    return PointLooked(point, _told(asked.step_id, known), remarks=remarks)
            asker = self._asker(asked.step_id)
            went = ask(point, inputs, asker, self._capabilities, self._wall())
            return self._looked(point, asked.step_id, went, stop, remarks)
        except OpsError as error:
            return PointLooked(point, _failed(asked.step_id, error.message))

    def after_model(
        self,
        point: Point,
        step_id: str,
        wanted: ModelWanted,
        said: Said | NotReached,
        stop: Stopping,
    ) -> PointLooked:
        """Go on with what a model said."""
        try:
            went = after_model(point, wanted, said, self._wall())
            return self._looked(point, step_id, went, stop, ())
        except OpsError as error:
            return PointLooked(point, _failed(step_id, error.message))

    def open_call(self, point: Point, wanted: ModelWanted, cancel: Cancel) -> Iterator[ModelEvent]:
        """Call the model."""
        said = Text(question_text(point, wanted.record["inputs"]))
        request = ModelRequest(
            model=wanted.decider.model,
            messages=(Message("user", (said,)),),
            system=SYSTEM,
            max_output_tokens=MAX_REPLY_TOKENS,
            temperature=0.0,
        )
        return self._provider(wanted.decider.provider).stream(request, cancel)

    def _looked(
        self, point: Point, step_id: str, went: Asked, stop: Stopping, remarks: tuple[str, ...]
    ) -> PointLooked:
        match went:
            case Undecided(reason):
                return PointLooked(point, _failed(step_id, reason), remarks=remarks)
            case ModelWanted() if self._ledger is not None:
                return PointLooked(point, wanted=went, remarks=remarks)
            case Settled(record) if self._ledger is not None:
                if stop.is_set():
                    return PointLooked(point, _failed(step_id, "the run was cancelled"))
                kept = self._ledger.keep(went, stop)
                late = tuple(f"warning: {each}" for each in kept.warnings)
                return PointLooked(point, _told(step_id, kept.record), remarks=(*remarks, *late))
            case Settled(record) if not is_open(record):
                return PointLooked(point, _told(step_id, record))
            case _:
                reason = "its table has no answer, and without the ledger nobody else can be asked"
                return PointLooked(point, _failed(step_id, reason))

    def _asker(self, step_id: str) -> Asker:
        context, plan = self._context, self._plan
        return Asker(
            context.origin,
            actor=context.actor,
            steward=context.steward,
            op=plan.op,
            env=plan.env,
            run_id=context.run_id,
            step_id=step_id,
            params=plan.params,
        )


def _told(step_id: str, record: Mapping[str, Any]) -> PointAnswered:
    fact = fact_of(record)
    if is_open(record):
        return PointAnswered(step_id, "open", fact=fact)
    told = {name: fact[name] for name in TOLD}
    return PointAnswered(step_id, "answered", record["answer"], told)


def _failed(step_id: str, reason: str) -> PointAnswered:
    return PointAnswered(step_id, "failed", error=reason)

"""Recording what a client said of a gate: the work of a leaf thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.errors import LedgerError, OpsError
from ops.gate_book import UNATTESTED
from ops.gates import GateAnswer
from ops.run_values import GateAnswered
from runtimes.chant.error_text import reason_of
from runtimes.chant.permission_turn import AnswerGiven
from runtimes.chant.permissions import ALLOW

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.work import WorkContext
    from ops.gate_ledger import Answered
    from runtimes.chant.permission_turn import Next
    from runtimes.chant.permissions import OpenRequest, OptionId, PermissionDesk
    from runtimes.chant.run_tasks import AnswerTasks


def answering_request(
    open_request: OpenRequest, option: OptionId, tasks: AnswerTasks, desk: PermissionDesk
) -> Callable[[WorkContext], AnswerGiven]:
    """Return the work that records an answer; ``tasks`` are those of the command that stopped."""

    def answer(context: WorkContext) -> AnswerGiven:
        given = _answer(open_request, option)
        if context.cancel.is_set():
            return AnswerGiven("cancelled before the answer was recorded", "end")
        try:
            answered = tasks.answer(given, context.cancel)
        except LedgerError as error:
            # Not answered, then: the client may try again.
            desk.open(open_request)
            return AnswerGiven(f"the gate stays shut: {error.message}", "refuse")
        except (OpsError, OSError) as error:
            return AnswerGiven(f"the gate stays shut: {reason_of(error)}", "refuse")
        then: Next = "run" if option == ALLOW else _after_rejection(open_request.fact, tasks)
        return AnswerGiven("\n".join([_told(answered, then), *answered.warnings]), then)

    return answer


def denial(fact: Mapping[str, Any]) -> GateAnswered:
    """Return what the run hears that cleans up after a rejection."""
    error = f"the client rejected it; run {fact['run_id']} had asked"
    return GateAnswered(fact["step"], "rejected", fact, error)


def _answer(open_request: OpenRequest, option: OptionId) -> GateAnswer:
    fact = open_request.fact
    return GateAnswer(
        op=fact["op"],
        gate=fact["gate"],
        verdict="approved" if option == ALLOW else "rejected",
        approver=UNATTESTED,
        channel="acp",
        attested=False,
        env=fact["env"],
        run_id=fact["run_id"],
        note=f"request {open_request.request_id}",
        asked_by_us=True,
    )


def _after_rejection(fact: Mapping[str, Any], tasks: AnswerTasks) -> Next:
    """Clean up as after any failure, if the Op still is the one that stopped and says how."""
    try:
        plan = tasks.plan()
    except OpsError:
        return "end"
    stopped = fact["op_digest"], fact["params_digest"], fact["env"]
    same = (plan.op_digest, plan.params_digest, plan.env) == stopped
    return "clean_up" if same and plan.on_failure else "end"


def _told(answered: Answered, then: Next) -> str:
    pending = answered.pending
    gate = f"gate {pending.gate} of {pending.op} in {pending.env}"
    match then:
        case "run":
            return f"{gate} is approved over acp; running the command line again"
        case "clean_up":
            return f"{gate} is rejected over acp; cleaning up after run {pending.run_id}"
        case _:
            return f"{gate} is rejected over acp; a run that comes to it asks again"

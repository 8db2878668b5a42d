"""Whether an Op may run by itself: judged by its newest run, and by what others do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.gate_facts import GateAsk
from ops.gate_ledger import GateLedger
from ops.gates import GateAnswer
from ops.in_flight import InFlight
from ops.ledger import Ledger, open_ledger
from ops.points_asking import people_only
from ops.points_book import fact_of
from ops.points_ledger import PointLedger
from ops.project import LedgerSettings
from ops.waits import Wait, judge
from tests.ops.projects import repository
from tests.ops.questions import NOW_S, asker, point, voice

if TYPE_CHECKING:
    from pathlib import Path

    from ops.gate_facts import Verdict


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = open_ledger(str(repository(tmp_path / "repo")), LedgerSettings())
    assert isinstance(opened, Ledger)
    return opened


def ran(ledger: Ledger, status: str, **more: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": f"r-{status}",
        "op": "release",
        "env": "prod",
        "status": status,
        "ended": "x",
    }
    record |= {"gate": None, "point": None, **more}
    ledger.append_run(record)
    return record


def look(ledger: Ledger) -> Wait:
    return judge(ledger, "prod", "release", NOW_S)


class Never:
    def is_set(self) -> bool:
        return False


@pytest.mark.parametrize("status", ["ok", "fail", "cancelled", "interrupted"])
def test_a_run_that_is_over_keeps_nothing(ledger: Ledger, status: str) -> None:
    assert look(ledger) == Wait("free")

    ran(ledger, status)

    assert look(ledger) == Wait("free")


def test_an_open_question_keeps_the_op_until_it_is_answered(ledger: Ledger) -> None:
    questions = PointLedger(ledger)
    kept = questions.keep(people_only(point(), {"risk": "odd"}, asker(), NOW_S))
    question_id = kept.record["id"]
    ran(ledger, "waiting", point=fact_of(kept.record))

    assert look(ledger) == Wait("waits", f"question {question_id}")
    questions.answer(question_id, [voice("ann")], "yes", "", NOW_S)
    assert look(ledger) == Wait("ready", f"question {question_id}")
    questions.retract(question_id, voice("ann"), "", NOW_S)
    assert look(ledger).state == "waits"


@pytest.mark.parametrize(
    ("verdict", "state"), [("approved", "ready"), ("rejected", "free"), ("expired", "free")]
)
def test_a_shut_gate_keeps_the_op_until_people_have_spoken(
    ledger: Ledger, verdict: Verdict, state: str
) -> None:
    gates = GateLedger(ledger)
    ask = GateAsk(
        op="release",
        gate="window",
        env="prod",
        run_id="r",
        step_id="s",
        op_digest="d",
        params_digest="p",
        params={},
        description="",
        timeout_s=3600.0,
        quorum=1,
        roles=(),
        reuse=False,
        channel="operator",
    )
    reached, _ = gates.reach(ask, NOW_S, Never())
    ran(ledger, "gated", gate={**reached.fact, "name": "window"})

    assert look(ledger) == Wait("waits", "gate window")
    gates.answer(GateAnswer("release", "window", verdict, "ann", "cli"), NOW_S)
    assert look(ledger).state == state


def test_a_run_that_goes_on_elsewhere_keeps_the_op(ledger: Ledger) -> None:
    record = {"id": "r9", "op": "release", "env": "prod", "status": "running"}
    marker = InFlight(ledger.state_dir).begin(record)

    assert look(ledger).state == "busy"
    assert judge(ledger, "local", "release", NOW_S).state == "free"
    marker.end()
    assert look(ledger).state == "free"

"""What an operator decides, on a clock that only moves in these lines."""

from __future__ import annotations

import datetime as dt

from ops.cron import parse_cron
from runtimes.chant.operator.state import (
    CancelRun,
    Finish,
    JudgeOp,
    Nap,
    OperatorEffect,
    OperatorInput,
    OperatorState,
    OpJudged,
    RunOver,
    StartRun,
    StopAsked,
    Tell,
    Woken,
)

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC).timestamp()
MINUTE = 60.0


class Played:
    """One state, and the time."""

    def __init__(self, *, once: bool = False, **schedule: str) -> None:
        crons = {name: [parse_cron(text)] for name, text in schedule.items()}
        self.state = OperatorState(crons, once=once)
        self.now_s = NOON
        self.told: list[str] = []

    def hear(self, event: OperatorInput) -> list[OperatorEffect]:
        """Return the effects, without lines for the log and naps."""
        effects = self.state.handle(event, self.now_s)
        self.told += [each.text for each in effects if isinstance(each, Tell)]
        return [each for each in effects if not isinstance(each, Tell | Nap)]

    def wake(self, after_s: float = 0.0) -> list[OperatorEffect]:
        self.now_s += after_s
        return self.hear(Woken())

    def naps(self, after_s: float = 0.0) -> list[float]:
        self.now_s += after_s
        effects = self.state.handle(Woken(), self.now_s)
        return [each.delay_s for each in effects if isinstance(each, Nap)]

    def run_through(self, op: str, status: str = "ok", reason: str = "") -> list[OperatorEffect]:
        """Judge an Op free, run it, and return what its end brings."""
        assert self.hear(OpJudged(op, "free")) == [StartRun(op)]
        return self.hear(RunOver(op, status, "r1", reason))


def test_nothing_runs_before_it_is_due_and_then_it_is_judged_first() -> None:
    played = Played(a="*/15 * * * *")

    assert played.wake() == []
    assert played.wake(14 * MINUTE) == []
    assert played.wake(MINUTE) == [JudgeOp("a")]
    assert played.hear(OpJudged("a", "free")) == [StartRun("a")]
    assert played.hear(RunOver("a", "ok", "r1")) == []
    assert played.wake(MINUTE) == []


def test_it_naps_until_the_next_op_is_due_but_never_long() -> None:
    played = Played(a="*/15 * * * *")

    assert played.naps() == [30.0]
    assert played.naps(14 * MINUTE + 50) == [10.0]


def test_one_op_runs_at_a_time_and_the_others_stand_in_line() -> None:
    played = Played(a="*/15 * * * *", b="*/15 * * * *")
    played.wake()

    assert played.wake(15 * MINUTE) == [JudgeOp("a")]
    assert played.run_through("a") == [JudgeOp("b")]
    assert played.run_through("b") == []


def test_an_op_that_comes_due_while_it_runs_is_skipped() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()
    played.wake(15 * MINUTE)
    played.hear(OpJudged("a", "free"))

    assert played.wake(15 * MINUTE) == []
    assert "a, due 2026-11-30T12:30:00.000Z, is skipped: it runs still" in played.told
    assert played.hear(RunOver("a", "ok", "r1")) == []
    assert played.wake(15 * MINUTE) == [JudgeOp("a")]


def test_an_op_stands_in_line_only_once() -> None:
    played = Played(a="*/15 * * * *", b="*/5 * * * *")
    played.wake()
    played.wake(15 * MINUTE)
    played.hear(OpJudged("a", "free"))

    played.wake(5 * MINUTE)
    played.wake(5 * MINUTE)

    assert sum("stands in line already" in text for text in played.told) == 2
    assert played.hear(RunOver("a", "ok", "r1")) == [JudgeOp("b")]
    assert played.run_through("b") == []


def test_times_that_were_missed_are_not_made_up_for() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()

    assert played.wake(5 * 60 * MINUTE) == [JudgeOp("a")]
    assert played.run_through("a") == []
    assert played.wake() == []


def test_an_op_that_waits_is_skipped_and_runs_once_people_have_spoken() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()
    played.wake(15 * MINUTE)
    played.run_through("a", "waiting", "question q")

    assert played.wake(30) == [JudgeOp("a")]
    assert played.hear(OpJudged("a", "waits", "question q")) == []
    assert played.wake(30) == [JudgeOp("a")]
    assert played.hear(OpJudged("a", "ready", "question q")) == [StartRun("a")]
    assert played.state.waiting == {}


def test_waiting_is_told_once_and_at_each_time_it_is_due() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()
    for _ in range(2):
        assert played.wake(15 * MINUTE) == [JudgeOp("a")]
        played.hear(OpJudged("a", "waits", "gate g"))
        for _ in range(4):
            played.wake(30)
            played.hear(OpJudged("a", "waits", "gate g"))

    assert played.told.count("a is skipped: it waits on gate g") == 2


def test_a_rejected_gate_lets_the_op_run_when_it_is_due_and_not_at_once() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()
    played.wake(15 * MINUTE)
    played.run_through("a", "gated", "gate g")
    played.wake(30)

    assert played.hear(OpJudged("a", "free")) == []
    assert played.wake(30) == []
    assert played.wake(15 * MINUTE) == [JudgeOp("a")]


def test_an_op_that_runs_elsewhere_or_cannot_be_judged_is_skipped() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()

    for state in ("busy", "failed"):
        played.wake(15 * MINUTE)
        assert played.hear(OpJudged("a", state, "why")) == []
        assert played.told[-1].startswith("a is skipped: ")
        assert "why" in played.told[-1]


def test_a_clock_that_is_set_back_is_followed() -> None:
    played = Played(a="0 * * * *")
    played.wake()
    played.wake(60 * MINUTE)
    played.run_through("a")

    assert played.wake(-24 * 60 * MINUTE) == []
    assert "the clock was set back: the schedule follows it" in played.told
    assert played.wake(60 * MINUTE) == [JudgeOp("a")]


def test_a_small_correction_of_the_clock_runs_nothing_twice() -> None:
    played = Played(a="0 * * * *")
    played.wake()
    played.wake(60 * MINUTE)
    played.run_through("a")

    assert played.wake(-10) == []
    assert played.wake(10) == []


def test_once_gives_every_op_its_turn_and_ends() -> None:
    played = Played(once=True, a="0 0 1 1 *", b="0 0 1 1 *")

    assert played.wake() == [JudgeOp("a")]
    assert played.run_through("a", "fail") == [JudgeOp("b")]
    assert played.hear(OpJudged("b", "waits", "question q")) == [Finish()]
    assert played.state.last["a"].status == "fail"
    assert played.state.waiting == {"b": "question q"}
    assert played.wake() == []


def test_once_with_nothing_to_do_ends_at_once() -> None:
    assert Played(once=True).wake() == [Finish()]


def test_an_idle_operator_ends_when_it_is_asked_to() -> None:
    played = Played(a="0 * * * *")
    played.wake()

    assert played.hear(StopAsked()) == [Finish()]
    assert played.hear(StopAsked()) == []


def test_a_run_is_cancelled_first_and_nothing_starts_after_it() -> None:
    played = Played(a="*/15 * * * *", b="*/15 * * * *")
    played.wake()
    played.wake(15 * MINUTE)
    played.hear(OpJudged("a", "free"))

    assert played.hear(StopAsked()) == [CancelRun(hard=False)]
    assert played.wake(60 * MINUTE) == []
    assert played.hear(StopAsked(hard=True)) == [CancelRun(hard=True)]
    assert played.hear(RunOver("a", "cancelled", "r1")) == [Finish()]


def test_a_judgement_that_comes_after_the_end_was_asked_for_starts_nothing() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()
    played.wake(15 * MINUTE)

    assert played.hear(StopAsked()) == [Finish()]
    assert played.hear(OpJudged("a", "free")) == []


def test_what_is_late_or_of_another_op_changes_nothing() -> None:
    played = Played(a="*/15 * * * *")
    played.wake()

    assert played.hear(OpJudged("a", "free")) == []
    assert played.hear(RunOver("b", "ok")) == []


def test_a_year_of_runs_leaves_nothing_behind() -> None:
    played = Played(a="0 * * * *")
    played.wake()
    for _ in range(24 * 365):
        assert played.wake(60 * MINUTE) == [JudgeOp("a")]
        assert played.run_through("a") == []
        played.told.clear()

    assert list(played.state.last) == ["a"]
    assert played.state.waiting == {}
    assert not played.state._line

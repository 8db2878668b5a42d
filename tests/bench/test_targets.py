"""Targets judge the figures of one run."""

from __future__ import annotations

import pytest

from bench.report import table, verdicts
from bench.target import Target, Verdict
from bench.targets import TARGETS, judge

START_UP = {
    "chant": {"initialize_ms": 40.0, "session_new_ms": 6.0},
    "Python SDK": {"initialize_ms": 320.0, "session_new_ms": 1.0},
}


@pytest.mark.parametrize(
    ("relation", "value", "met"),
    [("≤", 2, True), ("≤", 2.1, False), ("≥", 2, True), ("≥", 1.9, False), ("=", 2, True)],
)
def test_a_target_is_met_at_its_bar(relation: str, value: float, met: bool) -> None:  # noqa: FBT001
    target = Target("t", "start_up", lambda _: value, relation, 2, "ms")  # type: ignore[arg-type]

    assert Verdict(target, value).met is met


def test_ratios_are_of_agents_of_the_same_run_and_absent_peers_are_said() -> None:
    judged = {verdict.target.title: verdict for verdict in judge({"start_up": START_UP})}

    to_python = judged["spawn to answered initialize, to the Python SDK's agent"]
    to_typescript = judged["spawn to answered initialize, to the TypeScript SDK's agent"]
    after = judged["session/new after it"]
    assert (to_python.value, to_python.met) == (0.125, True)
    assert (to_typescript.value, to_typescript.met) == (None, None)
    assert (after.value, after.met) == (6.0, False)


def test_what_was_not_measured_is_not_judged() -> None:
    assert judge({}) == []
    assert len({target.title for target in TARGETS}) == len(TARGETS)


def test_the_report_states_each_target_and_counts() -> None:
    text = verdicts(judge({"start_up": START_UP}))

    assert "NOT MET" in text
    assert "not measured" in text
    assert text.endswith("1 met, 1 not met, 1 not measured")


def test_a_table_has_a_line_for_each_agent_and_a_gap_for_what_is_missing() -> None:
    text = table("Start", {"a": {"ms": 1.0, "n": 20_000.0}, "b": {"ms": 0.123456}})

    assert text.splitlines() == [
        "Start",
        "        ms       n",
        "  a      1  20,000",
        "  b  0.123       –",
    ]

"""A conversation that outgrows its model, which llmock counts its own way, and judges us by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.judges.far import configure
from tests.judges.formats import FORMATS
from tests.judges.test_llmock_tasks import BASES
from tests.runtimes.models.judges import llmock, told
from tests.runtimes.radian.box import make_box, objects

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box

pytestmark = pytest.mark.slow

WORDS = "Remember this: " + "one more word " * 500
WINDOW = 8000
TURNS = 6


def results(box: Box) -> list[dict[str, Any]]:
    """Run some turns of one session, each longer by the same."""
    ended: list[dict[str, Any]] = []
    for turn in range(1, TURNS + 1):
        session = ("--resume", "s1") if turn > 1 else ("--session-id", "s1")
        flags = ("--provider", "far", "--output", "json", "--profile", "read-only", *session)
        ended += objects(box.run("exec", "-p", f"{turn} {WORDS}", *flags).stdout)
    return ended


@pytest.mark.parametrize("kind", FORMATS)
def test_it_is_summarised_when_it_is_refused_and_goes_on(kind: str, tmp_path: Path) -> None:
    box = make_box(tmp_path)
    with llmock("--context-window", str(WINDOW)) as judge:
        configure(box, kind, judge + BASES[kind])
        ended = results(box)
        verdict = told(f"{judge}/_llmock/verdict")

    assert [each["status"] for each in ended] == ["completed"] * TURNS
    assert sum(each["run_metrics"]["compactions"] for each in ended) >= 1
    assert verdict["findings"] == []


def test_it_is_never_refused_where_the_window_is_known(tmp_path: Path) -> None:
    box = make_box(tmp_path)
    with llmock("--context-window", str(WINDOW)) as judge:
        window = f"context_window = {WINDOW}\n"
        configure(box, "openai-compatible", judge + BASES["openai-compatible"], window)
        ended = results(box)
        verdict = told(f"{judge}/_llmock/verdict")

    assert [each["status"] for each in ended] == ["completed"] * TURNS
    assert sum(each["run_metrics"]["compactions"] for each in ended) >= 1
    assert all(each["run_metrics"]["context_tokens"] < WINDOW for each in ended)
    assert verdict["faults_injected"] == 0
    assert verdict["findings"] == []

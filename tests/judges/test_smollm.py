"""Words that nobody scripted: a real tiny model streams through both surfaces of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.talk import chunk_text
from tests.judges.far import configure, exec_words
from tests.runtimes.models.judges import smollm, told
from tests.runtimes.radian.acp.client import Client
from tests.runtimes.radian.box import make_box, objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.runtimes.radian.box import Box

pytestmark = pytest.mark.slow

SHORT = "Say hello in one short sentence."
LONG = "Write a long story about a dragon, with many chapters."
SOME = 3
"""Pieces that a streamed sentence has at least."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with smollm() as url:
        yield url


@pytest.fixture
def box(model: str, tmp_path: Path) -> Box:
    made = make_box(tmp_path)
    configure(made, "openai-compatible", f"{model}/v1")
    return made


def test_what_it_says_is_streamed_kept_counted_and_gone_on_from(box: Box) -> None:
    first = box.run(*exec_words(prompt=SHORT))
    words = ("exec", "-p", "Say it again.", "--provider", "far", "--output", "json")
    second = box.run(*words, "--resume", "s1")

    said = objects(first.stdout)
    pieces = [each["delta"] for each in said if each["type"] == "Text"]
    result = said[-1]
    assert (first.returncode, result["status"]) == (0, "completed"), first.stderr
    assert len(pieces) >= SOME
    assert "".join(pieces) == result["text"] != ""
    metrics = result["run_metrics"]
    assert metrics["output_tokens"] >= len(pieces)
    (again,) = objects(second.stdout)
    assert (second.returncode, again["status"]) == (0, "completed"), second.stderr
    # What it said the first time was told to it the second time.
    assert again["run_metrics"]["input_tokens"] > metrics["input_tokens"] + len(pieces)


def test_an_editor_sees_it_word_by_word_and_can_cancel_it(box: Box, model: str) -> None:
    before = told(f"{model}/left")["left"]
    with Client(box, "--provider", "far") as client:
        client.open()
        whole = client.turn(SHORT)

        request = client.prompt(LONG)
        client.until(lambda message: chunk_text(message) != "")
        client.cancel()
        cut = client.finish(request)

        # One at a time: this is answered once the story is given up.
        after = client.turn(SHORT)

    assert whole.stop_reason == after.stop_reason == "end_turn"
    assert len(whole.updates("agent_message_chunk")) >= SOME
    assert whole.text != ""
    assert cut.stop_reason == "cancelled"
    assert told(f"{model}/left")["left"] == before + 1

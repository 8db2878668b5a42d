"""Prompts: a command line of chant, or a refusal that says why."""

from __future__ import annotations

import pytest

from runtimes.chant.parsing import HelpAsked
from runtimes.chant.prompts import PromptRefused, read_prompt
from runtimes.chant.verbs.run import RUN
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import Invocation


@pytest.mark.parametrize(
    "text", ["chant run a", "run a", "/run a", " run\n\ta ", "chant 'run' \"a\""]
)
def test_a_leading_chant_or_slash_may_stand_before_the_verb(text: str) -> None:
    assert read_prompt([text], VERBS) == Invocation(RUN, {"OP": ("a",)})


def test_several_text_blocks_are_one_line() -> None:
    assert read_prompt(["run", "a"], VERBS) == Invocation(RUN, {"OP": ("a",)})


@pytest.mark.parametrize(
    "text",
    [
        'chant run "prod',
        "chant run 'a",
        "chant run a\\",
        "",
        "  ",
        "run",
        "chant",
        "rm -rf /",
        "Chant RUN a",
        "chant chant run a",
        "/chant run a",
        "/",
        "run a && list",
        "run a; list",
    ],
)
def test_what_is_no_line_of_chant_is_refused_with_a_reason(text: str) -> None:
    found = read_prompt([text], VERBS)

    assert isinstance(found, PromptRefused)
    assert found.reason.endswith("; nothing was run")


@pytest.mark.parametrize("text", ["acp", "chant acp serve", "acp --grace 3"])
def test_serving_inside_a_session_is_refused(text: str) -> None:
    found = read_prompt([text], VERBS)

    assert isinstance(found, PromptRefused)
    assert "can't be prompted: it would serve a second client" in found.reason


def test_help_is_shown_also_for_a_verb_that_cannot_be_prompted() -> None:
    assert isinstance(read_prompt(["acp --help"], VERBS), HelpAsked)
    assert read_prompt(["run --help"], VERBS) == HelpAsked(RUN)


@pytest.mark.parametrize(
    "texts", [["x" * 65_537], ["é" * 32_769], ["x" * 40_000] * 2, ["", *["x"] * 65_537]]
)
def test_a_long_prompt_is_refused_before_it_is_joined_or_split(texts: list[str]) -> None:
    found = read_prompt(texts, VERBS)

    assert found == PromptRefused("the prompt is longer than 64 KiB; nothing was run")


def test_a_prompt_without_text_is_refused() -> None:
    assert isinstance(read_prompt([], VERBS), PromptRefused)

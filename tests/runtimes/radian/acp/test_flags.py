"""Flags of `radian acp`: those of a conversation, the same as for `radian exec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.exec_flags import FLAGS
from runtimes.radian.flags import CONVERSATION, FlagsMisused, read_flags
from runtimes.radian.options import conversation_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.radian.flags import Flag
    from tests.runtimes.radian.box import Box

VALUES = ("workspace", "high", "12", "0.5", "shell(make *)", "/", "s-1", "", "-x")
EXEC_ONLY = (["-p", "-"], ["--output", "jsonl"], ["--yes"])


def given_flag(flag: Flag) -> st.SearchStrategy[list[str]]:
    if not flag.value:
        return st.just([flag.name])
    value = st.sampled_from(VALUES)
    return st.one_of(
        value.map(lambda text: [flag.name, text]), value.map(lambda text: [f"{flag.name}={text}"])
    )


conversation = st.lists(st.sampled_from(CONVERSATION).flatmap(given_flag), max_size=6)


def options_of(argv: Sequence[str], flags: Sequence[Flag]) -> object:
    try:
        return conversation_options(read_flags(argv, flags))
    except FlagsMisused as error:
        return str(error)


@given(conversation, st.permutations(EXEC_ONLY), st.data())
def test_the_flags_a_wrapper_builds_for_exec_are_accepted_without_its_inputs(
    groups: list[list[str]], own: list[list[str]], data: st.DataObject
) -> None:
    wrapped = list(groups)
    for group in own:
        wrapped.insert(data.draw(st.integers(0, len(wrapped))), group)

    acp = options_of([word for group in groups for word in group], CONVERSATION)

    assert acp == options_of([word for group in wrapped for word in group], FLAGS)


def test_the_flags_of_a_conversation_have_the_defaults_of_exec() -> None:
    own = [word for group in EXEC_ONLY for word in group]

    assert options_of([], CONVERSATION) == options_of(own, FLAGS)


@pytest.mark.parametrize(
    "flag", sorted({flag.name for flag in FLAGS} - {flag.name for flag in CONVERSATION})
)
def test_the_flags_line_prompt_and_print_and_exit_inputs_are_absent(box: Box, flag: str) -> None:
    run = box.run("acp", flag)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"radian acp: no such flag: {flag}")


@pytest.mark.parametrize("words", [["--max-cost", "much"], ["--trust", "--no-trust"], ["serve"]])
def test_a_wrong_flag_is_said_on_stderr_and_nothing_starts(box: Box, words: list[str]) -> None:
    run = box.run("acp", *words)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1


def test_help_shows_the_conversation_flags_and_no_other(box: Box) -> None:
    shown = box.run("acp", "--help").stdout

    assert all(flag.name in shown for flag in CONVERSATION)
    assert "--prompt" not in shown

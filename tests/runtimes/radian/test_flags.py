"""The conversation flags are one table for every command that has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.exec_flags import FLAGS
from runtimes.radian.flags import CONVERSATION, FlagsMisused, read_flags
from runtimes.radian.options import conversation_options

VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    words: list[str] = []
    for flag in draw(st.lists(st.sampled_from(CONVERSATION))):
        if not flag.value:
            words.append(flag.name)
        elif draw(st.booleans()):
            words += [flag.name, draw(VALUES)]
        else:
            words.append(f"{flag.name}={draw(VALUES)}")
    return words


@given(command_lines())
def test_a_line_for_exec_reads_alike_for_acp_once_its_own_flags_are_gone(words: list[str]) -> None:
    alone: dict[str, Any] = read_flags(words, CONVERSATION)
    with_more = read_flags([*words, "-p", "-", "--output", "jsonl", "--yes"], FLAGS)

    assert {key: with_more[key] for key in alone} == alone
    assert with_more.keys() - alone.keys() == {"prompt", "output", "yes"}


@given(command_lines())
def test_any_value_is_an_option_or_a_complaint_of_one_line(words: list[str]) -> None:
    complaint = ""
    try:
        conversation_options(read_flags(words, CONVERSATION))
    except FlagsMisused as error:
        complaint = str(error)

    assert "\n" not in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--modle", "x"], "did you mean --model"),
        (["--yolo"], "^no such flag: --yolo$"),
        (["--debug"], "^no such flag: --debug$"),
        (["--model"], "--model needs a value"),
        (["--no-user-config=1"], "takes no value"),
        (["stray"], "unexpected word: stray"),
        (["--max-model-calls", "9" * 5000], "must be a whole number from 0 on"),
        (["--max-output-tokens", "9" * 5000], "must be a whole number from 1 on"),
        (["--max-cost", "1e999999"], "must be US dollars"),
        (["--max-cost", "-1"], "must be US dollars"),
        (["--turn-timeout", "1e300"], "must be over 0 and at most 31622400 seconds"),
        (["--turn-timeout", "0"], "must be over 0 and at most 31622400 seconds, not '0'"),
        (["--turn-timeout", "nan"], "must be over 0 and at most 31622400 seconds"),
    ],
)
def test_what_can_not_be_read_is_named(words: list[str], said: str) -> None:
    with pytest.raises(FlagsMisused, match=said):
        conversation_options(read_flags(words, CONVERSATION))


def test_zero_calls_mean_no_limit() -> None:
    assert conversation_options({}).max_model_calls == 200
    assert conversation_options({"max_model_calls": "0"}).max_model_calls is None

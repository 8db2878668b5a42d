"""What counts as an answer of a hook, by values; everything else is a failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.work import Captured, StepEnd
from runtimes.radian.hook_answers import MAX_ANSWER_BYTES, Allowed, Denied, Failed, read_answer


def exited(code: int = 0, stdout: str = "", stderr: str = "") -> StepEnd:
    out, err = (Captured(text, len(text.encode())) for text in (stdout, stderr))
    return StepEnd("s", "exited", exit_code=code, stdout=out, stderr=err)


@pytest.mark.parametrize("blank", ["", "\n", "  \n\t"])
def test_nothing_said_lets_it_pass(blank: str) -> None:
    assert read_answer("before_tool", exited(stdout=blank, stderr="noise")) == Allowed()


def test_exit_code_2_denies_with_stderr_as_the_reason_whatever_stdout_says() -> None:
    allows = exited(2, '{"decision": "allow"}', " not on Fridays\n")

    assert read_answer("before_tool", allows) == Denied("not on Fridays")
    assert read_answer("before_tool", exited(2)) == Denied("it gave no reason")


def test_an_object_is_read_key_by_key() -> None:
    text = '{"decision": "allow", "input": {"a": 1}, "context": " c ", "message": "m"}\n'

    assert read_answer("before_tool", exited(stdout=text)) == Allowed({"a": 1}, "c", "m")


def test_half_a_character_does_not_cost_the_answer() -> None:
    said = exited(stdout=r'{"decision": "deny", "reason": "not \udcff"}')

    assert read_answer("before_tool", said) == Denied("not \ufffd")


@pytest.mark.parametrize(
    "stdout",
    [
        "hello",
        "true",
        "[]",
        "null",
        '{"decision": "allow"} trailing',
        '{"decision": "allow"}\n{"decision": "allow"}',
        'log line\n{"decision": "allow"}',
        "{}",
        '{"decision": "ALLOW"}',
        '{"decision": true}',
        '{"decision": "allow", "veto": true}',
        '{"decision": "allow", "reason": 7}',
        '{"decision": "allow", "context": null}',
        '{"decision": "allow", "input": []}',
        '{"decision": "allow", "input": null}',
        '{"decision": "deny", "context": "x"}',
        '{"decision": "deny", "input": {}}',
    ],
)
def test_everything_else_on_stdout_is_a_failure(stdout: str) -> None:
    assert isinstance(read_answer("before_tool", exited(stdout=stdout)), Failed)


@pytest.mark.parametrize(
    "event", ["session_start", "user_prompt", "after_tool", "before_stop", "session_end"]
)
def test_only_before_tool_may_rewrite_an_input(event: str) -> None:
    text = '{"decision": "allow", "input": {}}'

    assert isinstance(read_answer(event, exited(stdout=text)), Failed)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["failed", "cancelled", "timed_out", "lost"])
def test_a_hook_that_did_not_come_to_its_end_has_failed(kind: str) -> None:
    end = StepEnd("s", kind, exit_code=0, stdout=Captured('{"decision":"allow"}', 20))  # type: ignore[arg-type]

    assert isinstance(read_answer("user_prompt", end), Failed)


def test_an_answer_that_was_cut_is_none() -> None:
    end = StepEnd("s", "exited", exit_code=0, stdout=Captured("{}", MAX_ANSWER_BYTES + 1))

    assert isinstance(read_answer("user_prompt", end), Failed)


@given(code=st.integers(0, 255), stdout=st.text(max_size=60), stderr=st.text(max_size=60))
def test_no_stray_output_ever_decides(code: int, stdout: str, stderr: str) -> None:
    found = read_answer("before_tool", exited(code, stdout, stderr))

    if (code == 0 and stdout.strip()) or code not in {0, 2}:
        assert isinstance(found, Failed)

"""The hooks of one event and of one call, by values: their order, their verdict, a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from actors.turn import AbortStep, Say, StartStep, StepEnded
from actors.work import Captured, ProcessWork, StepEnd
from runtimes.radian.hook_config import Hook
from runtimes.radian.hook_run import MAX_INVOCATION_BYTES, HookDesk, HookRun, Invocation

if TYPE_CHECKING:
    from collections.abc import Iterable


def run_of(*hooks: Hook, about: dict[str, Any] | None = None) -> HookRun:
    run = HookDesk(hooks).run("k", 1, Invocation("before_tool", about or {"input": {"n": 0}}))
    assert run is not None
    return run


def hook(name: str, *, required: bool = False) -> Hook:
    return Hook("before_tool", (name,), required)


def works(effects: Iterable[Any]) -> list[ProcessWork]:
    started = [each.work for each in effects if isinstance(each, StartStep)]
    return [work for work in started if isinstance(work, ProcessWork)]


def said(run: HookRun, stdout: str = "", code: int = 0) -> list[Any]:
    return run.ended(StepEnd(run.step_id, "exited", code, stdout=Captured(stdout, len(stdout))))


def given(work: ProcessWork) -> Any:
    return orjson.loads(work.stdin or b"")


def test_each_hook_sees_what_the_one_before_made_of_the_input() -> None:
    run = run_of(hook("a"), hook("b"))

    (first,) = works(run.begin())
    (second,) = works(said(run, '{"decision": "allow", "input": {"n": 1}}'))
    said(run)

    assert (given(first)["input"], given(second)["input"]) == ({"n": 0}, {"n": 1})
    assert run.verdict is not None
    assert (run.verdict.veto, run.verdict.input) == (None, {"n": 1})


def test_the_first_denial_ends_the_run() -> None:
    run = run_of(hook("a"), hook("b"))
    run.begin()

    assert works(said(run, '{"decision": "deny", "reason": "no"}')) == []
    assert run.verdict is not None
    assert run.verdict.veto == "no (a)"


def test_no_hook_is_no_run() -> None:
    assert HookDesk((hook("a"),)).run("k", 1, Invocation("after_tool", {})) is None


@pytest.mark.parametrize(("required", "veto"), [(True, True), (False, False)])
def test_a_stop_leaves_out_what_is_left_and_required_ones_have_not_agreed(
    required: bool,  # noqa: FBT001 - a parameter of the test
    veto: bool,  # noqa: FBT001
) -> None:
    run = run_of(hook("a"), hook("b", required=required))
    run.begin()

    assert run.stop() == [AbortStep("k-1")]
    effects = run.ended(StepEnd("k-1", "cancelled"))

    assert run.verdict is not None
    assert (effects, run.verdict.veto is not None) == ([], veto)


def test_a_stop_before_the_first_one_is_a_verdict_at_once() -> None:
    run = run_of(hook("a", required=True))

    assert run.stop() == []
    assert run.verdict is not None
    assert run.verdict.veto is not None


def test_what_is_too_large_to_be_told_fails_the_hook_without_starting_it() -> None:
    large = {"input": {"content": "x" * MAX_INVOCATION_BYTES}}
    passing, required = (
        run_of(hook("a"), about=large),
        run_of(hook("a", required=True), about=large),
    )

    effects = passing.begin()
    assert [type(each) for each in effects] == [Say]
    assert passing.verdict is not None
    assert passing.verdict.veto is None
    assert required.begin() == []
    assert required.verdict is not None
    assert "would be given more than" in (required.verdict.veto or "")


def test_texts_of_hooks_are_masked() -> None:
    desk = HookDesk((hook("a"),), mask=lambda text: text.replace("hunter2", "[secret]"))
    answers = (
        '{"decision": "deny", "reason": "hunter2", "message": "hunter2"}',
        '{"decision": "allow", "context": "hunter2", "message": "hunter2"}',
    )
    for text in answers:
        run = desk.run("k", 1, Invocation("before_tool", {}))
        assert run is not None
        run.begin()
        effects = said(run, text)
        assert "hunter2" not in repr(effects) + repr(run.verdict)


def test_an_event_of_another_step_is_not_taken_for_its_own() -> None:
    run = run_of(hook("a"), hook("b"))
    run.begin()
    said(run)

    assert run.step_id == "k-2"
    assert StepEnded(StepEnd("k-1", "exited")).end.step_id != run.step_id

"""The calls of one answer, by values: what runs beside what, what is told and what is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actors.turn import AbortStep, Say, StartStep, StepEnded
from actors.work import CallableWork, Captured, StepEnd
from runtimes.models.base import ToolUse
from runtimes.radian import events
from runtimes.radian.hook_config import Hook
from runtimes.radian.hook_run import HookDesk
from runtimes.radian.journal_queue import Write
from runtimes.radian.permissions import Request
from runtimes.radian.policy import Policy
from runtimes.radian.records import PermissionDecided, ToolResult
from runtimes.radian.rules import Rules
from runtimes.radian.tool_desk import ToolDesk
from runtimes.radian.tool_round import ToolRound
from runtimes.radian.tools.base import Prepared, ToolOutcome, ToolRun, ToolView, returned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runtimes.radian.tools.base import Input, Kind, ToolContext

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
CONTEXT: Any = None
"""No tool here looks at it."""


@dataclass
class Tool:
    """A tool that does nothing."""

    name: str
    read_only: bool
    kind: Kind = "read"
    summary: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        del context
        return Prepared(self.name, values, ToolView(self.name), Request(self.name, "talk"))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        del prepared, call_id, context
        return ToolRun(CallableWork(self.name, lambda _: ToolOutcome("")), returned)


LOOK, CHANGE = Tool("look", read_only=True), Tool("change", read_only=False)


def round_of(*names: str, mask: Any = str) -> ToolRound:
    uses = [ToolUse(f"c{at}", name, "{}") for at, name in enumerate(names, 1)]
    desk = ToolDesk(
        {"look": LOOK, "change": CHANGE},
        CONTEXT,
        Policy("workspace", Rules()),
        monotonic=lambda: 0.0,
        mask=mask,
    )
    return ToolRound(1, "t1.1", uses, desk)


def started(effects: Iterable[Any]) -> list[str]:
    return [each.step_id for each in effects if isinstance(each, StartStep)]


def written(effects: Iterable[Any]) -> list[str]:
    records = [record for each in effects if isinstance(each, Write) for record in each.records]
    return [each.call_id for each in records if isinstance(each, ToolResult)]


def told(effects: Iterable[Any]) -> list[str]:
    items = [item for each in effects if isinstance(each, Say) for item in each.items]
    return [each.call_id for each in items if isinstance(each, events.ToolResult)]


def end(round_: ToolRound, step_id: str, value: Any) -> list[Any]:
    return round_.hear(StepEnded(StepEnd(step_id, "returned", value=value)))


def prepared(round_: ToolRound, number: int, tool: Tool) -> list[Any]:
    return end(round_, f"t1.1.{number}/prepare", tool.prepare({}, CONTEXT))


def test_neighbours_that_only_read_run_side_by_side_and_changes_alone() -> None:
    calls = round_of("look", "look", "change", "look")

    assert started(calls.begin()) == ["t1.1.1/prepare", "t1.1.2/prepare"]
    assert started(prepared(calls, 1, LOOK)) == ["t1.1.1/run"]
    assert started(prepared(calls, 2, LOOK)) == ["t1.1.2/run"]
    assert started(end(calls, "t1.1.1/run", ToolOutcome("one"))) == []
    assert started(end(calls, "t1.1.2/run", ToolOutcome("two"))) == ["t1.1.3/prepare"]
    assert started(prepared(calls, 3, CHANGE)) == ["t1.1.3/run"]
    assert started(end(calls, "t1.1.3/run", ToolOutcome("three"))) == []
    assert started(calls.settled()) == ["t1.1.4/prepare"]


def test_what_was_done_is_told_once_the_journal_has_it() -> None:
    calls = round_of("change", "change")
    calls.begin()
    prepared(calls, 1, CHANGE)

    ended = end(calls, "t1.1.1/run", ToolOutcome("one"))
    settled = calls.settled()

    assert (told(ended), written(ended)) == ([], ["c1"])
    assert (told(settled), started(settled)) == (["c1"], ["t1.1.2/prepare"])


def test_a_round_is_not_done_before_all_is_told() -> None:
    calls = round_of("change")
    calls.begin()
    prepared(calls, 1, CHANGE)

    end(calls, "t1.1.1/run", ToolOutcome("one"))

    assert not calls.done
    assert told(calls.settled()) == ["c1"]
    assert calls.done


def test_what_was_done_before_a_stop_is_told_last() -> None:
    calls = round_of("change")
    calls.begin()
    prepared(calls, 1, CHANGE)
    end(calls, "t1.1.1/run", ToolOutcome("one"))

    assert (calls.stop(), calls.done) == ([], True)
    assert told(calls.settled()) == []
    assert told(calls.untold()) == ["c1"]


def test_what_was_read_is_told_as_it_comes_and_recorded_in_the_order_of_the_calls() -> None:
    calls = round_of("look", "look")
    calls.begin()
    prepared(calls, 1, LOOK)
    prepared(calls, 2, LOOK)

    second = end(calls, "t1.1.2/run", ToolOutcome("two"))
    first = end(calls, "t1.1.1/run", ToolOutcome("one"))

    assert (told(second), written(second)) == (["c2"], [])
    assert (told(first), written(first)) == (["c1"], ["c1", "c2"])
    assert calls.done


def test_each_use_is_decided_before_it_runs_and_that_is_recorded() -> None:
    calls = round_of("change")
    calls.begin()

    effects = prepared(calls, 1, CHANGE)

    kinds = [type(each).__name__ for each in effects]
    assert kinds == ["Say", "Write", "Say", "StartStep"]
    decided = next(each for each in effects if isinstance(each, Write)).records[0]
    assert decided == PermissionDecided(1, "c1", "allow_once", "profile")


def test_a_stop_starts_nothing_more_and_waits_for_what_runs() -> None:
    calls = round_of("change", "change")
    calls.begin()
    prepared(calls, 1, CHANGE)

    assert calls.stop() == [AbortStep("t1.1.1/run")]
    assert not calls.done
    effects = calls.hear(StepEnded(StepEnd("t1.1.1/run", "cancelled")))

    assert (started(effects), written(effects), calls.done) == ([], ["c1"], True)


def test_a_step_that_is_lost_is_a_failed_call() -> None:
    calls = round_of("look")
    calls.begin()

    effects = calls.hear(StepEnded(StepEnd("t1.1.1/prepare", "lost", error="the guardian died")))

    result = next(each for each in effects if isinstance(each, Write)).records[0]
    assert isinstance(result, ToolResult)
    assert (result.status, "the guardian died" in result.output) == ("failed", True)


def test_secrets_are_masked_in_what_is_told_and_recorded() -> None:
    calls = round_of("look", mask=lambda text: text.replace("hunter2hunter2", "[secret]"))
    calls.begin()
    prepared(calls, 1, LOOK)

    effects = end(calls, "t1.1.1/run", ToolOutcome("key hunter2hunter2"))

    assert "hunter2" not in repr(effects)


def hooked(*hooks: Hook) -> ToolRound:
    desk = ToolDesk(
        {"look": LOOK, "change": CHANGE},
        CONTEXT,
        Policy("workspace", Rules()),
        monotonic=lambda: 0.0,
        mask=str,
        hooks=HookDesk(hooks),
    )
    return ToolRound(1, "t1.1", [ToolUse("c1", "look", "{}")], desk)


def hook_ended(round_: ToolRound, step_id: str, code: int = 0, stdout: str = "") -> list[Any]:
    captured = Captured(stdout, len(stdout))
    return round_.hear(StepEnded(StepEnd(step_id, "exited", code, stdout=captured)))


BEFORE, AFTER = Hook("before_tool", ("b",)), Hook("after_tool", ("a",), required=True)


def test_hooks_are_steps_before_and_after_the_calls_own() -> None:
    calls = hooked(BEFORE, AFTER)

    assert started(calls.begin()) == ["t1.1.1/before-1"]
    assert started(hook_ended(calls, "t1.1.1/before-1")) == ["t1.1.1/prepare"]
    assert started(prepared(calls, 1, LOOK)) == ["t1.1.1/run"]
    ran = end(calls, "t1.1.1/run", ToolOutcome("one"))
    assert (started(ran), told(ran)) == (["t1.1.1/after-1"], [])
    reviewed = hook_ended(calls, "t1.1.1/after-1")
    assert (told(reviewed), written(reviewed), calls.done) == (["c1"], ["c1"], True)


def test_a_vetoed_call_is_prepared_to_be_shown_and_never_runs() -> None:
    calls = hooked(BEFORE, AFTER)
    calls.begin()
    hook_ended(calls, "t1.1.1/before-1", 2)

    effects = prepared(calls, 1, LOOK)

    decided = next(each for each in effects if isinstance(each, Write)).records[0]
    assert isinstance(decided, PermissionDecided)
    assert (decided.decision, decided.source) == ("deny", "hook")
    assert (started(effects), written(effects), calls.done) == ([], ["c1"], True)


def test_a_stop_while_hooks_judge_is_an_interrupted_call() -> None:
    calls = hooked(BEFORE)
    calls.begin()

    assert calls.stop() == [AbortStep("t1.1.1/before-1")]
    effects = calls.hear(StepEnded(StepEnd("t1.1.1/before-1", "cancelled")))

    assert (started(effects), written(effects), calls.done) == ([], ["c1"], True)
    assert "interrupted" in repr(effects)


def test_a_result_that_a_required_hook_could_not_review_is_withheld_after_a_stop() -> None:
    calls = hooked(AFTER)
    calls.begin()
    prepared(calls, 1, LOOK)
    assert calls.stop() == [AbortStep("t1.1.1/run")]

    effects = end(calls, "t1.1.1/run", ToolOutcome("a secret"))

    assert (started(effects), written(effects), calls.done) == ([], ["c1"], True)
    assert "a secret" not in repr(effects)


def test_what_is_no_call_is_not_shown_to_hooks() -> None:
    desk = ToolDesk(
        {}, CONTEXT, Policy("workspace", Rules()), lambda: 0.0, str, HookDesk((BEFORE,))
    )
    calls = ToolRound(1, "t1.1", [ToolUse("c1", "unknown", "{}")], desk)

    assert started(calls.begin()) == ["t1.1.1/prepare"]

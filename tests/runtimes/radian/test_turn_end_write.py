"""A turn's end is recorded with what it follows from: one write, one wait for the disk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from actors.turn import CancelAsked, MachineFailed, StartStep, StepEnded
from actors.work import StepEnd
from runtimes.radian import agent_turn
from runtimes.radian.hook_config import Hook
from runtimes.radian.hook_run import HookDesk
from runtimes.radian.records import AssistantMessage, TurnEnded
from runtimes.radian.session_errors import JournalError
from tests.runtimes.radian.by_hand import Book, Hands, Model, answers, calls, desk_of, says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import ModelEvent, ModelRequest
    from runtimes.radian.hook_config import HookEvent
    from runtimes.radian.records import Entry, Record


@dataclass
class Pages(Book):
    """A journal that remembers what was written together."""

    writes: list[tuple[list[str], bool]] = field(default_factory=list[tuple[list[str], bool]])

    left: int | None = None
    """How many records of each write still find room; the write fails all the same."""

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        self.writes.append(([type(each).__name__ for each in records], sync))
        if self.left is None:
            return super().append(records, sync=sync)
        error = JournalError("no space left")
        error.written = super().append(records[: self.left], sync=sync)
        raise error


def look_then_say(request: ModelRequest) -> list[ModelEvent]:
    return says("seen") if answers(request.messages) else calls(("look", "{}"))


def hands_with(model: Model, hooks: HookDesk | None = None) -> tuple[Hands, Pages]:
    pages, desk = Pages(), desk_of(model)
    journal: Any = pages
    tools = desk.tools if hooks is None else replace(desk.tools, hooks=hooks)
    return Hands(replace(desk, journal=journal, tools=tools)), pages


def run_on(hands: Hands, until: str = "") -> None:
    """End what runs, the oldest first, before a name that holds ``until``."""
    while hands.outcome is None:
        name = next(iter(hands.running))
        if until and until in name:
            return
        hands.end_one(name)


def test_the_last_answer_and_the_end_are_one_write() -> None:
    hands, pages = hands_with(Model(look_then_say))

    run_on(hands)

    assert pages.writes == [
        (["TurnStarted", "UserMessage"], False),
        (["AssistantMessage"], False),  # tools wait for it
        (["PermissionDecided"], False),
        (["ToolResult"], False),  # and the model for this
        (["AssistantMessage", "TurnEnded"], True),
    ]


def test_so_are_a_stopped_tool_and_the_end() -> None:
    hands, pages = hands_with(Model(look_then_say))
    run_on(hands, until="/run")

    hands.feed(CancelAsked("client"))
    run_on(hands)

    assert pages.writes[-1] == (["ToolResult", "TurnEnded"], True)
    assert hands.outcome is not None
    assert hands.outcome.fold.end.end == "Interrupted"


def test_an_answer_that_a_hook_judges_is_written_before_it_is_asked() -> None:
    hook = Hook("before_stop", ("judge",))
    hands, pages = hands_with(Model(lambda _: says("done")), HookDesk((hook,), began=True))

    run_on(hands, until="/hook-")

    assert pages.writes[-1] == (["AssistantMessage"], False)


@pytest.mark.parametrize("written", [0, 1, 2], ids=["nothing", "the answer", "both"])
def test_a_turn_whose_last_write_fails_says_so_whatever_is_left_of_it(written: int) -> None:
    hands, pages = hands_with(Model(lambda _: says("done")))
    run_on(hands, until="call1")
    pages.left = written

    run_on(hands)

    assert hands.outcome is not None
    assert not hands.outcome.journaled
    assert hands.outcome.fold.end.error == "no space left"
    assert [type(each) for each in pages.records[2:]] == [AssistantMessage, TurnEnded][:written]


def test_an_end_that_waits_for_a_write_is_not_written_after_that_fails() -> None:
    hands, pages = hands_with(Model(look_then_say))
    run_on(hands, until="/journal-2")  # the call of a tool is about to be recorded

    hands.feed(CancelAsked("client"))
    pages.left = 0
    run_on(hands)

    assert hands.outcome is not None
    assert not hands.outcome.journaled
    assert not hands.running
    assert pages.writes[-1] == (["AssistantMessage"], False)


def test_a_fault_while_the_end_is_written_leaves_one_end() -> None:
    hands, pages = hands_with(Model(lambda _: says("done")))
    run_on(hands, until="call1")
    hands.end_one("t1.call1")

    hands.feed(MachineFailed())
    run_on(hands)

    assert [each.end for each in pages.records if isinstance(each, TurnEnded)] == ["Completed"]


@pytest.mark.parametrize("event", ["user_prompt", "before_stop"])
def test_after_a_fault_nothing_that_a_hook_says_comes_behind_the_end(event: HookEvent) -> None:
    hooks = HookDesk((Hook(event, ("judge",)),), began=True)
    hands, pages = hands_with(Model(lambda _: says("done")), hooks)
    run_on(hands, until="/hook-")
    (hook,) = (name for name in hands.running if "/hook-" in name)

    hands.feed(MachineFailed())
    del hands.running[hook]
    hands.feed(StepEnded(StepEnd(hook, "exited", exit_code=0)))
    run_on(hands)

    ends = [at for at, each in enumerate(pages.records, 1) if isinstance(each, TurnEnded)]
    assert ends == [len(pages.records)]


def test_a_fault_in_the_last_word_is_not_the_last_that_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hands, _ = hands_with(Model(lambda _: says("done")))
    run_on(hands, until="call1")
    hands.end_one("t1.call1")
    with monkeypatch.context() as patched:
        patched.setattr(agent_turn, "meta_of", None)
        with pytest.raises(TypeError):
            run_on(hands)

    hands.feed(MachineFailed())

    assert hands.outcome is not None
    assert hands.outcome.fold.end.end == "Completed"


def test_what_is_on_its_way_to_the_journal_is_spared_by_a_hard_stop() -> None:
    hands, _ = hands_with(Model(look_then_say))
    begun: dict[str, bool] = {}

    while hands.outcome is None:
        begun |= {
            name: each.spared for name, each in hands.running.items() if isinstance(each, StartStep)
        }
        hands.end_one(next(iter(hands.running)))

    assert [name for name, spared in begun.items() if spared] == [
        f"t1/journal-{number}" for number in range(1, 6)
    ]
    assert not all(begun.values())

"""However a turn ends, and whatever came in between: one end, the same for all who hear of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from actors.model_call import ModelEnded
from actors.turn import (
    CancelAsked,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StepEnded,
    TimerFired,
)
from actors.work import ProcessWork, StepEnd
from runtimes.models.base import CallFailed, Finished, TextDelta
from runtimes.radian import events
from runtimes.radian.agent_turn import TIME_LIMIT
from runtimes.radian.hook_config import Hook
from runtimes.radian.hook_run import HookDesk
from runtimes.radian.permission_questions import ClientAsker
from runtimes.radian.records import AssistantMessage, ToolCall, ToolResult, TurnEnded
from runtimes.radian.session_errors import JournalError
from runtimes.radian.turn_state import Limits
from tests.runtimes.radian.by_hand import USAGE, Book, Hands, Model, calls, desk_of, says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import TurnEffect, TurnEvent
    from runtimes.models.base import ModelEvent, ModelRequest
    from runtimes.radian.hook_config import HookEvent
    from runtimes.radian.records import Entry, Record

HOOKED: tuple[HookEvent, ...] = (
    "session_start",
    "user_prompt",
    "before_stop",
    "before_tool",
    "after_tool",
)
BROKEN: list[list[ModelEvent]] = [
    [TextDelta("cut"), USAGE, Finished("length")],
    [USAGE, Finished("length")],
    [TextDelta("no"), USAGE, Finished("refused")],
    [TextDelta("wait"), Finished("pause")],
    [TextDelta("what"), Finished("broken")],
    [TextDelta("half"), CallFailed("it broke")],
    [CallFailed("too long", context_overflow=True)],
]
REPLIES: list[Any] = [
    *({"outcome": {"outcome": "selected", "optionId": each}} for each in ("allow_once", "no")),
    {"outcome": {"outcome": "cancelled"}},
    None,
]
STOPS: list[TurnEvent] = [
    CancelAsked("client"),
    CancelAsked("shutdown"),
    TimerFired(TIME_LIMIT),
    MachineFailed(),
]


@dataclass
class Paper(Book):
    """A journal that may fail at any write, with or without having written."""

    chance: Random = field(default_factory=Random)
    fails: float = 0
    failed: bool = False

    def results(self) -> list[ToolResult]:
        """Return the results that were written."""
        return [each for each in self.records if isinstance(each, ToolResult)]

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        assert not self.failed, "nothing is written after a write that failed"
        if self.chance.random() >= self.fails:
            return super().append(records, sync=sync)
        self.failed = True
        error = JournalError("no space left")
        if self.chance.random() < 1 / 2:
            error.written = super().append(records, sync=sync)
        raise error


class Watching(Hands):
    """Sees to it that no result is told before the journal has it; no tool here only reads."""

    def _perform(self, effect: TurnEffect) -> None:
        journal: Any = self.desk.journal
        for item in effect.items if isinstance(effect, Say) else ():
            if isinstance(item, events.ToolResult) and not journal.failed:
                assert item.call_id in {each.call_id for each in journal.results()}
        super()._perform(effect)


def answer_by(chance: Random, request: ModelRequest) -> list[ModelEvent]:
    kind = chance.choice(["says", "calls", "broken"])
    if kind == "broken":
        return chance.choice(BROKEN)
    names = [tool.name for tool in request.tools]
    if kind == "says" or not names:  # a summary is asked for without tools
        return says("done")
    named = [chance.choice(names) for _ in range(chance.randint(1, 3))]
    return calls(*((name, json.dumps({"prompt": "task"})) for name in named))


def hands_by(chance: Random) -> tuple[Hands, Paper]:
    limits = Limits(chance.choice([None, 1, 2, 5]), chance.choice([None, 20]), time_s=5.0)
    hooks = tuple(
        Hook(event, ("judge",), required=chance.random() < 1 / 2)
        for event in HOOKED
        if chance.random() < 1 / 5
    )
    asker = chance.choice([None, ClientAsker()])
    desk = desk_of(Model(lambda request: answer_by(chance, request)), limits, asker)
    paper = Paper(chance=chance, fails=chance.choice([0, 0, 0.1]))
    journal: Any = paper
    tools = replace(desk.tools, hooks=HookDesk(hooks))
    return Watching(replace(desk, journal=journal, tools=tools)), paper


def end_one(hands: Hands, name: str, chance: Random) -> None:
    """End what runs as it may end, and answer what is asked."""
    if name in hands.asked:
        hands.reply(name, chance.choice(REPLIES))
        return
    effect = hands.running[name]
    if isinstance(effect, StartCall):
        if chance.random() < 1 / 10:  # its actor died
            del hands.running[name]
            hands.feed(ModelSaid(name, ModelEnded("done")))
            return
    elif isinstance(effect.work, ProcessWork):
        del hands.running[name]
        exited = StepEnd(name, "exited", exit_code=chance.choice([0, 2, 7]))
        hands.feed(StepEnded(StepEnd(name, "cancelled") if name in hands.aborted else exited))
        return
    hands.end_one(name)


def run_by(hands: Hands, chance: Random) -> TurnEvent | None:
    """Run a turn to its end; return what stopped it."""
    stops, stop = chance.choice([0, 0.05, 0.3]), None
    while hands.outcome is None:
        if stop is None and chance.random() < stops:
            stop = chance.choice(STOPS)
            hands.feed(stop)
            continue
        end_one(hands, chance.choice([*hands.running, *hands.asked]), chance)
    return stop


@given(st.integers(min_value=0))
def test_a_turn_has_one_end_and_all_agree_on_it(seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - the same each time
    hands, paper = hands_by(chance)

    stop = run_by(hands, chance)

    outcome = hands.outcome
    assert outcome is not None
    ends = [each for each in paper.records if isinstance(each, TurnEnded)]
    own = [each for each in ends if each.agent is None]
    shown = [each for each in hands.said if isinstance(each, events.TurnEnded)]
    assert len(shown) == 1
    assert hands.said[-1] is shown[0]
    assert outcome.journaled is not paper.failed
    if outcome.journaled:
        assert own == [paper.records[-1]] == [outcome.fold.end]
        assert (shown[0].end, shown[0].reason) == (own[0].end, own[0].reason)
    assert max(Counter(each.agent for each in ends).values(), default=1) == 1
    assert not hands.running

    results = [each.call_id for each in paper.results()]
    told = [each.call_id for each in hands.said if isinstance(each, events.ToolResult)]
    assert len(set(told)) == len(told)
    own_results = [each.call_id for each in paper.results() if each.agent is None]
    assert paper.failed or isinstance(stop, MachineFailed) or set(told) == set(own_results)
    messages = [each for each in paper.records if isinstance(each, AssistantMessage)]
    parts = [part for each in messages if not each.superseded for part in each.parts]
    called = [part.call_id for part in parts if isinstance(part, ToolCall)]
    assert len(set(results)) == len(results)
    assert set(results) <= set(called)
    cut_short = stop or paper.failed or own[0].end == "Interrupted"
    assert cut_short or set(results) == set(called)

"""Simulated hooks: programs that allow, deny, rewrite, fail or hang, and what that must lead to.

What a hook was asked, and how its program really ended, is kept here; nothing of
`runtimes.radian.hook_answers` is asked what that means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import orjson

from actors.simulation.process import Script
from actors.simulation.steps import Part, as_told
from protocol.named_tuple import NamedTuple
from runtimes.radian.hook_config import Hook
from runtimes.radian.simulation.model import PIECE, TAG
from runtimes.radian.simulation.tools import DO, tag_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping

    from actors.simulation.book import Json
    from actors.simulation.served import Served
    from actors.simulation.world import World
    from actors.work import ProcessWork
    from runtimes.radian.hook_config import HookEvent

Mood: TypeAlias = Literal[
    "pass", "allow", "tell", "rewrite", "deny", "exit", "crash", "babble", "hang", "missing"
]
PROGRAM = "hook"
MOST_SENT_ON = 3
TIMEOUTS_S = (1.0, 3.0)
TAKES_S = (0.0, 0.0, 0.5, 1.0)
"""Some as long as the limit of one of them."""
REWRITTEN = "0.3"
REWRITABLE = frozenset({"look", "make"})
MOODS: Mapping[Mood, int] = {
    "pass": 6,
    "allow": 4,
    "tell": 1,
    "rewrite": 2,
    "deny": 1,
    "exit": 1,
    "crash": 1,
    "babble": 1,
    "hang": 1,
    "missing": 1,
}
"""What hooks do, and how often."""
EVENTS: Mapping[HookEvent, int] = {
    "before_tool": 3,
    "before_stop": 2,
    "after_tool": 1,
    "user_prompt": 1,
    "session_start": 1,
}
DENIES: tuple[Mood, ...] = ("deny", "exit")
FAILS: tuple[Mood, ...] = ("crash", "babble", "hang", "missing")


class Ask(NamedTuple):
    """A hook was started."""

    hook: Hook
    step_id: str
    served: Served
    mood: Mood
    given: Json
    """What it read from its stdin."""
    tag: str
    """The prompt of the turn; empty where nothing tells."""

    @property
    def call_id(self) -> str:
        """The call that it is about."""
        return str(self.given.get("call_id", ""))

    @property
    def exited(self) -> bool | None:
        """Whether it came to an end by itself; None: it runs, or its server is gone."""
        for ran in self.served.steps.ran:
            if ran.step_id == self.step_id:
                return ran.end.kind == "exited"
        return None

    @property
    def denied(self) -> bool:
        """Whether it said no."""
        return self.mood in DENIES and self.exited is True

    @property
    def vetoed(self) -> bool:
        """Whether what it was asked about must not be: it said no, or not what it had to say."""
        agreed = self.exited is True and self.mood not in (*DENIES, *FAILS)
        return self.denied or (self.hook.required and not agreed)


class SimHooks:
    """The hooks of a session.  Outlives servers."""

    def __init__(
        self, world: World, journals: Callable[[], bytes], said: Callable[[], str]
    ) -> None:
        """Draw some.

        ``journals`` returns what is in the journals now, ``said`` the last piece of the model's
        last answer to the session's own conversation.
        """
        self._world = world
        self._numbers = world.numbers
        self._journals = journals
        self._said = said
        numbers = self._numbers
        self.hooks = tuple(_drawn(at, numbers) for at in range(numbers.randint(1, 3)))
        self.asks: list[Ask] = []
        self.prompted = ""
        """The tag of the prompt that was sent last."""

    def cast(self, served: Served) -> Callable[[str, ProcessWork], Part]:
        """Return what says what programs of a server play: its hooks, and all others."""

        def part(step_id: str, work: ProcessWork) -> Part:
            if work.argv[0] != PROGRAM:
                return as_told(step_id, work)
            hook = self.hooks[int(work.argv[1])]
            given: Json = orjson.loads(work.stdin or b"{}")
            tag = _tag(given) or (self.prompted if given["event"] == "session_start" else "")
            ask = Ask(hook, step_id, served, self._mood(given), given, tag)
            self._check_journal(ask)
            self.asks.append(ask)
            return Part(tag, self._script(ask))

        return part

    def _mood(self, given: Mapping[str, Any]) -> Mood:
        (mood,) = self._numbers.choices(tuple(MOODS), tuple(MOODS.values()))
        if mood == "rewrite" and given.get("tool") not in REWRITABLE:
            return "allow"
        return "allow" if mood == "rewrite" and given["event"] != "before_tool" else mood

    def _script(self, ask: Ask) -> Script:
        takes_s = self._numbers.choice(TAKES_S)
        match ask.mood:
            case "exit":
                return Script(takes_s, code=2)
            case "crash":
                return Script(takes_s, code=self._numbers.choice((1, 3, 139)))
            case "babble":
                return Script(takes_s, answer=self._numbers.choice((b"fine\n", b"{}{}", b"[1]")))
            case "hang":
                return Script(5000.0, ignores_term=self._numbers.random() < 0.5)  # noqa: PLR2004
            case "missing":
                return Script(missing=True)
            case "pass":
                return Script(takes_s)
            case mood:
                return Script(takes_s, answer=orjson.dumps(_answer(mood)))

    # --- what must hold

    def _check_journal(self, ask: Ask) -> None:
        """What a hook judges is in the journal, but for what it may keep out of it."""
        event, data = ask.given["event"], self._journals()
        if event == "before_stop" and self._said() not in ask.given["text"]:
            self._violated("hooks", f"{ask.step_id} judges {ask.given['text']!r}, not the answer")
        said = PIECE.finditer(str(ask.given.get("text", "")))
        if any(piece.group().encode() not in data for piece in said):
            self._violated("journal", f"{ask.step_id} judges an answer that is not recorded")
        if event == "before_tool" and ask.call_id.encode() not in data:
            self._violated("journal", f"{ask.step_id} judges a call that is not recorded")
        if event == "user_prompt" and f"{ask.tag}; ".encode() in data:
            self._violated("hooks", f"{ask.step_id} judges a prompt that is recorded already")

    def ran(self, call_id: str, do: str) -> None:
        """A call runs: all that had to judge it have, and it does what they made of it."""
        asks = [each for each in self._of("before_tool") if each.call_id == call_id]
        wanted = [hook for hook in self.hooks if hook.event == "before_tool"]
        if [each.hook for each in asks] != wanted:
            self._violated("hooks", f"{call_id} runs, judged by {len(asks)} of {len(wanted)}")
        for ask in asks:
            if ask.exited is None:
                self._violated("hooks", f"{call_id} runs while {ask.step_id} judges it")
            elif ask.vetoed:
                self._violated("hooks", f"{call_id} runs in spite of {ask.step_id} ({ask.mood})")
        rewritten = any(each.mood == "rewrite" and each.exited for each in asks)
        if rewritten and do != REWRITTEN:
            self._violated("hooks", f"{call_id} does {do}, not what a hook made of it")

    @property
    def refused(self) -> set[str]:
        """The prompts that may not be in the journal."""
        opening = (*self._of("user_prompt"), *self._of("session_start"))
        return {ask.tag for ask in opening if ask.vetoed}

    @property
    def withheld(self) -> set[str]:
        """The calls whose results nobody may see."""
        return {ask.call_id for ask in self._of("after_tool") if ask.vetoed}

    def why_not_over(self, turn: int) -> str:
        """Say what should have kept a turn from being completed; empty: nothing."""
        wanted = [hook for hook in self.hooks if hook.event == "before_stop"]
        asks = [each for each in self._of("before_stop") if each.given["turn"] == turn]
        # A turn of a server that was killed may have had this number before.
        asks = [each for each in asks if each.served is asks[-1].served]
        times = asks[-1].given["sent_on"] if asks else 0
        last = [each for each in asks if each.given["sent_on"] == times]
        for ask in last:
            if ask.denied and times == MOST_SENT_ON and not ask.hook.required:
                return ""
            if ask.vetoed:
                return f"{ask.step_id} ({ask.mood}) did not let it"
        asked = [each.hook for each in last]
        return "" if asked == wanted else f"{len(asked)} of {len(wanted)} hooks judged its answer"

    def _of(self, event: HookEvent) -> Iterator[Ask]:
        return (each for each in self.asks if each.hook.event == event)

    def _violated(self, rule: str, what: str) -> None:
        self._world.server.book.violated(rule, what)


def _drawn(at: int, numbers: random.Random) -> Hook:
    required = numbers.random() < 0.4  # noqa: PLR2004
    command = (PROGRAM, str(at))
    (event,) = numbers.choices(tuple(EVENTS), tuple(EVENTS.values()))
    return Hook(event, command, required, numbers.choice(TIMEOUTS_S))


def _answer(mood: Mood) -> Json:
    match mood:
        case "deny":
            return {"decision": "deny", "reason": "a hook says no"}
        case "rewrite":
            return {"decision": "allow", "input": {DO: REWRITTEN}}
        case "tell":
            return {"decision": "allow", "context": "a hook knows", "message": "a hook is here"}
        case _:
            return {"decision": "allow"}


def _tag(given: Json) -> str:
    """Return the prompt that a hook is asked about, where that can be told."""
    if "call_id" in given:
        return tag_of(given["call_id"])
    if found := TAG.search(given.get("prompt", "")):
        return found[1]
    found = PIECE.search(given.get("text", ""))
    return "" if found is None else tag_of(found[1])

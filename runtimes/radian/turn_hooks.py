"""Where a turn stands with its hooks: before it is asked anything, and before it stops.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.turn import Say
from runtimes.models.base import Text
from runtimes.radian import events
from runtimes.radian.hook_run import Invocation
from runtimes.radian.message_building import resource_line
from runtimes.radian.records import ImageFile, Resource, TurnEnded, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.turn import TurnEffect
    from actors.work import StepEnd
    from runtimes.radian.hook_run import HookDesk, HookRun, Verdict
    from runtimes.radian.records import Origin, UserPart

HOOK = "hook"
"""The origin of a failure that a hook caused."""
MAX_SENT_ON = 3
"""How often `before_stop` may send a turn on."""
Stage: TypeAlias = Literal["opening", "stopping"]


class TurnHooks:
    """See the module.  Of calls of tools `hooked_call` takes care."""

    def __init__(self, desk: HookDesk, turn: int) -> None:
        """Run nothing yet."""
        self._desk = desk
        self._turn = turn
        self._run: HookRun | None = None
        self._runs = 0
        self._sent_on = 0
        self._stage: Stage = "opening"

    @property
    def running(self) -> bool:
        """Some hook has not come to an end."""
        return self._run is not None

    @property
    def judge_stops(self) -> bool:
        """Some hook wants to see an answer before its turn is over."""
        return self._desk.judges_stops

    def owns(self, step_id: str) -> bool:
        """Tell whether a step is the hook that runs."""
        return self._run is not None and step_id == self._run.step_id

    def open(self, origin: Origin, asked: Iterable[UserMessage]) -> list[TurnEffect] | None:
        """Judge a turn before it is asked anything, the first one of a process also as that.

        None: nobody judges.
        """
        about: list[Invocation] = []
        if not self._desk.began:
            about.append(Invocation("session_start", {}))
        if origin == "prompt":
            parts = [part for message in asked for part in message.content]
            prompt = "\n".join(map(_prompt_text, parts))
            about.append(Invocation("user_prompt", {"prompt": prompt}))
        return self._start("opening", *about)

    def before_stop(self, text: str) -> list[TurnEffect] | None:
        """Judge a turn that is about to be completed; ``text`` is its answer.

        None: nobody judges.
        """
        facts: dict[str, Any] = {"text": text, "sent_on": self._sent_on}
        return self._start("stopping", Invocation("before_stop", facts))

    def ended(self, end: StepEnd) -> list[TurnEffect]:
        """Take the end of a hook; `take_verdict` says when all are over."""
        assert self._run is not None  # noqa: S101 - asked whether it owns the step
        return self._run.ended(end)

    def stop(self) -> list[TurnEffect]:
        """Start nothing more; the end of what runs still comes."""
        return [] if self._run is None else self._run.stop()

    def take_verdict(self) -> Verdict | None:
        """Return what the hooks came to, once."""
        verdict = None if self._run is None else self._run.verdict
        if verdict is not None:
            self._run = None
        return verdict

    def opened(self) -> None:
        """Note that the turn may begin, and with it the session."""
        self._desk.began = True

    def refused(self, verdict: Verdict) -> TurnEnded | None:
        """Return the end of a turn that must not begin, or must not end like this."""
        binding = self._stage == "opening" or verdict.failed is not None or verdict.by_required
        if verdict.veto is None or not binding:
            return None
        why = verdict.failed or f"a hook denied it: {verdict.denied}"
        return TurnEnded(self._turn, "Failed", origin=HOOK, error=why)

    def sent_on(self, verdict: Verdict) -> UserMessage | None:
        """Return what the model is told in the place of the turn's end, a few times."""
        if verdict.denied is None or self._sent_on == MAX_SENT_ON or self._stage == "opening":
            return None
        self._sent_on += 1
        return self._message((verdict.denied,))

    def overruled(self, verdict: Verdict) -> list[TurnEffect]:
        """Tell people what a hook would not have let pass."""
        if verdict.denied is None:
            return []
        words = f"before_stop sent the turn on {MAX_SENT_ON} times; it ends in spite of it"
        return [Say((events.Warning(f"{words}: {verdict.denied}"),))]

    def told(self, verdict: Verdict) -> tuple[UserMessage, ...]:
        """Return what the model is told beside."""
        return (self._message(verdict.contexts),) if verdict.contexts else ()

    def _message(self, texts: tuple[str, ...]) -> UserMessage:
        return UserMessage(self._turn, tuple(map(Text, texts)), source="hook")

    def _start(self, stage: Stage, *about: Invocation) -> list[TurnEffect] | None:
        self._runs += 1
        self._stage = stage
        self._run = self._desk.run(f"t{self._turn}/hook-{self._runs}", self._turn, *about)
        return None if self._run is None else self._run.begin()


def _prompt_text(part: UserPart) -> str:
    match part:
        case Text(text):
            return text
        case Resource():
            return resource_line(part)
        case ImageFile(mime_type=mime_type):
            return f"[picture: {mime_type}]"

"""Compares the journal with what clients were told, and with what tools really did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.serve import INTERNAL_FAULT
from actors.simulation.book import stop_reason
from runtimes.radian.exit_codes import ending_of
from runtimes.radian.journal_read import load
from runtimes.radian.records import TurnEnded
from runtimes.radian.session_errors import SessionError
from runtimes.radian.simulation.tools import tag_of
from runtimes.radian.simulation.turns import JournaledTurn, Turns, turns_of
from runtimes.radian.simulation.view import tags_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.simulation.book import Asked, Json
    from actors.simulation.served import Served
    from actors.simulation.world import World
    from runtimes.radian.journal_read import Loaded
    from runtimes.radian.simulation.hooks import SimHooks
    from runtimes.radian.simulation.journals import Shelf
    from runtimes.radian.simulation.tools import Deeds
    from runtimes.radian.simulation.view import View

PROMPT = "session/prompt"
ALLOWED = frozenset({"allow_once", "allow_always"})


class Truth:
    """Checks all sessions of a world, once all servers have ended."""

    def __init__(self, world: World, shelf: Shelf, deeds: Deeds) -> None:
        """Watch the journals on ``shelf``."""
        self._world = world
        self._shelf = shelf
        self._deeds = deeds
        self.opened: list[str] = []
        """Sessions that a client was given."""
        self.views: dict[Served, View] = {}
        self.left: set[str] = set()
        """Calls of which a client has cancelled a question, and the turn with it."""
        self.power_lost = False
        """What was not forced to the disk may be gone."""
        self.hooks: SimHooks | None = None
        """Those of the session, if it has any."""
        self._choices: dict[str, set[str]] = {}
        """By id of a call: what a client has chosen."""

    # --- while it goes on

    def chose(self, call_id: str, option: str) -> None:
        """A client answers a question about a call."""
        self._choices.setdefault(call_id, set()).add(option)

    def refused(self, answer: Json) -> None:
        """A session that a client was given can't be loaded."""
        if not self._world.planned.fired and not self._may_be_gone():
            self._violated("journal", f"the session can't be loaded: {answer['error']!r:.200}")

    def held_twice(self, answer: Json) -> None:
        """A session that another process has open is loaded."""
        if "result" in answer:
            self._violated("journal", "two processes have one journal")

    def replayed(self) -> None:
        """A replay shows each prompt that was answered, and what was said to those that ended."""
        view = self.views[self._world.server]
        shown = tags_in(view.users)
        for served, asked in self._answered():
            if served is self._world.server or _unwritten(asked.answers[0]):
                continue
            if stop_reason(asked.answers[0]) != "end_turn":
                continue
            if shown.count(asked.tag) != 1:
                times = shown.count(asked.tag)
                self._violated("journal", f"{asked.tag} is {times} times in the replay")
            for name, text in self.views[served].finals(asked.tag).items():
                if view.texts.get(name) != text:
                    self._violated("journal", f"{name} was {text!r}, not {view.texts.get(name)!r}")

    # --- when all is over

    def check(self) -> None:
        """Note whatever is not as it should be."""
        for view in self.views.values():
            for wrong in view.wrong:
                self._violated("updates", wrong)
        for call_id, times in self._deeds.begun.items():
            if times > 1:
                self._violated("tools", f"{call_id} was run {times} times")
        for session in self.opened:
            loaded = self._loaded(session)
            if loaded is not None:
                self._check_session(loaded)

    def _loaded(self, session: str) -> Loaded | None:
        (path,) = [name for name in self._shelf.locks if session in name] or [""]
        data = self._shelf.disk.read(path)
        if data is None or self._may_be_gone():
            if not self._may_be_gone():
                self._violated("journal", f"session {session} is gone")
            return None
        try:
            loaded = load(data, path)
        except SessionError as error:
            self._violated("journal", str(error))
            return None
        odd = [each for each in loaded.warnings if "torn" not in each]
        if odd and not self._cut():
            self._violated("journal", odd[0])
        return loaded

    def _check_session(self, loaded: Loaded) -> None:
        turns = turns_of(loaded.entries)
        for wrong in turns.wrong:
            self._violated("journal", wrong)
        for turn in turns.all.values():
            for wrong in turn.faults(ended_well=not self._world.planned.fired):
                self._violated("journal", wrong)
            self._check_tools(turn)
            self._check_hooks(turn)
            self._check_end(turn, last=turn.number == max(turns.all))
        self._check_shown(turns)
        for call_id in () if self._world.planned.fired else sorted(self.left):
            asked_in = turns.by_tag.get(tag_of(call_id))
            end = None if asked_in is None else asked_in.end
            if end is not None and end.end != "Interrupted":
                self._violated("cancel", f"a question of {call_id} was cancelled, not its turn")
        for served, asked in self._answered():
            if not _unwritten(asked.answers[0]):
                self._check_answer(served, asked, turns.by_tag.get(asked.tag))

    def _check_shown(self, turns: Turns) -> None:
        """What was done, and was shown, is in the journal: a kill loses none of it."""
        known = {
            call_id
            for turn in turns.all.values()
            for call_id, result in turn.results.items()
            if result.status == "completed"
        }
        for view in () if self.power_lost else self.views.values():
            for call_id in view.completed():
                if call_id not in known and call_id not in self._deeds.looked:
                    self._violated("journal", f"{call_id} was shown as completed, and is lost")

    def _check_end(self, turn: JournaledTurn, *, last: bool) -> None:
        """Only the end of its server, or a fault, leaves a turn without its end."""
        if turn.end is None and not self._cut() and not self._world.planned.fired:
            self._violated("journal", f"turn {turn.number} has no end (the last one: {last})")

    def _check_answer(self, served: Served, asked: Asked, turn: JournaledTurn | None) -> None:
        """What a client was told of a turn is in the journal."""
        reason = stop_reason(asked.answers[0])
        if self.hooks is not None and asked.tag in self.hooks.refused:
            if turn is not None or reason == "end_turn":
                self._violated("hooks", f"{asked.tag} was refused, and answered ({reason})")
            return
        if turn is None:
            if reason != "cancelled" or asked.tag in self._deeds_of():
                self._violated("journal", f"{asked.tag} was answered ({reason}), and is lost")
            return
        if turn.origin != "prompt":
            self._violated("journal", f"{asked.tag} is in a turn of origin {turn.origin}")
        if turn.end is None:
            self._violated("journal", f"{asked.tag} was answered ({reason}), its end is lost")
            return
        if ending_of(turn.end).stop_reason != reason:
            self._violated("journal", f"{asked.tag} is {turn.end.end}, and was told as {reason}")
        self._check_texts(served, turn, reason)

    def _check_texts(self, served: Served, turn: JournaledTurn, reason: str) -> None:
        view = self.views[served]
        for call, text in turn.texts.items():
            seen = view.text_of(turn.number, call)
            whole = reason == "end_turn" and seen != text
            if whole or not text.startswith(seen):
                where = f"call {call} of turn {turn.number}"
                self._violated("text", f"{where} said {text!r}, the client saw {seen!r}")
        # A failed attempt is void; the cancel may have come before the client was told so.
        void = "fail" in turn.asked and turn.end is not None and turn.end.end == "Interrupted"
        for name, seen in () if void else view.texts.items():
            number, _, which = name.partition(".")
            if number == str(turn.number) and which.isdigit():
                known = turn.texts.keys() | turn.void
                if int(which) not in known and name not in view.attempts and seen:
                    self._violated("text", f"the client saw {seen!r}, which is not in the journal")

    def _check_hooks(self, turn: JournaledTurn) -> None:
        """What hooks have forbidden is not in the journal."""
        if self.hooks is None:
            return
        for call_id in self.hooks.withheld & turn.results.keys():
            if turn.results[call_id].status == "completed":
                self._violated("hooks", f"the result of {call_id} was withheld, and is told")
        completed = turn.end is not None and turn.end.end == "Completed"
        if completed and (why := self.hooks.why_not_over(turn.number)):
            self._violated("hooks", f"turn {turn.number} is completed, and {why}")

    def _check_tools(self, turn: JournaledTurn) -> None:
        for call_id, decision in turn.decisions.items():
            if decision == "deny" and call_id in self._deeds.begun:
                self._violated("tools", f"{call_id} was denied, and ran")
            if decision in ALLOWED and turn.decided_by[call_id] == "user":
                chosen = self._choices.get(call_id, set())
                if not chosen & ALLOWED:
                    self._violated("tools", f"{call_id} was allowed by nobody: {chosen}")
        for call_id, result in turn.results.items():
            done = self._deeds.outputs.get(call_id)
            if result.status == "completed" and done is not None and result.output != done:
                self._violated("tools", f"{call_id} came to {done!r}, not {result.output!r}")
            ended = turn.end is not None and turn.end.end == "Completed"
            withheld = self.hooks is not None and call_id in self.hooks.withheld
            broken = withheld or bool(self._world.planned.fired)
            if ended and not broken and done is not None and result.status != "completed":
                self._violated("tools", f"{call_id} came through, and is told as failed")
            ran = call_id in self._deeds.begun
            if turn.end is not None and ran and call_id not in turn.decisions:
                self._violated("tools", f"{call_id} ran, and nobody decided that")

    # --- what is known

    def _answered(self) -> Iterator[tuple[Served, Asked]]:
        """Yield the prompts that a client got an answer to, errors aside."""
        for served in self.views:
            for asked in served.book.asked.values():
                if asked.method == PROMPT and asked.answers and "result" in asked.answers[0]:
                    yield served, asked

    def _may_be_gone(self) -> bool:
        """Whether a power loss may have taken the session: no turn of it was answered."""
        if not self.power_lost:
            return False
        answers = [asked.answers[0] for _, asked in self._answered()]
        return all(_unwritten(each) or _never_began(each) for each in answers)

    def _deeds_of(self) -> set[str]:
        return {call_id.partition("-")[0] for call_id in self._deeds.begun}

    def _cut(self) -> bool:
        """Whether a server did not end in order."""
        return any(s.killed or s.hurried or s.code == INTERNAL_FAULT for s in self._world.servers)

    def _violated(self, rule: str, what: str) -> None:
        self._world.server.book.violated(rule, what)


def _unwritten(answer: Json) -> bool:
    """Tell whether a client was told that the end of its turn could not be written."""
    radian: Any = answer["result"].get("_meta", {}).get("radian", {})
    return "journal" in str(radian.get("error", "")) or "fault of radian" in str(
        radian.get("error", "")
    )


def _never_began(answer: Json) -> bool:
    """Tell whether a cancel came before there was a turn: then nothing is told of one."""
    return stop_reason(answer) == "cancelled" and "_meta" not in answer["result"]


def end_of(record: object) -> TurnEnded | None:
    """Return a record if it is the end of a session's own turn."""
    return record if isinstance(record, TurnEnded) and record.agent is None else None

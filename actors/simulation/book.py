"""The book of a world: what was asked, accepted, sent and seen, and each rule that was broken.

It is kept beside the code under test and never asks it.  Rules have the names of
`actors.fault_plan.INVARIANTS`, plus a few that no fault can suspend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import orjson

from actors.gate import CAPACITY
from protocol.errors import InvalidRequest, MethodNotFound
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.scheduler import Scheduler

Json: TypeAlias = dict[str, Any]
DOUBLED_CODES = frozenset({InvalidRequest.code, MethodNotFound.code})
"""The id is taken; or it was free again already, and the method is none."""


class Violation(NamedTuple):
    """A rule that was broken, and how."""

    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}"


@dataclass(slots=True)
class Asked:
    """One request of the client, and what came of it."""

    method: str
    session: str
    tag: str
    may_fail: bool = False
    """It asks for something that raises."""
    at: int = 0
    """Its place among all that the client sent and saw."""
    answers: list[Json] = field(default_factory=list[Json])
    answered_at: int = 0
    cancelled_s: float | None = None
    """When its session was first cancelled since."""
    doubled: int = 0
    """Other requests under its id whose answers, errors all of them, have not come yet."""


class Book:
    """One connection's."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Start empty."""
        self._scheduler = scheduler
        self._expected = bytearray()
        self._written = 0
        self._ends: list[int] = []
        self._fully_written = 0
        self._clock = 0
        self._answered_tags: set[str] = set()
        self._running: dict[str, int] = {}
        self._tickets: dict[int, int] = {}
        self.asked: dict[int, Asked] = {}
        """By ticket: the client may use the id of an answered request again."""
        self.cancels: list[tuple[int, str]] = []
        """Place and session of each cancel that was sent."""
        self.said: dict[str, str] = {}
        """By message id: the text that should reach the client."""
        self.unread: set[str] = set()
        """Message ids of which a fault has lost some."""
        self.seen: dict[str, str] = {}
        """By message id: the text that did."""
        self.violations: list[Violation] = []
        self.ended_at: float | None = None
        """When the client closed its end or left, or a signal came: answers may be missing."""
        self._ended_after = 0
        """The place of that among all that the client sent and saw."""
        self.faults_fired: Callable[[], bool] = _never
        """Whether an internal error has an excuse."""
        self.cancel_limit_s: float | None = None
        """What a cancelled prompt may take to be answered; None: as long as its clean-up takes."""
        self.text_is_checked = True
        """Text reaches the client under the ids under which it was said."""
        self.tag_of_update: Callable[[Json], str] = message_tag
        self.tag_of_answer: Callable[[Json], str] = no_tag

    def end(self) -> None:
        """Note that from now on the server is to end."""
        if self.ended_at is None:
            self.ended_at = self._scheduler.now
            self._ended_after = self._clock

    def violated(self, rule: str, what: str) -> None:
        """Note a broken rule."""
        self.violations.append(Violation(rule, what))
        self._scheduler.trace.event(f"VIOLATION {rule}: {what}")

    # --- the server's side

    def accepted(self, frame: bytes) -> None:
        """The gate took a message."""
        self._expected += frame
        self._ends.append(len(self._expected))
        pending = len(self._ends) - self._fully_written
        if pending > CAPACITY:
            self.violated("capacity", f"{pending} messages were pending")
        message = _parsed(frame)
        if "method" not in message and "id" in message:
            self._answer_accepted(message)

    def _answer_accepted(self, message: Json) -> None:
        asked = self._meant(message)
        if asked is None or (asked.doubled and _code(message) in DOUBLED_CODES):
            return
        self._check_cancel_time(asked)
        tag = self.tag_of_answer(message) or asked.tag
        if self._running.get(tag):
            self.violated("order", f"{tag} was answered while {self._running[tag]} steps of it ran")

    def _check_cancel_time(self, asked: Asked) -> None:
        if self.cancel_limit_s is None or asked.cancelled_s is None or self.faults_fired():
            return
        took_s = self._scheduler.now - asked.cancelled_s
        if took_s > self.cancel_limit_s:
            self.violated("cancel", f"{asked.tag} was answered {took_s:g} s after its cancel")

    def left(self, piece: bytes) -> None:
        """Bytes went into the pipe."""
        end = self._written + len(piece)
        if bytes(self._expected[self._written : end]) != piece:
            self.violated("output", f"byte {self._written} and on is not what was accepted")
        self._written = end
        while self._fully_written < len(self._ends) and self._ends[self._fully_written] <= end:
            self._fully_written += 1
        self._scheduler.progress()

    def step_began(self, tag: str) -> None:
        """A process or stream of a turn runs."""
        self._running[tag] = self._running.get(tag, 0) + 1
        self._scheduler.progress()

    def step_ended(self, tag: str) -> None:
        """It is gone."""
        self._running[tag] -= 1
        self._scheduler.progress()

    @property
    def running(self) -> list[str]:
        """The turns of which something runs."""
        return [tag for tag, count in self._running.items() if count]

    def say(self, message_id: str, text: str) -> None:
        """Note what a turn says or prints."""
        self.said[message_id] = self.said.get(message_id, "") + text

    # --- the client's side

    def sent_request(self, ticket: int, request_id: int, asked: Asked) -> None:
        """The client sends a request under an id that is free."""
        self._clock += 1
        asked.at = self._clock
        self.asked[ticket] = asked
        self._tickets[request_id] = ticket
        self._scheduler.trace.event(f"client sends {asked.method} {request_id} {asked.tag}")

    def ticket(self, message: Json) -> int | None:
        """Return the ticket of the request that an answer's id means now."""
        request_id: Any = message.get("id")
        return self._tickets.get(request_id) if isinstance(request_id, int) else None

    def sent_cancel(self, session: str) -> None:
        """The client sent a cancel."""
        self._clock += 1
        self.cancels.append((self._clock, session))
        for asked in self.asked.values():
            if asked.session == session and not asked.answers and asked.cancelled_s is None:
                asked.cancelled_s = self._scheduler.now
        self._scheduler.trace.event(f"client cancels {session[-4:]}")

    def got(self, line: bytes) -> Json:
        """The client read a line; returns its message, empty where it is none."""
        self._clock += 1
        message = _parsed(line)
        if not message:
            self.violated("output", f"not a message: {line[:80]!r}")
        elif message.get("method") == "session/update":
            self._got_update(message["params"]["update"])
        elif "method" not in message:
            if self._is_of_a_double(message):
                return {}
            self._got_answer(message)
        return message

    def _is_of_a_double(self, message: Json) -> bool:
        """Tell whether an answer is the error of a request under an id that was taken."""
        asked = self._meant(message)
        if asked is None or not asked.doubled or _code(message) not in DOUBLED_CODES:
            return False
        asked.doubled -= 1
        return True

    def _got_update(self, update: Json) -> None:
        tag = self.tag_of_update(update)
        if tag and tag in self._answered_tags:
            self.violated("order", f"an update of {tag} came after its answer")
        key: str | None = update.get("messageId")
        if key is not None:
            self.seen[key] = self.seen.get(key, "") + str(update["content"]["text"])

    def _got_answer(self, message: Json) -> None:
        asked = self._meant(message)
        if asked is None:
            self.violated("answers", f"an answer to nothing: {message!r:.120}")
            return
        asked.answers.append(message)
        asked.answered_at = self._clock
        self._scheduler.trace.event(f"client gets {_worded(message)}")
        if len(asked.answers) > 1:
            self.violated("answers", f"{asked.method} {message['id']} was answered twice")
        tag = self.tag_of_answer(message) or asked.tag
        if tag:
            self._answered_tags.add(tag)

    def _meant(self, message: Json) -> Asked | None:
        ticket = self.ticket(message)
        return None if ticket is None else self.asked[ticket]

    def sent_double(self, ticket: int) -> None:
        """The client sends a request of no known method under the id of another."""
        self.asked[ticket].doubled += 1

    # --- at the end

    def close(self) -> None:
        """Check what can be told only when all is over."""
        for request_id, asked in self.asked.items():
            if not asked.answers and self.ended_at is None:
                self.violated("answers", f"{asked.method} {request_id} was never answered")
            for answer in asked.answers:
                self._check_cancelled(request_id, asked, answer)
                self._check_text(asked, answer)
                self._check_error(request_id, asked, answer)
        self._check_turn_order()
        if self.running:
            self.violated("children", f"still running at the end: {', '.join(self.running)}")

    def _check_turn_order(self) -> None:
        """Turns of a session that ran to their end did so in the order of their prompts."""
        newest: dict[str, int] = {}
        for ticket, asked in self.asked.items():
            if asked.method != "session/prompt" or not asked.answers:
                continue
            if stop_reason(asked.answers[0]) not in {"end_turn", "refusal"}:
                continue
            if asked.answered_at < newest.get(asked.session, 0):
                self.violated("order", f"prompt {ticket} was overtaken by a later one")
            newest[asked.session] = asked.answered_at

    def _check_cancelled(self, request_id: int, asked: Asked, answer: Json) -> None:
        """A turn is cancelled by a cancel while the prompt waits for its answer, or by the end."""
        if asked.method != "session/prompt" or stop_reason(answer) != "cancelled":
            return
        hit = any(
            asked.at < at < asked.answered_at and session == asked.session
            for at, session in self.cancels
        )
        ended = self.ended_at is not None and self._ended_after < asked.answered_at
        if not hit and not ended:
            self.violated("cancel", f"prompt {request_id} was cancelled, and nobody asked for it")

    def _check_error(self, ticket: int, asked: Asked, answer: Json) -> None:
        """What nobody broke on purpose does not fail."""
        error = answer.get("error")
        if error is None or error.get("code") == MethodNotFound.code:
            return
        if not asked.may_fail and not self.faults_fired():
            self.violated("answers", f"{asked.method} {ticket} failed: {error!r:.200}")

    def _check_text(self, asked: Asked, answer: Json) -> None:
        """A turn that ended well has shown all that it said and all that its steps printed."""
        tag = self.tag_of_answer(answer) or asked.tag
        if not self.text_is_checked or not tag or stop_reason(answer) != "end_turn":
            return
        for key, text in self.said.items():
            seen = self.seen.get(key, "")
            if key.startswith(f"{tag}/") and seen != text and key not in self.unread:
                self.violated("text", f"{key} said {text[:60]!r}, the client saw {seen[:60]!r}")


def _code(answer: Json) -> int | None:
    code: int | None = answer.get("error", {}).get("code")
    return code


def _never() -> bool:
    return False


def stop_reason(answer: Json) -> str:
    """Return the stop reason of a prompt's answer; ``error`` for an error."""
    return str(answer.get("result", {}).get("stopReason", "error"))


def message_tag(update: Json) -> str:
    """Return what a message id begins with: the turn that it belongs to."""
    return str(update.get("messageId", "")).partition("/")[0]


def no_tag(answer: Json) -> str:
    """Find no turn in an answer: the prompt has named it."""
    del answer
    return ""


def _parsed(line: bytes) -> Json:
    try:
        message: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return cast("Json", message) if isinstance(message, dict) else {}


def _worded(message: Json) -> str:
    if "error" in message:
        return f"error {message['error'].get('code')} for {message['id']}"
    return f"{stop_reason(message).replace('error', 'a result')} for {message['id']}"

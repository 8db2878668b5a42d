"""The file of one question, ``_answers/<id>.json``: asked, proposed, answered, retracted.  Pure.

States: ``escalated`` (people are asked), ``proposed`` (a model has said something, people are
asked to confirm it), ``answered``.  The first two are open.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ops.errors import LedgerError, OpsError
from ops.gate_book import has_role, person
from ops.json_in import read_json
from ops.points import Answer, Question
from ops.run_id import timestamp
from ops.shapes import (
    MAYBE_LIST,
    MAYBE_TABLE,
    MAYBE_TEXT,
    check_table,
    check_tables,
    check_texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.points import Point
    from ops.run_values import Origin
    from ops.shapes import Kinds

RECORD_VERSION = 1

SCALAR: Kinds = (str, int, float, bool)
NEEDED: dict[str, Kinds] = {
    **dict.fromkeys(("id", "point", "title", "state"), str),
    **dict.fromkeys(("question", "inputs", "quorum", "asked"), dict),
    **dict.fromkeys(("deciders", "votes", "history"), list),
    "by": MAYBE_LIST,
    "proposal": MAYBE_TABLE,
    "answered_at": MAYBE_TEXT,
}
QUESTION: dict[str, Kinds] = {"type": str, "instructions": str, "options": list, "levels": int}
QUORUM: dict[str, Kinds] = {"count": int, "roles": list}
ASKED: dict[str, Kinds] = {
    **dict.fromkeys(("channel", "actor", "op", "env", "run_id", "step_id"), MAYBE_TEXT),
    "params": MAYBE_TABLE,
}
VOTE: dict[str, Kinds] = {"by": str, "attested": bool, "answer": SCALAR}
PROPOSAL: dict[str, Kinds] = {"answer": SCALAR, "model": MAYBE_TEXT, "reason": MAYBE_TEXT}
FOLDER = "_answers"

IN_STEWARD_TURN = "answer-in-steward-turn"
QUESTION_UNKNOWN = "question-unknown"
ALREADY_ANSWERED = "already-answered"
NOT_ANSWERED = "not-answered"
NOT_A_CANDIDATE = "answer-not-candidate"
ROLE_MISSING = "role-missing"
OWN_QUESTION = "own-question"
NO_NAME = "name-missing"
"""Why a word on a question is not taken, for programs."""


class PointRefused(OpsError):  # noqa: N818 - the tree names what happened
    """A word on a question that is not taken; nothing was written.  ``code`` is for programs."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class Asker:
    """Who asks a question: a run, or a person at a terminal."""

    __slots__ = ("row", "steward")

    def __init__(
        self,
        channel: Origin,
        *,
        actor: str = "",
        steward: str | None = None,
        op: str = "",
        env: str = "",
        run_id: str = "",
        step_id: str = "",
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.steward = steward
        self.row: dict[str, Any] = {
            "channel": channel,
            "actor": actor,
            "steward": steward,
            "op": op,
            "env": env,
            "run_id": run_id,
            "step_id": step_id,
            "params": dict(params or {}),
        }


class Voice:
    """Someone who answers or retracts."""

    __slots__ = ("attested", "channel", "name", "roles")

    def __init__(
        self, name: str, channel: Origin, *, attested: bool, roles: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.channel: Origin = channel
        self.attested = attested
        """Whether the name was given at the machine; over a channel it is only a claim."""
        self.roles = roles


def answer_path(question_id: str) -> str:
    """Return the file of a question on the branch.

    Raises:
        PointRefused: No question can have that id.

    """
    plain = question_id.replace("-", "").isalnum() and question_id.isascii()
    if not plain or question_id != question_id.lower():
        raise PointRefused(QUESTION_UNKNOWN, f"there is no question {question_id[:80]!r}")
    return f"{FOLDER}/{question_id}.json"


def is_open(record: Mapping[str, Any]) -> bool:
    """Tell whether people still have to say something."""
    return bool(record["state"] != "answered")


def new_question(
    point: Point, inputs: Mapping[str, Any], asker: Asker, now_s: float
) -> dict[str, Any]:
    """Return the record of a question that nobody was asked yet."""
    question, people = point.question, point.people
    return {
        "version": RECORD_VERSION,
        "id": point.question_id(inputs),
        "point": point.name,
        "title": point.title,
        "declaration": point.digest,
        "question": {
            "type": question.type,
            "instructions": question.instructions,
            "options": list(question.options),
            "levels": question.levels,
        },
        "inputs": dict(inputs),
        "state": "escalated",
        "answer": None,
        "by": None,
        "quorum": {"count": people.count, "roles": list(people.roles)},
        "asked": {"at": timestamp(now_s), **asker.row},
        "answered_at": None,
        "deciders": [],
        "proposal": None,
        "votes": [],
        "history": [],
    }


def decided(
    record: Mapping[str, Any], answer: Answer, by: Sequence[str], now_s: float
) -> dict[str, Any]:
    """Return the record with its answer."""
    return {
        **record,
        "state": "answered",
        "answer": answer,
        "by": list(by),
        "answered_at": timestamp(now_s),
    }


def voted(
    record: Mapping[str, Any], voices: Sequence[Voice], value: str, note: str, now_s: float
) -> dict[str, Any]:
    """Return the record with what ``voices`` say; it is answered once enough people say the same.

    Someone who speaks again changes their mind.

    Raises:
        PointRefused: It is answered already, the value is no candidate, or someone has no say.

    """
    question_id = record["id"]
    if not is_open(record):
        by = ", ".join(record["by"])
        reason = f"{question_id} is answered: {record['answer']}, by {by}; retract it first"
        raise PointRefused(ALREADY_ANSWERED, reason)
    question = question_of(record)
    answer = question.read(value)
    if answer is None:
        choices = ", ".join(map(str, question.candidates))
        reason = f"{value[:80]!r} can't answer {question_id}; possible: {choices}"
        raise PointRefused(NOT_A_CANDIDATE, reason)
    votes: list[dict[str, Any]] = list(record["votes"])
    for voice in voices:
        _check_voice(record, voice)
        who = person(voice.name, attested=voice.attested)
        votes = [each for each in votes if _who(each) != who]
        votes.append(_vote(voice, answer, note, now_s))
    voting = {**record, "votes": votes}
    names = [each["by"] for each in votes if each["answer"] == answer]
    if len(names) < record["quorum"]["count"]:
        return voting
    return decided(voting, answer, names, now_s)


def retracted(record: Mapping[str, Any], voice: Voice, note: str, now_s: float) -> dict[str, Any]:
    """Return the record open again; what was said before is kept in its history.

    Raises:
        PointRefused: There is nothing to take back, or someone has no say.

    """
    if is_open(record) and not record["votes"]:
        raise PointRefused(NOT_ANSWERED, f"{record['id']} has no answer to retract")
    _check_voice(record, voice)
    kept = ("state", "answer", "by", "answered_at", "votes")
    gone = {
        **{name: record[name] for name in kept},
        "retracted": {"by": voice.name, "at": timestamp(now_s), "note": note},
    }
    return {
        **record,
        "state": "proposed" if record["proposal"] else "escalated",
        "answer": None,
        "by": None,
        "answered_at": None,
        "votes": [],
        "history": [*record["history"], gone],
    }


def question_of(record: Mapping[str, Any]) -> Question:
    """Return the question as it was asked."""
    asked = record["question"]
    return Question(
        asked["type"], asked["instructions"], tuple(asked["options"]), int(asked["levels"])
    )


def read_record(content: bytes, path: str) -> dict[str, Any]:
    """Return the record of a file.

    Raises:
        LedgerError: It can't be read: a question that can't be told is not asked again.

    """
    try:
        record: Any = read_json(content)
        _check_shape(record)
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path} on the ledger's branch can't be read: {error}"
        raise LedgerError(msg) from error
    return cast("dict[str, Any]", record)


def written(record: Mapping[str, Any]) -> bytes:
    """Return the content of a question's file."""
    return json.dumps(record, indent=1, ensure_ascii=False).encode(errors="replace") + b"\n"


def fact_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run tells of a question: its events, its record, its step's output."""
    question, proposal = question_of(record), record["proposal"]
    return {
        "id": record["id"],
        "point": record["point"],
        "state": record["state"],
        "question": question.instructions or record["title"] or record["point"],
        "title": record["title"],
        "candidates": list(question.candidates),
        "inputs": record["inputs"],
        "by": ", ".join(record["by"]) if record["by"] else None,
        "proposal": proposal["answer"] if proposal else None,
        "steward": record["asked"]["steward"],
        "quorum": record["quorum"],
        "votes": [each["by"] for each in record["votes"]],
        "deciders": record["deciders"],
    }


def _check_shape(record: Any) -> None:
    """Raise for a file that is not what we write."""
    check_table(record, NEEDED)
    check_table(record["question"], QUESTION)
    check_texts("options", record["question"]["options"])
    check_table(record["quorum"], QUORUM)
    check_texts("roles", record["quorum"]["roles"])
    check_table(record["asked"], {"at": str, "steward": MAYBE_TEXT}, ASKED)
    check_texts("by", record["by"])
    check_tables("deciders", record["deciders"], {})
    check_tables("votes", record["votes"], VOTE)
    check_tables("history", record["history"], {})
    if record["proposal"] is not None:
        check_table(record["proposal"], PROPOSAL)
    if record["state"] == "answered" and not record["by"]:
        msg = "it is answered by nobody"
        raise ValueError(msg)
    if record["version"] != RECORD_VERSION:
        msg = f"its version is {record['version']!r}, and this chant knows {RECORD_VERSION}"
        raise ValueError(msg)
    if record["state"] not in {"escalated", "proposed", "answered"}:
        msg = f"its state is {record['state']!r}"
        raise ValueError(msg)
    fact_of(record)
    if record["state"] == "answered" and question_of(record).read(record["answer"]) is None:
        msg = f"{record['answer']!r} does not answer it"
        raise ValueError(msg)


def _check_voice(record: Mapping[str, Any], voice: Voice) -> None:
    if not voice.name.strip():
        raise PointRefused(NO_NAME, "--by needs a name")
    steward = record["asked"]["steward"]
    if steward and person(steward, attested=True) == person(voice.name, attested=True):
        reason = f"steward {steward} asked {record['id']}, and does not answer its own question"
        raise PointRefused(OWN_QUESTION, reason)
    wanted = tuple(record["quorum"]["roles"])
    if not has_role(voice.roles if voice.attested else (), wanted):
        reason = f"{record['id']} asks for the role {' or '.join(wanted)}, which {voice.name}"
        hint = "[roles] in chant.toml says who has it"
        raise PointRefused(ROLE_MISSING, f"{reason} has not; {hint}")


def _who(vote: Mapping[str, Any]) -> str:
    return person(vote["by"], attested=bool(vote["attested"]))


def _vote(voice: Voice, answer: Answer, note: str, now_s: float) -> dict[str, Any]:
    return {
        "answer": answer,
        "by": voice.name,
        "attested": voice.attested,
        "channel": voice.channel,
        "at": timestamp(now_s),
        "note": note,
    }

"""``chant workspace status``: what ran last, what runs, and what waits for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.flags import ENV
from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Read the ledger of one environment."""
    import time

    from ops.in_flight import InFlight
    from runtimes.chant.place import ledger_of, place_of
    from runtimes.chant.runs_shown import run_row
    from runtimes.chant.waiting import open_gates, open_questions, waiting_runs

    place = place_of(invocation, around)
    project, env = place.project, place.env
    ledger = ledger_of(project)
    newest, notes = ledger.newest_of_each(env), InFlight(ledger.state_dir)
    gates, questions = open_gates(ledger, env, time.time()), open_questions(ledger)
    waiting = waiting_runs(newest, gates, questions)
    document = {
        "project": project.name,
        "env": env,
        "runs": [run_row(each) for each in newest.values()],
        "running": [
            run_row(each.record) for each in notes.living() if each.record.get("env") == env
        ],
        "interrupted": [run_row(each) for each in notes.unrecorded(env)],
        "gates": gates,
        "questions": questions,
        "stewards": [
            {"name": name, "waiting": [each for each in waiting if each["steward"] == name]}
            for name, steward in project.stewards.items()
            if (steward.environment or env) == env
        ],
    }
    return Outcome(OK, document, "\n".join(_lines(document)), is_table=True)


def _lines(document: dict[str, Any]) -> Iterator[str]:
    from runtimes.chant.columns import columns, moment_text

    yield f"{document['project']} in {document['env']}"

    def part(title: str, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
        if rows:
            yield f"{title}:"
            yield from columns(rows, "  ")

    def runs(kind: str) -> list[tuple[str, ...]]:
        shown = ("op", "status", "started", "id")
        return [
            tuple(moment_text(row[key]) if key == "started" else str(row[key]) for key in shown)
            for row in document[kind]
        ]

    yield from part("running", runs("running"))
    yield from part("interrupted, its process is gone", runs("interrupted"))
    yield from part("gates", [_gate(each) for each in document["gates"]])
    asked = [(q["title"] or q["question"], str(q["line"])) for q in document["questions"]]
    yield from part("questions", asked)
    waiting = [
        (s["name"], w["op"], str(w["at"])) for s in document["stewards"] for w in s["waiting"]
    ]
    yield from part("stewards that wait", waiting)
    yield from part("last runs", runs("runs"))


def _gate(gate: Mapping[str, Any]) -> tuple[str, ...]:
    """Say of a gate how it stands and what to type."""
    name, by = f"{gate['op']} at {gate['gate']}", ", ".join(gate["approvals"])
    if gate["approve"] is None:
        return name, f"open, approved by {by}", gate["run"]
    so_far = f", {len(gate['approvals'])} of {gate['quorum']}" if by else ""
    return name, f"closed{so_far}", gate["approve"]


WORKSPACE_STATUS = Verb(
    path=("workspace", "status"),
    summary="Show the last runs, what runs now, and what waits for people",
    handler=answer,
    document=(
        '{"project", "env", "runs": [as "newest" of run list], "running": [the same],'
        ' "interrupted": [the same], "gates": [the pending fact, with "state":'
        ' "pending"|"approved", "approve": the line that opens it, null once approved, "run": the'
        ' line that comes next], "questions": [as of workspace points, only open ones], "stewards":'
        ' [{"name", "waiting": [{"op", "run_id", "status", "steward", "since", "at"}]}]}'
    ),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED),
)

"""``chant operator status``: who operates which environment, what is due, what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.ledger import Ledger
    from ops.project import Project, Steward


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Look at leases, schedules and the ledger; nothing is started."""
    del invocation
    from ops.project import find_project
    from runtimes.chant.place import ledger_of

    project = find_project(around.cwd)
    ledger = ledger_of(project)
    rows = [_steward(project, ledger, each) for each in project.stewards.values()]
    text = "\n".join(line for row in rows for line in _lines(row)) or "no stewards are declared"
    return Outcome(OK, {"project": project.name, "stewards": rows}, text, is_table=True)


def _steward(project: Project, ledger: Ledger, steward: Steward) -> dict[str, Any]:
    from ops.in_flight import InFlight
    from ops.lease import holder
    from ops.project import choose_environment

    env = choose_environment(project, steward.environment or None)
    held = holder(ledger.state_dir, env)
    mine = held if held and held["steward"] == steward.name else None
    running = [
        {"op": each.record["op"], "run_id": each.record["id"]}
        for each in InFlight(ledger.state_dir).living()
        if each.record.get("env") == env and each.record.get("origin") == "operator"
    ]
    shown = ("pid", "host", "since")
    return {
        "steward": steward.name,
        "env": env,
        "running": mine is not None,
        "operator": {name: mine[name] for name in shown} if mine else None,
        "lease": held["steward"] if held else None,
        "runs": running if mine else [],
        "schedule": [_due(ledger, env, op, cron) for op, cron in steward.schedule],
    }


def _due(ledger: Ledger, env: str, op: str, cron: str) -> dict[str, Any]:
    import time

    from ops.cron import CronInvalid, parse_cron
    from ops.run_id import timestamp
    from ops.waits import judge

    now_s = time.time()
    try:
        due: str | None = timestamp(parse_cron(cron).next_after(now_s))
        wrong = None
    except CronInvalid as error:
        due, wrong = None, error.message
    newest, wait = ledger.newest(env, op), judge(ledger, env, op, now_s)
    return {
        "op": op,
        "cron": cron,
        "next": due,
        "problem": wrong,
        "last": newest["status"] if newest else None,
        "waits_on": wait.reason if wait.state == "waits" else None,
    }


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    from runtimes.chant.columns import columns, moment_text

    yield f"{row['steward']} in {row['env']}: {_state(row)}"
    for run in row["runs"]:
        yield f"  runs {run['op']} ({run['run_id']})"
    yield from columns(
        (
            (
                each["op"],
                each["cron"],
                f"next {moment_text(each['next'])}" if each["next"] else str(each["problem"]),
                f"waits on {each['waits_on']}" if each["waits_on"] else str(each["last"] or "new"),
            )
            for each in row["schedule"]
        ),
        "  ",
    )


def _state(row: Mapping[str, Any]) -> str:
    operator = row["operator"]
    if operator:
        return f"process {operator['pid']} on {operator['host']} since {operator['since']}"
    if row["lease"]:
        return f"not running; steward {row['lease']} has the lease"
    return "not running"


OPERATOR_STATUS = Verb(
    path=("operator", "status"),
    summary="Show who operates which environment, what is due and what waits",
    handler=answer,
    document=(
        '{"project", "stewards": [{"steward", "env", "running", "operator": {"pid", "host",'
        ' "since"}, "lease": the steward who has it, "runs": [{"op", "run_id"}], "schedule":'
        ' [{"op", "cron", "next", "problem", "last", "waits_on"}]}]}'
    ),
    exit_codes=(OK, USAGE, REFUSED),
)

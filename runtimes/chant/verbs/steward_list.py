"""``chant steward list``: the declared stewards and whether they wait."""

from __future__ import annotations

from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """List every steward of the project."""
    del invocation
    from ops.project import find_project
    from runtimes.chant.columns import columns
    from runtimes.chant.stewards_shown import steward_document

    project = find_project(around.cwd)
    found = [steward_document(project, each) for each in project.stewards.values()]
    rows = [
        (
            each["name"],
            each["environment"],
            ", ".join(each["ops"]),
            f"waits on {len(each['waiting'])}" if each["waiting"] else "",
        )
        for each in found
    ]
    text = "\n".join(columns(rows)) or "no stewards are declared: [[steward]] in chant.toml"
    return Outcome(OK, {"stewards": found}, text, is_table=True)


STEWARD_LIST = Verb(
    path=("steward", "list"),
    summary="List the declared stewards and what they wait on",
    handler=answer,
    document=(
        '{"stewards": [{"name", "environment", "ops", "capabilities", "schedule": [{"op",'
        ' "cron"}], "waiting": [{"op", "run_id", "status", "steward", "since", "at"}]}]}'
    ),
    exit_codes=(OK, USAGE, REFUSED),
)

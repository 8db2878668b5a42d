"""``chant lifecycle plan``: what would have to be done so that all is as declared."""

from __future__ import annotations

from runtimes.chant.verbs.flags import ENV, ENV_PARAM
from runtimes.chant.verbs.verb import (
    CANCELLED,
    OK,
    REFUSED,
    USAGE,
    Invocation,
    Outcome,
    Surroundings,
    Verb,
)


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Look at everything and name an action for each resource; do none."""
    from runtimes.chant.lifecycle_shown import plan_rows, plan_text
    from runtimes.chant.looking import compared
    from runtimes.chant.place import place_of

    place = place_of(invocation, around)
    found, _, why = compared(place, around, live=True)
    if around.cancel.is_set():
        return Outcome(CANCELLED, {"error": "cancelled", "exit_code": CANCELLED}, "cancelled")
    rows = plan_rows(found)
    warnings = (f"warning: {why}",) if why else ()
    document = {"env": place.env, "actions": rows}
    return Outcome(OK, document, plan_text(rows, place.env), warnings)


LIFECYCLE_PLAN = Verb(
    path=("lifecycle", "plan"),
    summary="Show what would make every resource as declared; change nothing",
    handler=answer,
    document=(
        '{"env", "actions": [{"name", "action" (create, update, remove, adopt, none, unknown),'
        ' "class", "reason", "op" (that brings it about, or null)}]}'
    ),
    params=(ENV_PARAM,),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED, CANCELLED),
)

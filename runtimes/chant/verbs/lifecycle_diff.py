"""``chant lifecycle diff``: what is declared against the last snapshot, or against the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.flags import ENV, ENV_PARAM
from runtimes.chant.verbs.verb import (
    CANCELLED,
    FAILED,
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from ops.lifecycle import Comparison


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Compare every resource of the environment."""
    from runtimes.chant.lifecycle_shown import comparison_text, finding_document
    from runtimes.chant.looking import compared
    from runtimes.chant.place import place_of

    place, live = place_of(invocation, around), invocation.on("--live")
    found, last, why = compared(place, around, live=live)
    if around.cancel.is_set():
        return Outcome(CANCELLED, {"error": "cancelled", "exit_code": CANCELLED}, "cancelled")
    document = {
        "env": place.env,
        "live": live,
        "snapshot": {"name": last.name, "taken": last.taken} if last else None,
        "resources": [finding_document(each) for each in found.findings],
        "counts": found.counts,
        "drift": found.drifted,
    }
    code = FAILED if invocation.on("--exit-code") and found.drifted else OK
    return Outcome(code, document, comparison_text(found), _warnings(found, why), is_answer=True)


def _warnings(found: Comparison, why: str | None) -> tuple[str, ...]:
    from ops.counts import counted

    told = [f"warning: {why}"] if why else []
    if blind := found.counts["unobserved"]:
        all_of_them = counted(len(found.findings), "resource")
        told.append(f"warning: {blind} of {all_of_them} could not be judged")
    return tuple(told)


LIFECYCLE_DIFF = Verb(
    path=("lifecycle", "diff"),
    summary="Compare what is declared with the last snapshot, or with what is there now",
    handler=answer,
    document=(
        '{"env", "live", "snapshot": {"name", "taken"} or null, "resources": [{"name", "reader",'
        ' "class" (missing, disappeared, drifted, orphan, newly-observed, unobserved, unchanged),'
        ' "reason" (of unobserved), "against" (declaration or snapshot), "changes": [{"fact",'
        ' "wanted", "found"}]}], "counts", "drift"}'
    ),
    params=(ENV_PARAM,),
    own_flags=(
        Flag("--live", "look at every resource now"),
        Flag("--exit-code", "exit 1 on drift: missing, disappeared, drifted or orphan"),
        ENV,
    ),
    exit_codes=(OK, FAILED, USAGE, REFUSED, CANCELLED),
)

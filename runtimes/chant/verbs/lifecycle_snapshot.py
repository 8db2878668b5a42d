"""``chant lifecycle snapshot``: look at every resource and keep what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.flags import ENV, ENV_PARAM
from runtimes.chant.verbs.verb import (
    CANCELLED,
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
    from ops.snapshot import Snapshot


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Observe, then store on the ledger's branch."""
    import time

    from ops.facts import run_facts
    from ops.resources.observing import observe
    from ops.snapshot import snapshot_json
    from ops.snapshots import SnapshotRefused, Taking, take_snapshot, unnamed
    from runtimes.chant.looking import declared_in
    from runtimes.chant.place import ledger_of, place_of

    place = place_of(invocation, around)
    project, env = place.project, place.env
    resources = declared_in(place).in_environment(env)
    ledger = ledger_of(project, stop=around.cancel)
    if not resources:
        msg = f"no resources are declared in {env}: [[resource]] in chant.toml, or *.resource.toml"
        raise SnapshotRefused(msg)
    seen = observe(resources, project.root, around.environ, around.cancel)
    if around.cancel.is_set():
        return Outcome(CANCELLED, {"error": "cancelled", "exit_code": CANCELLED}, "cancelled")
    now_s = time.time()
    name = invocation.value("--name") or unnamed(now_s)
    facts = run_facts(project.root, around.environ)
    taken, appended = take_snapshot(ledger, Taking(env, name, now_s, facts, resources, seen))
    warnings = (f"warning: {appended.warning}",) if appended.warning else ()
    document = {**snapshot_json(taken), "ledger_commit": appended.commit}
    return Outcome(OK, {**document, "pushed": appended.pushed}, _text(taken), warnings)


def _text(taken: Snapshot) -> str:
    from ops.counts import counted

    blind = [entry for entry in taken.entries.values() if entry.reason]
    head = f"snapshot {taken.name} of {counted(len(taken.entries), 'resource')} in {taken.env}"
    return "\n".join([head, *(f"unobserved: {entry.name}: {entry.reason}" for entry in blind)])


LIFECYCLE_SNAPSHOT = Verb(
    path=("lifecycle", "snapshot"),
    summary="Look at every resource and keep what was seen in the ledger",
    handler=answer,
    document=(
        '{"version", "name", "env", "taken", "actor", "host", "commit", "resources": {NAME:'
        ' {"reader", "keys", "state", "facts", "seen", "reason" (if it could not be looked at)}},'
        ' "ledger_commit", "pushed"}'
    ),
    params=(ENV_PARAM,),
    own_flags=(Flag("--name", "a name to find it by; the time when absent", "NAME"), ENV),
    exit_codes=(OK, USAGE, REFUSED, CANCELLED),
)

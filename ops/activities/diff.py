"""`diff`: compare declared resources with the world; it fails on drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.declared import declared_resources
from ops.errors import ActivityFailed
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.lifecycle import Comparison
    from ops.work import ActivityContext, WorkContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the comparison in the run's environment."""

    def run(work: WorkContext) -> dict[str, Any]:
        found = _compared(context, work)
        for each in found.findings:
            if each.kind != "unchanged":
                changed = ", ".join(change.fact for change in each.changes)
                work.emit("stdout", f"{each.name}: {each.kind}  {each.reason or changed}\n")
        counts = {kind: count for kind, count in found.counts.items() if count}
        if found.drifted and not args.get("allow_drift"):
            msg = "drift: " + ", ".join(f"{count} {kind}" for kind, count in counts.items())
            raise ActivityFailed(msg)
        return {"drift": found.drifted, "counts": counts}

    return CallableWork("diff", run)


def _compared(context: ActivityContext, work: WorkContext) -> Comparison:
    from ops.ledger import NoLedger, open_ledger
    from ops.lifecycle import Seen, compare_live
    from ops.resources.observing import observe
    from ops.snapshots import find_snapshot, observe_orphans

    project, env, resources = declared_resources(context)
    ledger = open_ledger(project.root, project.ledger)
    last = None if isinstance(ledger, NoLedger) else find_snapshot(ledger, env)
    now = observe(resources, project.root, context.env, work.cancel)
    gone = observe_orphans(last, resources, project.root, context.env, work.cancel)
    if work.cancel.is_set():
        msg = "stopped while looking"
        raise ActivityFailed(msg)
    return compare_live(resources, last, Seen(now, gone))

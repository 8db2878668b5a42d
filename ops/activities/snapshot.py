"""`snapshot`: look at every resource and keep what was seen in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.declared import declared_resources
from ops.counts import counted
from ops.errors import ActivityFailed
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the look at the run's environment."""

    def run(work: WorkContext) -> dict[str, Any]:
        import time

        from ops.facts import run_facts
        from ops.ledger import NoLedger, open_ledger
        from ops.resources.observing import observe
        from ops.snapshots import Taking, take_snapshot, unnamed

        project, env, resources = declared_resources(context)
        ledger = open_ledger(project.root, project.ledger)
        if isinstance(ledger, NoLedger):
            raise ActivityFailed(ledger.reason)
        if not resources:
            msg = f"no resources are declared in {env}"
            raise ActivityFailed(msg)
        seen = observe(resources, project.root, context.env, work.cancel)
        if work.cancel.is_set():
            msg = "stopped while looking"
            raise ActivityFailed(msg)
        now_s = time.time()
        name, facts = args.get("name") or unnamed(now_s), run_facts(project.root, context.env)
        taken, stored = take_snapshot(ledger, Taking(env, name, now_s, facts, resources, seen))
        if stored.warning:
            work.emit("stderr", f"{stored.warning}\n")
        size = counted(len(taken.entries), "resource")
        work.emit("stdout", f"snapshot {taken.name} of {size} in {env}\n")
        return {"name": taken.name, "resources": len(taken.entries), "pushed": stored.pushed}

    return CallableWork("snapshot", run)

"""What is looked at before a run begins: what it depends on, and what else people should know."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.in_flight import Living
    from ops.ledger import Ledger
    from ops.model import Op

NAMED = 3
"""Runs that a remark names; there may be hundreds."""


def unmet_depends(op: Op, env: str, ledger: Ledger | None, living: Sequence[Living]) -> list[str]:
    """Say of each Op that must have run well first, and has not, what is known of it.

    The newest run counts, also one that is not over yet.
    """
    going_on = {each.record["op"] for each in living if each.record["env"] == env}
    unmet: list[str] = []
    for name in op.depends:
        status = "still running" if name in going_on else _last_status(ledger, env, name)
        if status != "ok":
            unmet.append(f"{op.name} depends on {name}, which is not ok in {env}: {status}")
    return unmet


def running_beside(op: str, env: str, living: Sequence[Living]) -> list[str]:
    """Say that the same Op runs already.  That is allowed, but should surprise nobody."""
    runs = [each for each in living if (each.record["op"], each.record["env"]) == (op, env)]
    if not runs:
        return []
    named = ", ".join(f"{each.record['id']} (process {each.pid})" for each in runs[:NAMED])
    more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
    return [f"{op} is running in {env} already: {named}{more}; this run goes on beside it"]


def unknown_history(ledger: Ledger) -> list[str]:
    """Say that a clone lacks the ledger's branch although there may be one elsewhere.

    Where the project shares its ledger on a remote, begin with what was cloned of that.

    Raises:
        LedgerError: The branch can't be written.

    """
    branch, common = ledger.branch, os.path.dirname(ledger.state_dir)
    if os.path.exists(os.path.join(common, branch.ref)) or branch.tip() is not None:
        return []
    name = branch.name
    listed = ledger.git.text("for-each-ref", "--format=%(refname:short)", "refs/remotes")
    there = [each for each in listed.splitlines() if each.partition("/")[2] == name]
    settings = ledger.settings
    if settings.push != "never" and (shared := f"{settings.remote}/{name}") in there:
        branch.merge(ledger.git.text("rev-parse", "--verify", f"refs/remotes/{shared}^{{commit}}"))
        return []
    if there:
        hint = f"git branch {name} {there[0]}"
        return [f"warning: {there[0]} has records that this run does not see; {hint} brings them"]
    if os.path.exists(os.path.join(common, "shallow")):
        hint = f"git fetch REMOTE {name}:{name}"
        return [f"warning: this clone is shallow and has no {name}; {hint} brings the records"]
    return []


def _last_status(ledger: Ledger | None, env: str, op: str) -> str:
    if ledger is None:
        return "unknown"
    newest = ledger.newest(env, op)
    return str(newest["status"]) if newest else "never run"

"""`lint`: judge the project by rules, as ``chant lint`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.errors import ActivityFailed
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext

LEVELS = ("error", "warning", "info")


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the check; it fails on errors, and on warnings too when it is strict."""

    def run(work: WorkContext) -> dict[str, int]:
        from ops.lint.subject import read_subject
        from ops.lint.table import lint

        findings = lint(read_subject(context.cwd))
        for each in findings:
            place = f"{each.file}:{each.line}: {each.level} {each.rule}"
            work.emit("stdout", f"{place}: {each.message}\n")
        levels: list[str] = [each.level for each in findings]
        counts = {level: levels.count(level) for level in LEVELS}
        bad = counts["error"] + (counts["warning"] if args.get("strict") else 0)
        if bad:
            msg = f"lint: {counts['error']} errors, {counts['warning']} warnings"
            raise ActivityFailed(msg)
        return counts

    return CallableWork("lint", run)

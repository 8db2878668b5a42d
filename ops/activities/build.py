"""`build`: check the project and write its plans and manifest, as ``chant build`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the build of the run's environment."""

    def run(work: WorkContext) -> dict[str, Any]:
        from ops.build import build
        from ops.errors import ActivityFailed
        from ops.loading import load_catalog
        from ops.project import choose_environment, find_project

        project = find_project(context.cwd)
        env, check = choose_environment(project, context.env.get("CHANT_ENV")), args.get("check")
        made = build(
            load_catalog(project), env, args.get("params", {}), context.env, check=bool(check)
        )
        work.emit("stdout", "".join(f"{path}\n" for path in made.stale))
        if check and made.stale:
            msg = f"dist/ is not up to date: {', '.join(made.stale[:5])}"
            raise ActivityFailed(msg)
        return {"files": sorted(made.files), "changed": list(made.stale)}

    return CallableWork("build", run)

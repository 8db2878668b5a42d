"""`kubectl_apply`: apply manifests with kubectl itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return ``kubectl apply``.  Values stand behind a = so that none passes for a flag."""
    files = [f"--filename={file}" for file in args.get("files", ())]
    folder = [f"--kustomize={args['kustomize']}"] if "kustomize" in args else []
    named = [f"--{name}={args[name]}" for name in ("namespace", "context") if name in args]
    switches = ["--server-side"] if args.get("server_side") else []
    switches += ["--dry-run=server"] if args.get("dry_run") else []
    argv = ("kubectl", "apply", *files, *folder, *named, *switches)
    return ProcessWork(argv, working_folder(args, context), variables(args, context))

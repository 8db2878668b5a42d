"""`helm_upgrade`: upgrade (or install) a release with helm itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.durations import parse_duration
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext

NAMED = {"namespace": "--namespace", "context": "--kube-context", "version": "--version"}
SWITCHES = {"create_namespace": "--create-namespace", "wait": "--wait", "dry_run": "--dry-run"}


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return ``helm upgrade --install``.  Values stand behind a =, so that none is a flag."""
    named = [f"{flag}={args[name]}" for name, flag in NAMED.items() if name in args]
    switches = [flag for name, flag in SWITCHES.items() if args.get(name)]
    files = [f"--values={file}" for file in args.get("values", ())]
    table = args.get("set", {})
    values = [f"--set-json={name}={json.dumps(value)}" for name, value in table.items()]
    limit = [f"--timeout={parse_duration(args['limit']):.0f}s"] if "limit" in args else []
    flags = (*named, *switches, *files, *values, *limit)
    argv = ("helm", "upgrade", "--install", *flags, "--", args["release"], args["chart"])
    return ProcessWork(argv, working_folder(args, context), variables(args, context))

"""`chant build`: every Op's plan and a manifest, as files.  The same input gives the same bytes."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ops.checking import check_catalog
from ops.digests import digest
from ops.errors import OpInvalid, ParamInvalid, unknown
from ops.params import known_params
from ops.plain_file import plain
from ops.plan import plan_with
from ops.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.loading import Catalog
    from ops.model import Op
    from ops.plan import Plan

MANIFEST_VERSION = 1
OUT = "dist"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a build made: ``value`` is the manifest as JSON, ``files`` the bytes of all files.

    Paths are relative to the project.  ``stale`` are the files that were not there, differed, or
    belong to no Op.
    """

    value: Mapping[str, Any]
    files: Mapping[str, bytes]
    stale: tuple[str, ...]


def build(
    catalog: Catalog,
    env: str,
    given: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    check: bool,
) -> Manifest:
    """Check everything, then write ``dist/``; with ``check`` only compare with what is there.

    A required parameter without a value is no error here: the manifest lists what a run needs.

    Raises:
        OpInvalid: There are findings; nothing was written.
        ParamInvalid: A given parameter does not fit, or nothing declares it.

    """
    if problems := check_catalog(catalog):
        raise OpInvalid("\n".join(map(str, problems)))
    _check_given(catalog, given)
    ops = [op for op in catalog.ops.values() if not op.environments or env in op.environments]
    entries: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for op in ops:
        plan, needs = _plan(op, catalog, env, given, environ)
        path = f"{OUT}/plans/{env}/{op.name}.json"
        files[path] = _json_bytes(plan_json(plan))
        entries[op.name] = _entry(op, plan, needs, path)
    value = {
        "version": MANIFEST_VERSION,
        "project": catalog.project.name,
        "env": env,
        "ops": entries,
    }
    files[f"{OUT}/manifest.json"] = _json_bytes(value)
    root = catalog.project.root
    changed = [path for path in files if not _is_there(root, path, files[path])]
    left_over = [path for path in _plans(root, env) if path not in files]
    if not check:
        _write(root, {path: files[path] for path in changed})
        for path in left_over:
            os.unlink(os.path.join(root, path))
    return Manifest(value, files, tuple(changed + left_over))


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON: the declared steps with their args, then on_failure."""
    return {**asdict(plan), "steps": [step.title for step in plan.steps]}


def _check_given(catalog: Catalog, given: Mapping[str, Any]) -> None:
    known = set(catalog.project.params).union(*(op.params for op in catalog.ops.values()))
    for name in given:
        if name not in known:
            raise ParamInvalid(unknown("parameter", name, known))


def _plan(
    op: Op, catalog: Catalog, env: str, given: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[Plan, list[str]]:
    declared = {**catalog.project.params, **op.params}
    own = {name: value for name, value in given.items() if name in declared}
    params, needs = known_params(declared, own, environ)
    return plan_with(op, catalog.project, env, params), needs


def _entry(op: Op, plan: Plan, needs: list[str], path: str) -> dict[str, Any]:
    return {
        "file": op.file,
        "overview": op.overview,
        "labels": dict(op.labels),
        "depends": list(op.depends),
        "needs": needs,
        "op_digest": plan.op_digest,
        "params_digest": plan.params_digest,
        "plan": path,
        "plan_digest": digest(plan_json(plan)),
    }


def _json_bytes(value: object) -> bytes:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _is_there(root: str, path: str, data: bytes) -> bool:
    try:
        with open(os.path.join(root, path), "rb", opener=plain) as stream:
            return stream.read(len(data) + 1) == data
    except FileNotFoundError:
        return False


def _plans(root: str, env: str) -> list[str]:
    """Return the plans that an earlier build left; the folder holds nothing else."""
    folder = f"{OUT}/plans/{env}"
    try:
        names = os.listdir(os.path.join(root, folder))
    except FileNotFoundError:
        return []
    return [f"{folder}/{name}" for name in sorted(names) if name.endswith(".json")]


def _write(root: str, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        with whole_file(os.path.join(root, path)) as stream:
            stream.write(data)

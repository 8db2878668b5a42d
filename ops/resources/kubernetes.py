"""The reader `kubernetes`: an object of a cluster, as kubectl shows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ops.digests import digest
from ops.json_in import read_json
from ops.references import look_up
from ops.resources.programs import run_program
from ops.resources.reader import ABSENT, Observation, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

MAX_FIELD_CHARS = 1000


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    if any(str(keys.get(each, "")).startswith("-") for each in ("kind", "object")):
        return unobserved("a kind or object can't begin with a dash")
    chosen = [f"--{each}={keys[each]}" for each in ("namespace", "context") if each in keys]
    limit = f"--request-timeout={max(int(look.timeout_s), 1)}s"
    argv = ["kubectl", "get", keys["kind"], keys["object"], "-o", "json", limit, *chosen]
    ran = run_program(argv, look)
    if isinstance(ran, str):
        return unobserved(ran)
    if ran.code and b"(NotFound)" in ran.stderr:
        return ABSENT
    if ran.code:
        return unobserved(ran.why)
    try:
        found = read_json(ran.stdout)
    except ValueError as error:
        return unobserved(f"kubectl printed no JSON: {error}")
    if not isinstance(found, dict):
        return unobserved("kubectl printed no object")
    return Observation("present", _facts(cast("dict[str, Any]", found), keys.get("fields", ())))


def _facts(found: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    generation = found.get("metadata", {}).get("generation")
    if generation is not None:
        facts["generation"] = generation
    if "spec" in found:
        facts["spec_sha256"] = digest(found["spec"]).removeprefix("sha256:")
    for field in fields:
        try:
            value = look_up(found, field)
        except KeyError:
            value = None
        text = json.dumps(value)
        facts[field] = value if len(text) <= MAX_FIELD_CHARS else digest(value)
    return facts

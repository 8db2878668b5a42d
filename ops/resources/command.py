"""The reader `command`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from ops.json_in import read_json
from ops.resources.programs import run_program
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

MAX_FACT_BYTES = 4096


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    command = keys["command"]
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    ran = run_program(argv, look)
    if isinstance(ran, str):
        return unobserved(ran)
    if ran.code in keys.get("absent_codes", ()):
        return ABSENT
    if ran.code:
        return unobserved(ran.why)
    if keys.get("json"):
        return _members(ran.stdout)
    text = ran.stdout.decode(errors="replace").strip()
    if len(ran.stdout) <= MAX_FACT_BYTES:
        return present(stdout=text)
    head = ran.stdout[:MAX_FACT_BYTES].decode(errors="replace")
    return present(stdout=head, sha256=hashlib.sha256(ran.stdout).hexdigest())


def _members(stdout: bytes) -> Observation:
    try:
        value = read_json(stdout)
    except ValueError as error:
        return unobserved(f"what it printed is no JSON: {error}")
    if not isinstance(value, dict):
        return unobserved("what it printed is JSON, but no object")
    if len(stdout) > MAX_FACT_BYTES:
        return unobserved(f"what it printed is longer than {MAX_FACT_BYTES} bytes")
    return Observation("present", cast("dict[str, Any]", value))

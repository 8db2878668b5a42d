"""One `*.op.toml`, read: from a table to an `Op`, with every finding about its shape.

What an Op means (do the names exist, do the references hold) is judged in `ops.checking`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import TYPE_CHECKING, Any, cast

from ops.errors import unknown
from ops.model import (
    GATE_TIMEOUT_S,
    ActivityStep,
    GateStep,
    Op,
    Outcome,
    Param,
    Phase,
    PointStep,
    Retry,
    Source,
)
from ops.profiles import DEFAULT_PROFILE

if TYPE_CHECKING:
    from ops.findings import Table
    from ops.model import ParamType, Step

KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
STEP_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
PARAM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PARAM_TYPES: dict[str, ParamType] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
MAX_ATTEMPTS = 100
"""More tries than this is a poll, which `wait_for` does better."""


def read_op(top: Table) -> Op:
    """Return the Op that a file declares; only to be used when there were no findings."""
    top.what = "op"
    name = top.text("name", required=True)
    if name:
        top.what = f"op {name}"
    if name and not KEBAB.fullmatch(name):
        top.problem("name", f"name {name!r} must be kebab-case, like nightly-report")
    key = "onFailure" if "onFailure" in top.values else "on_failure"
    if {"onFailure", "on_failure"} <= top.values.keys():
        top.problem("onFailure", "on_failure and onFailure are the same key: use one")
    op = Op(
        name,
        tuple(_phase(each, f"p{n}") for n, each in enumerate(top.tables("phases", "phase"), 1)),
        tuple(_phase(each, f"f{n}") for n, each in enumerate(top.tables(key, "on_failure"), 1)),
        overview=top.text("overview"),
        labels=top.text_map("labels"),
        depends=top.texts("depends"),
        environments=top.texts("environments"),
        params=read_params(top.table("params", "params")),
        source=Source(top.findings.file, top.findings.lines),
    )
    if not op.phases:
        top.problem("phases", "it has no phases")
    top.close(also=("on_failure",))
    return op


def read_params(table: Table) -> dict[str, Param]:
    """Return declared parameters by name."""
    return {name: _param(table.table(name, f"param {name}"), name) for name in list(table.values)}


def read_retry(table: Table) -> Retry:
    """Return the retry that ``attempts``, ``wait``, ``factor`` and ``max_wait`` of a table say."""
    standard = Retry()
    attempts = table.whole("attempts", 1, least=1)
    if attempts > MAX_ATTEMPTS:
        table.problem("attempts", f"attempts must be at most {MAX_ATTEMPTS}")
    return Retry(
        attempts,
        table.duration("wait") or standard.first_wait_s,
        table.number("factor", standard.factor, least=1.0),
        table.duration("max_wait") or standard.max_wait_s,
    )


def _param(table: Table, name: str) -> Param:
    if not PARAM_NAME.fullmatch(name):
        table.findings.add(table.path, f"param {name!r}: letters, digits, _ and - only")
    asked = table.text("type", "string")
    kind = PARAM_TYPES.get(asked)
    if kind is None:
        table.problem("type", unknown("type", asked, PARAM_TYPES))
    param = Param(
        name,
        kind or "string",
        table.take("default"),
        tuple(table.items("enum")),
        table.text("env") or None,
        table.flag("required"),
        table.text("description"),
    )
    table.close()
    return param


def _phase(table: Table, place: str) -> Phase:
    name = table.text("name", required=True)
    if name:
        table.what = f"phase {name}"
    phase = Phase(
        name,
        tuple(
            _step(each, f"{place}.s{n}") for n, each in enumerate(table.tables("steps", "step"), 1)
        ),
        table.flag("parallel"),
        table.flag("fail_fast"),
    )
    if not phase.steps:
        table.problem("steps", "it has no steps")
    table.close()
    return phase


def _step(table: Table, made_id: str) -> Step:
    step_id = table.text("id", made_id)
    table.what = f"step {step_id}"
    if not STEP_ID.fullmatch(step_id):
        table.problem("id", f"id {step_id!r}: letters, digits, _, - and . only")
    kinds = [key for key in ("fn", "gate", "point") if key in table.values]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none of them"
        table.findings.add(table.path, f"{table.what} needs one of fn, gate, point; it has {found}")
    step = {"gate": _gate, "point": _point}.get(kinds[0] if kinds else "fn", _activity)(
        table, step_id
    )
    table.close(also=("fn", "gate", "point"))
    return step


def _activity(table: Table, step_id: str) -> Step:
    return ActivityStep(
        step_id,
        table.text("fn"),
        _args(table),
        table.text("profile", DEFAULT_PROFILE),
        table.duration("timeout"),
        _retry(table),
        _outcomes(table),
    )


def _gate(table: Table, step_id: str) -> Step:
    return GateStep(
        step_id,
        table.text("gate", required=True),
        table.text("description"),
        table.duration("timeout") or GATE_TIMEOUT_S,
        table.whole("quorum", 1, least=1),
        table.texts("roles"),
        table.flag("reuse"),
    )


def _point(table: Table, step_id: str) -> Step:
    point, args = table.text("point", required=True), _args(table)
    return PointStep(step_id, point, args, table.text("description"), _outcomes(table))


def _args(table: Table) -> dict[str, Any]:
    args = table.table("args", f"args of {table.what}")
    for key, value in args.values.items():
        if wrong := _not_json(value):
            args.problem(key, f"{key} holds {wrong}; write it as text")
    return args.values


def _not_json(value: object) -> str | None:
    """Name what JSON can't carry: dates, and numbers that are none."""
    if isinstance(value, dt.date | dt.time):
        return "a date or time"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number without a value"
    inner: list[object] = []
    if isinstance(value, dict):
        inner = list(cast("dict[str, object]", value).values())
    elif isinstance(value, list):
        inner = cast("list[object]", value)
    return next((wrong for each in inner if (wrong := _not_json(each))), None)


def _retry(table: Table) -> Retry | None:
    """Read ``retry = 3``, or the table with its waits."""
    value = table.take("retry")
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return Retry(attempts=table.whole("retry", 1, least=1))
    inner = table.table("retry", f"retry of {table.what}")
    retry = read_retry(inner)
    inner.close()
    return retry


def _outcomes(table: Table) -> tuple[Outcome, ...]:
    """Read ``outcome = { name, from }``, or a list of them."""
    value = table.take("outcome", [])
    if not isinstance(value, list):
        return (_outcome(table.table("outcome", f"outcome of {table.what}")),)
    return tuple(_outcome(each) for each in table.tables("outcome", f"outcome of {table.what}"))


def _outcome(table: Table) -> Outcome:
    outcome = Outcome(table.text("name", required=True), table.text("from", "stdout"))
    table.close()
    return outcome

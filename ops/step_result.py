"""How one attempt of a step ended, as the machine hears it, and one maker for each kind of end."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ops.durations import format_duration
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

ResultStatus: TypeAlias = Literal["ok", "fail", "cancelled", "timeout"]


@frozen
class StepResult:
    """One attempt's end.  ``output`` is what later steps may refer to."""

    status: ResultStatus
    exit_code: int | None = None
    error: str | None = None
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output_digest: str = ""
    """sha256 (hex) of what was printed, before it was bounded; empty when nothing was."""
    output_bytes: int = 0


@frozen
class Printed:
    """What an attempt printed: bounded text, and digest and size of all of it."""

    text: str = ""
    digest: str = ""
    total_bytes: int = 0


NOTHING = Printed()


def exited(exit_code: int, printed: Printed = NOTHING) -> StepResult:
    """A program ended by itself: code 0 is ok."""
    output = {"stdout": printed.text.strip(), "exit_code": exit_code}
    error = f"exit code {exit_code}" if exit_code else None
    return _result("fail" if exit_code else "ok", exit_code, error, output, printed)


def returned(value: object, printed: Printed = NOTHING) -> StepResult:
    """A callable returned: a table becomes the output, anything else its ``value``."""
    output: dict[str, Any] = {"stdout": printed.text.strip()}
    if isinstance(value, dict):
        output.update(cast("dict[str, Any]", value))
    elif value is not None:
        output["value"] = value
    return _result("ok", None, None, output, printed)


def reported(exit_code: int, report: bytes, printed: Printed = NOTHING) -> StepResult:
    """A program ended that was to write one JSON object: its ``value``, or an ``error``."""
    found = _report(report)
    if found is None or not {"value", "error"} & found.keys():
        error = f"it ended without a result (exit code {exit_code})"
        return _result("fail", exit_code, error, {"stdout": printed.text.strip()}, printed)
    if exit_code or "error" in found:
        error = str(found.get("error") or f"exit code {exit_code}")
        output = {"stdout": printed.text.strip(), "exit_code": exit_code}
        return _result("fail", exit_code, error, output, printed)
    return returned(found["value"], printed)


def failed(error: str, printed: Printed = NOTHING) -> StepResult:
    """It could not start, or a callable raised ``error``."""
    return _result("fail", None, error, {"stdout": printed.text.strip()}, printed)


def cancelled(exit_code: int | None = None, printed: Printed = NOTHING) -> StepResult:
    """It was aborted because the machine asked for it."""
    return _result("cancelled", exit_code, "cancelled", {"stdout": printed.text.strip()}, printed)


def timed_out(
    timeout_s: float | None, exit_code: int | None = None, printed: Printed = NOTHING
) -> StepResult:
    """It was aborted by its own time limit."""
    after = f" after {format_duration(timeout_s)}" if timeout_s else ""
    output = {"stdout": printed.text.strip()}
    return _result("timeout", exit_code, f"timed out{after}", output, printed)


def lost(error: str) -> StepResult:
    """Nobody can tell how it ended."""
    return StepResult("fail", error=f"lost: {error}")


def _report(data: bytes) -> dict[str, Any] | None:
    from ops.json_in import read_json

    try:
        found = read_json(data)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _result(
    status: ResultStatus,
    exit_code: int | None,
    error: str | None,
    output: Mapping[str, Any],
    printed: Printed,
) -> StepResult:
    return StepResult(status, exit_code, error, output, printed.digest, printed.total_bytes)

"""The variables that a step finds in its environment.  Pure: the environment is passed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ops.params import param_text, param_variable
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.plan import Plan
    from ops.run_values import Origin, RunContext

MAX_ERROR_CHARS = 4096
"""Linux refuses a variable over 128 KiB, and then the clean-up could not start."""

PER_RUN = ("CHANT_PARAM_", "CHANT_FAILURE_")
"""Prefixes that belong to one run and must not leak from one into a run inside it."""

PYTHON_STREAMS = "PYTHONIOENCODING"
"""Says what the streams of one process are.  Those of a step are pipes, and are read as UTF-8."""

CHANNEL = "CHANT_CHANNEL"
"""How a process came to run chant.  Inherited by the steps of a run, so that a command in a step
can't pass for one that a person typed at a terminal."""

CHANNELS: dict[str, Origin] = {"acp": "acp", "operator": "operator", "temporal": "temporal"}


@frozen
class Failure:
    """Why a run went wrong: the first cause, which later ones never replace."""

    kind: Literal["fail", "cancelled", "lost"]
    error: str
    step_id: str = ""
    phase: str = ""
    fn: str = ""
    exit_code: int | None = None


def run_variables(plan: Plan, context: RunContext) -> dict[str, str]:
    """Return what every step of a run gets beside the environment of the process."""
    variables = {"CHANT_RUN_ID": context.run_id, "CHANT_ENV": plan.env, "CHANT_OP": plan.op}
    if context.steward:
        variables["CHANT_STEWARD"] = context.steward
    for name, value in plan.params.items():
        variables[param_variable(name)] = param_text(value)
    return variables


def failure_variables(failure: Failure) -> dict[str, str]:
    """Return what the steps of on_failure learn of the failure; unknown is empty."""
    code = "" if failure.exit_code is None else str(failure.exit_code)
    return {
        "CHANT_FAILURE_KIND": failure.kind,
        "CHANT_FAILURE_STEP": failure.step_id,
        "CHANT_FAILURE_PHASE": failure.phase,
        "CHANT_FAILURE_FN": failure.fn,
        "CHANT_FAILURE_ERROR": failure.error[:MAX_ERROR_CHARS].replace(
            "\0", "\N{REPLACEMENT CHARACTER}"
        ),
        "CHANT_FAILURE_EXIT_CODE": code,
    }


def process_env(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a step: ``base`` without another run's, then ``extra``."""
    kept = {name: value for name, value in base.items() if not name.startswith(PER_RUN)}
    if PYTHON_STREAMS in kept:
        kept[PYTHON_STREAMS] = "utf-8"
    return {**kept, **extra}


def channel_of(environ: Mapping[str, str]) -> Origin:
    """Return the channel that a process belongs to: a terminal, unless it was told another."""
    return CHANNELS.get(environ.get(CHANNEL, ""), "cli")

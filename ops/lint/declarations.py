"""Rules about what is declared: what can't work, and what probably was not meant.  Pure."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast

from ops.checking import check_op
from ops.cron import CronInvalid, parse_cron
from ops.errors import unknown
from ops.loading import SUFFIX
from ops.model import GateStep, ParamRef
from ops.params import param_variable
from ops.project import CONFIG
from ops.references import references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.lint.rule import Found
    from ops.lint.subject import Subject
    from ops.model import Op, Step
    from ops.toml_lines import KeyPath

PLACE = re.compile(r"(?P<file>[^:\n]+):(?P<line>[0-9]+): (?P<reason>.*)")

RUN_WORDS = frozenset({"list", "status", "log", "report", "cancel"})
"""What may follow ``chant run`` and is no Op."""

LINT_KEYS = ("ignore",)


def invalid_config(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with chant.toml."""
    for line in subject.invalid:
        found = PLACE.fullmatch(line)
        yield (found["file"], int(found["line"]), found["reason"]) if found else (CONFIG, 1, line)
    for key in subject.project.lint:
        if key not in LINT_KEYS:
            yield CONFIG, 1, f"lint: {unknown('key', key, LINT_KEYS)}"


def invalid_ops(subject: Subject) -> Iterator[Found]:
    """Yield everything that keeps Ops from running."""
    catalog = subject.catalog
    every = (each for op in catalog.ops.values() for each in check_op(op, catalog))
    for problem in (*catalog.problems, *every):
        if problem not in catalog.points.problems:
            yield problem.file, problem.line, problem.reason


def invalid_points(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with decision points."""
    for problem in subject.catalog.points.problems:
        yield problem.file, problem.line, problem.reason


def invalid_resources(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with resources, and Ops that they name and nobody declares."""
    for problem in subject.declared.problems:
        yield problem.file, problem.line, problem.reason
    known = {**subject.catalog.ops, **subject.catalog.broken}
    for resource in subject.declared.resources.values():
        if resource.op and resource.op not in known:
            reason = unknown("op", resource.op, known)
            yield resource.file, resource.line, f"resource {resource.name}: {reason}"


def invalid_stewards(subject: Subject) -> Iterator[Found]:
    """Yield Ops and environments that stewards name and nobody declares."""
    project, known = subject.project, {**subject.catalog.ops, **subject.catalog.broken}
    for steward in project.stewards.values():
        for name in dict.fromkeys((*steward.ops, *(op for op, _ in steward.schedule))):
            if name not in known:
                yield CONFIG, 1, f"steward {steward.name}: {unknown('op', name, known)}"
        for op, cron in steward.schedule:
            if reason := _unkept(cron):
                yield CONFIG, 1, f"steward {steward.name}: {reason}"
            if op not in steward.ops:
                yield CONFIG, 1, f"steward {steward.name}: schedules {op}, which is not its own"
        env, declared = steward.environment, project.known_environments
        if env and env not in declared:
            yield CONFIG, 1, f"steward {steward.name}: {unknown('environment', env, declared)}"


def unused_params(subject: Subject) -> Iterator[Found]:
    """Yield parameters of Ops that no step uses."""
    for op in subject.catalog.ops.values():
        args = [step_args(step) for step in _steps(op)]
        named = {ref.name for ref in references(args) if isinstance(ref, ParamRef)}
        texts = "\n".join(_texts(args))
        for name in op.params:
            if name not in named and param_variable(name) not in texts:
                reason = f"no step names parameter {name!r}, nor {param_variable(name)}"
                yield _at(op, ("params", name), f"op {op.name}: {reason}")


def missing_overviews(subject: Subject) -> Iterator[Found]:
    """Yield Ops that don't say what they are for."""
    for op in subject.catalog.ops.values():
        if not op.overview:
            yield _at(op, ("name",), f"op {op.name} has no overview")


def misleading_names(subject: Subject) -> Iterator[Found]:
    """Yield Ops whose file has another name, or whose name is a word of the command line."""
    for op in subject.catalog.ops.values():
        stem = os.path.basename(op.file).removesuffix(SUFFIX)
        if op.file.endswith(SUFFIX) and stem != op.name:
            yield _at(op, ("name",), f"op {op.name} is declared in {os.path.basename(op.file)}")
        if op.name in RUN_WORDS:
            yield _at(op, ("name",), f"chant run {op.name} is a verb: run it as run -- {op.name}")


def idle_gates(subject: Subject) -> Iterator[Found]:
    """Yield gates with nothing behind them: whoever opens one opens nothing."""
    for op in subject.catalog.ops.values():
        steps = _steps(op, clean_up=False)
        if steps and isinstance(steps[-1], GateStep):
            index = len(op.phases) - 1
            reason = f"op {op.name}: gate {steps[-1].gate!r} is the last step and guards nothing"
            yield _at(op, ("phases", index), reason)


def step_args(step: Step) -> Any:
    """Return the args of a step, none for a gate."""
    return {} if isinstance(step, GateStep) else dict(step.args)


def _steps(op: Op, *, clean_up: bool = True) -> list[Step]:
    phases = (*op.phases, *op.on_failure) if clean_up else op.phases
    return [step for phase in phases for step in phase.steps]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(cast("dict[str, object]", value).values()))
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from _texts(item)


def _at(op: Op, path: KeyPath, message: str) -> Found:
    return op.file, op.source.lines.line(path) if op.source else 1, message


def _unkept(cron: str) -> str:
    """Say why a schedule can't be kept; empty if it can."""
    try:
        parse_cron(cron)
    except CronInvalid as error:
        return error.message
    return ""

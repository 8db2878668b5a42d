"""What an Op means, judged before anything runs: names, references, dependencies, args.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.activities.table import ACTIVITIES
from ops.errors import ParamInvalid, unknown
from ops.findings import Findings
from ops.model import ActivityStep, GateStep, OutputRef, ParamRef, PointStep
from ops.params import param_variable, typed_value
from ops.profiles import all_profiles
from ops.references import references
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ops.activities.activity import Activity
    from ops.findings import Problem
    from ops.loading import Catalog
    from ops.model import Op, Param, Phase, Step
    from ops.points import Point
    from ops.toml_lines import KeyPath


def check_op(op: Op, catalog: Catalog) -> tuple[Problem, ...]:
    """Return everything that keeps ``op`` from running; empty: it may."""
    lines = op.source.lines if op.source else LineIndex("")
    findings = Findings(op.file, lines)
    checks = _Checks(op, catalog, findings)
    checks.names()
    checks.environments()
    checks.params()
    checks.depends()
    checks.steps()
    return tuple(sorted(set(findings.problems)))


def check_draft(op: Op, catalog: Catalog, told: Collection[int]) -> tuple[Problem, ...]:
    """Return what ``op`` names in vain, and args that don't fit.

    It may lack what its file says wrongly; ``told`` are the lines where it does.
    """
    findings = Findings(op.file, op.source.lines if op.source else LineIndex(""))
    checks = _Checks(op, catalog, findings)
    checks.environments()
    checks.depends()
    checks.draft_steps(told)
    return tuple(sorted(set(findings.problems)))


def check_catalog(catalog: Catalog) -> tuple[Problem, ...]:
    """Return the findings of all files, those that could not be read first."""
    found = (problem for op in catalog.ops.values() for problem in check_op(op, catalog))
    return (*catalog.problems, *found)


class _Checks:
    """The checks of one Op.  Each notes what it finds and none stops the others."""

    def __init__(self, op: Op, catalog: Catalog, findings: Findings) -> None:
        self.op = op
        self.catalog = catalog
        self.findings = findings
        self.profiles = all_profiles(catalog.project.profiles)
        self.known_params = {**catalog.project.params, **op.params}
        onfailure = findings.lines.line(("onFailure",)) > findings.lines.line(())
        self.failure_key = "onFailure" if onfailure else "on_failure"

    def names(self) -> None:
        """Phases and step ids are unique in an Op, on_failure included."""
        seen: dict[str, str] = {}
        for path, phase in self._phases():
            if phase.name in seen:
                self._add((*path, "name"), f"phase {phase.name!r} is declared twice")
            seen[phase.name] = phase.name
        ids: set[str] = set()
        for path, _phase, step in self._steps():
            if step.step_id in ids:
                self._add((*path, "id"), f"step id {step.step_id!r} is used twice")
            ids.add(step.step_id)

    def environments(self) -> None:
        """An Op names only environments that the project has."""
        declared = self.catalog.project.known_environments
        for env in self.op.environments:
            if env not in declared:
                self._add(("environments",), unknown("environment", env, declared))

    def params(self) -> None:
        """Defaults and choices have the declared type, and no two names share a variable."""
        variables: dict[str, str] = {}
        for name, param in self.op.params.items():
            path: KeyPath = ("params", name)
            for reason in _param_problems(param):
                self._add(path, reason)
            variable = param_variable(name)
            if variable in variables:
                other = variables[variable]
                self._add(path, f"params {other!r} and {name!r} would both be {variable}")
            variables[variable] = name

    def depends(self) -> None:
        """Each name is an Op, and no Op needs itself."""
        known = {**self.catalog.ops, **self.catalog.broken}
        for name in self.op.depends:
            if name not in known:
                self._add(("depends",), unknown("op", name, known))
        if cycle := _cycle(self.op, self.catalog.ops):
            self._add(("depends",), f"dependency cycle: {' -> '.join(cycle)}")

    def steps(self) -> None:
        """Each step can be started: its activity, profile, args and references exist."""
        earlier: set[str] = set()
        # on_failure runs in reverse, so what is declared last there is earlier.
        forward = [each for each in self._phases() if each[0][0] == "phases"]
        back = [each for each in self._phases() if each[0][0] != "phases"]
        for path, phase in [*forward, *reversed(back)]:
            if phase.parallel:
                self._parallel_gates(path, phase, first=not earlier)
            for index, step in enumerate(phase.steps):
                failing = path[0] == self.failure_key
                self._step((*path, "steps", index), step, earlier, failing=failing)
                # Steps side by side can't see each other's output.
                earlier |= set() if phase.parallel else {step.step_id}
            earlier |= {step.step_id for step in phase.steps}

    def draft_steps(self, told: Collection[int]) -> None:
        """Each step's activity and profile, or point, exists, and takes args that were read."""
        for path, _phase, step in self._steps():
            was_read = self.findings.lines.line((*path, "args")) not in told
            match step:
                case PointStep(point=point, args=args) if point:
                    found = self._known_point(path, point)
                    if found is not None and was_read:
                        self._point_args(path, found, args)
                case ActivityStep(fn=fn) if fn:
                    activity = self._known_activity(path, step)
                    if activity is not None and was_read:
                        self._activity_args(path, step, activity)
                case _:
                    pass

    def _step(self, path: KeyPath, step: Step, earlier: set[str], *, failing: bool) -> None:
        match step:
            case GateStep(gate=gate):
                if failing:
                    self._waits((*path, "gate"), f"gate {gate!r}")
            case PointStep(point=point, args=args):
                if failing:
                    self._waits((*path, "point"), f"point {point!r}")
                found = self._known_point(path, point)
                if found is not None:
                    self._point_args(path, found, args)
                self._references(path, args, earlier)
            case ActivityStep():
                activity = self._known_activity(path, step)
                if activity is not None:
                    self._activity_args(path, step, activity)
                self._references(path, step.args, earlier)

    def _waits(self, path: KeyPath, what: str) -> None:
        self._add(path, f"{what} stands in on_failure, which never waits for people")

    def _known_activity(self, path: KeyPath, step: ActivityStep) -> Activity | None:
        if step.profile not in self.profiles:
            self._add((*path, "profile"), unknown("profile", step.profile, self.profiles))
        known = {**self.catalog.activities, **ACTIVITIES}
        activity = known.get(step.fn)
        if activity is None:
            self._add((*path, "fn"), unknown("fn", step.fn, known))
        return activity

    def _activity_args(self, path: KeyPath, step: ActivityStep, activity: Activity) -> None:
        for name, reason in activity.problems(step.args):
            self._add((*path, "args", name), f"step {step.step_id}: {reason}")

    def _known_point(self, path: KeyPath, name: str) -> Point | None:
        points = self.catalog.points
        if name in points.broken:
            reason = f"point {name!r} can't be asked: its file has findings"
            self._add((*path, "point"), reason)
        elif name not in points.points:
            known = {**points.points, **points.broken}
            self._add((*path, "point"), unknown("point", name, known))
        return points.points.get(name)

    def _point_args(self, path: KeyPath, point: Point, args: Mapping[str, object]) -> None:
        """A point gets each of its inputs, in a type that fits."""
        for key, reason in point.misfits(args):
            self._add((*path, "args", key), reason)

    def _references(self, path: KeyPath, args: object, earlier: set[str]) -> None:
        for reference in references(args):
            match reference:
                case ParamRef(name):
                    if name not in self.known_params:
                        self._add((*path, "args"), unknown("parameter", name, self.known_params))
                case OutputRef(step_id):
                    if step_id not in earlier:
                        reason = unknown("earlier step", step_id, earlier)
                        self._add((*path, "args"), reason)

    def _parallel_gates(self, path: KeyPath, phase: Phase, *, first: bool) -> None:
        """Refuse a gate that is not clearly before something.

        Gates of a parallel phase are decided before its other steps start.  One that opens the
        whole Op, or that stands only beside other gates, guards nothing that was meant.
        """
        kinds = [isinstance(step, GateStep) for step in phase.steps]
        for index, step in enumerate(phase.steps):
            nothing_before = first and index == 0
            if isinstance(step, GateStep) and (all(kinds) or nothing_before):
                reason = f"gate {step.gate!r} has nothing to guard in parallel phase {phase.name!r}"
                hint = "put it in a phase of its own before what it guards"
                self._add((*path, "steps", index, "gate"), f"{reason}; {hint}")

    def _phases(self) -> Iterator[tuple[KeyPath, Phase]]:
        for key, phases in (("phases", self.op.phases), (self.failure_key, self.op.on_failure)):
            for index, phase in enumerate(phases):
                yield (key, index), phase

    def _steps(self) -> Iterator[tuple[KeyPath, Phase, Step]]:
        for path, phase in self._phases():
            for index, step in enumerate(phase.steps):
                yield (*path, "steps", index), phase, step

    def _add(self, path: KeyPath, reason: str) -> None:
        self.findings.add(path, reason)


def _param_problems(param: Param) -> Iterator[str]:
    plain = [] if param.default is None else [param.default]
    for value in [*plain, *param.enum]:
        if isinstance(value, str) and param.type != "string":
            yield f"parameter {param.name!r} is of type {param.type}, not {value!r}"
            continue
        try:
            typed_value(param, value)
        except ParamInvalid as error:
            yield error.message


def _cycle(op: Op, ops: Mapping[str, Op]) -> list[str] | None:
    """Return the names of a cycle through ``op``, it first and last."""
    trail: list[list[str]] = [[op.name]]
    seen: set[str] = set()
    while trail:
        path = trail.pop()
        for name in ops[path[-1]].depends if path[-1] in ops else ():
            if name == op.name:
                return [*path, name]
            if name not in seen:
                seen.add(name)
                trail.append([*path, name])
    return None

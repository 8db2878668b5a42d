"""The activities that a project brings: functions of its modules, and of installed packages.

They are read off the source, which is never executed here; only a step that calls one does that,
in a process of its own.  So an activity is a function that is written at the top of its module:
all that ``__all__`` names, or all without an underscore before their name.
"""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from ops.activities.activity import Activity, Arg
from ops.activities.table import ACTIVITIES, PYTHON
from ops.findings import Problem
from ops.model import ActivityStep, Phase
from ops.plain_file import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.model import Op, Step
    from ops.project import Project

GROUP = "chantry.activities"
"""Entry points of installed packages: a module, or one function of it under the point's name."""

MAX_SOURCE_BYTES = 4 * 1024 * 1024
CONFIG = "chant.toml"

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Found:
    """What modules bring, and what is wrong with them."""

    activities: dict[str, Activity] = field(default_factory=dict[str, Activity])
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, activity: Activity, file: str, line: int) -> None:
        """Take an activity, unless the name is taken."""
        other = self.activities.get(activity.name)
        if activity.name in ACTIVITIES or (other and other.call != activity.call):
            owner = f"{other.call} has" if other else "chant has one of"
            reason = f"{activity.call} can't be an activity: {owner} that name"
            self.problems.append(Problem(file, line, reason))
        else:
            self.activities[activity.name] = activity


def project_activities(project: Project) -> Found:
    """Read ``[activities] modules`` and the entry points of the group `GROUP`."""
    found = Found()
    for module in project.activity_modules:
        file = _file_of(module, (project.root, *sys.path))
        if file is None:
            found.problems.append(_missing(project.root, module))
        else:
            _add_all(found, module, file, os.path.relpath(file, project.root))
    _add_installed(found)
    return found


def bound(op: Op, found: Mapping[str, Activity]) -> Op:
    """Return the Op with its steps bound to the functions that they ask for."""
    phases = tuple(_bound_phase(phase, found) for phase in op.phases)
    on_failure = tuple(_bound_phase(phase, found) for phase in op.on_failure)
    return replace(op, phases=phases, on_failure=on_failure)


def _add_installed(found: Found) -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        module, _, function = point.value.partition(":")
        file = _file_of(module, sys.path)
        if file is None:
            reason = f"entry point {point.name} of {GROUP}: there is no module {module!r}"
            found.problems.append(Problem(CONFIG, 1, reason))
        elif not function:
            _add_all(found, module, file, file)
        else:
            for each in _read(module, file, file, found):
                if each.name == function:
                    found.add(replace(_activity(module, each), name=point.name), file, each.lineno)


def _add_all(found: Found, module: str, file: str, shown: str) -> None:
    for function in _read(module, file, shown, found):
        found.add(_activity(module, function), shown, function.lineno)


def _read(module: str, file: str, shown: str, found: Found) -> list[_Function]:
    try:
        with open(file, "rb", opener=plain) as stream:
            tree = ast.parse(stream.read(MAX_SOURCE_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else 1
        reason = f"module {module} can't be read: {getattr(error, 'msg', error)}"
        found.problems.append(Problem(shown, line or 1, reason))
        return []
    functions = [each for each in tree.body if isinstance(each, _Function)]
    named = _exported(tree)
    if named is None:
        return [each for each in functions if not each.name.startswith("_")]
    return [each for each in functions if each.name in named]


def _exported(tree: ast.Module) -> list[object] | None:
    """Return what ``__all__`` lists; None without it."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if "__all__" in names and isinstance(node, ast.Assign):
            try:
                return list(cast("Iterable[object]", ast.literal_eval(node.value)))
            except (ValueError, TypeError):
                return None
    return None


def _activity(module: str, function: _Function) -> Activity:
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    optional = plain[len(plain) - len(given.defaults) :]
    args = [Arg(each.arg, "any", each.arg, required=each not in optional) for each in plain]
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        args.append(Arg(each.arg, "any", each.arg, required=default is None))
    summary = (ast.get_docstring(function) or "").partition("\n")[0]
    return Activity(
        function.name,
        summary,
        tuple(args),
        PYTHON,
        call=f"{module}:{function.name}",
        open=given.kwarg is not None,
    )


def _file_of(module: str, folders: Iterable[str]) -> str | None:
    """Find a module's source without importing the packages around it."""
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    path = os.path.join(*module.split("."))
    for folder in folders:
        for file in (f"{path}.py", os.path.join(path, "__init__.py")):
            if folder and os.path.isfile(os.path.join(folder, file)):
                return os.path.join(folder, file)
    return None


def _missing(root: str, module: str) -> Problem:
    from ops.toml_lines import LineIndex

    with open(os.path.join(root, CONFIG), encoding="utf-8-sig", opener=plain) as stream:
        line = LineIndex(stream.read()).line(("activities", "modules"))
    file = module.replace(".", "/") + ".py"
    reason = f"there is no module {module!r}: no {file} in the project, and none installed"
    return Problem(CONFIG, line, reason)


def _bound_phase(phase: Phase, found: Mapping[str, Activity]) -> Phase:
    return replace(phase, steps=tuple(_bound_step(step, found) for step in phase.steps))


def _bound_step(step: Step, found: Mapping[str, Activity]) -> Step:
    if not isinstance(step, ActivityStep) or step.fn in ACTIVITIES or step.fn not in found:
        return step
    return replace(step, call=found[step.fn].call)

"""From a request to a checked plan.  Reads the project's files, changes and starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.checking import check_op
from ops.errors import EnvUnknown, OpInvalid, OpNotFound, OpsError, ParamInvalid
from ops.loading import load_catalog
from ops.plan import make_plan
from ops.points import PointUnknown
from ops.project import choose_environment, find_project
from ops.stewards import StewardUnknown
from protocol.values import frozen
from runtimes.chant.verbs.verb import REFUSED, USAGE

if TYPE_CHECKING:
    from ops.loading import Catalog
    from ops.model import Op
    from ops.plan import Plan
    from ops.project import Project
    from runtimes.chant.run_tasks import RunRequest


@frozen
class Planned:
    """A plan and what it was made from."""

    plan: Plan
    op: Op
    project: Project
    catalog: Catalog


def planned(request: RunRequest) -> Planned:
    """Find, check and resolve the Op that was asked for.

    Raises:
        OpsError: There is no such Op, environment or parameter, or the Op may not run.

    """
    given = given_params(request.params)
    project = find_project(request.cwd)
    catalog = load_catalog(project)
    op = catalog.find(request.op)
    problems = check_op(op, catalog)
    if problems:
        raise OpInvalid("\n".join(map(str, problems)))
    env = choose_environment(project, request.env)
    return Planned(make_plan(op, project, env, given, request.environ), op, project, catalog)


def given_params(texts: tuple[str, ...], flag: str = "--param") -> dict[str, str]:
    """Read the ``name=value`` texts of a flag.

    Raises:
        ParamInvalid: One has no name or no value, or a name comes twice.

    """
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            message = f"{flag} {text[:80]!r} is not of the form NAME=VALUE"
            raise ParamInvalid(message)
        if name in given:
            message = f"{flag} {name[:80]!r} is given twice"
            raise ParamInvalid(message)
        given[name] = value
    return given


def refusal_code(error: OpsError) -> int:
    """Return the exit code: what was typed is wrong, or what it names may not run."""
    misused = OpNotFound | EnvUnknown | ParamInvalid | PointUnknown | StewardUnknown
    return USAGE if isinstance(error, misused) else REFUSED

"""The project: the folder that holds the Ops, and what its chant.toml says of it."""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.errors import EnvUnknown, ProjectInvalid, ProjectNotFound, unknown
from ops.op_file import read_params, read_retry
from ops.toml_file import read_table
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.findings import Table
    from ops.model import Param, Profile

CONFIG = "chant.toml"
DEFAULT_ENVIRONMENT = "local"
ENVIRONMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""An environment names a folder of the ledger and of a build."""

DEFAULT_BRANCH = "chant/lifecycle"
PushPolicy: TypeAlias = Literal["never", "try", "require"]
PUSH_POLICIES: dict[str, PushPolicy] = {"never": "never", "try": "try", "require": "require"}


@frozen
class LedgerSettings:
    """Where runs are recorded.  ``remote`` None: nothing is pushed."""

    branch: str = DEFAULT_BRANCH
    remote: str | None = None
    push: PushPolicy = "never"


@frozen
class Steward:
    """A declared steward."""

    name: str
    environment: str = ""
    ops: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    schedule: tuple[tuple[str, str], ...] = ()
    """(op, cron) pairs."""


@frozen
class Project:
    """A project.  ``root`` is absolute; ``config`` tells whether it has a chant.toml."""

    root: str
    config: bool = False
    name: str = ""
    environments: tuple[str, ...] = ()
    default_environment: str | None = None
    python_ops: bool = False
    compensation_timeout_s: float = 300.0
    """How long the on_failure phases of a run may take together."""
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    params: Mapping[str, Param] = field(default_factory=dict[str, "Param"])
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, "Profile"])
    activity_modules: tuple[str, ...] = ()
    stewards: Mapping[str, Steward] = field(default_factory=dict[str, Steward])
    resources: tuple[Mapping[str, Any], ...] = ()
    """As declared; their readers know the keys."""
    lint: Mapping[str, Any] = field(default_factory=dict[str, Any])
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Role to the people who hold it; gates ask for roles."""

    @property
    def known_environments(self) -> tuple[str, ...]:
        """Those that are declared; without any there is ``local``."""
        return self.environments or (DEFAULT_ENVIRONMENT,)

    def roles_of(self, person: str) -> tuple[str, ...]:
        """Return the roles that someone holds."""
        who = person.strip().casefold()
        held = (role for role, people in self.roles.items() if who in map(str.casefold, people))
        return tuple(sorted(held))


def find_root(folder: str) -> str:
    """Return the nearest folder upward with chant.toml, else the top of the git checkout.

    Raises:
        ProjectNotFound: There is neither.

    """
    checkout: str | None = None
    here = os.path.realpath(folder)
    while True:
        if os.path.isfile(os.path.join(here, CONFIG)):
            return here
        if checkout is None and os.path.exists(os.path.join(here, ".git")):
            checkout = here
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    if checkout is None:
        raise ProjectNotFound(folder)
    return checkout


def find_project(folder: str) -> Project:
    """Find the project that ``folder`` belongs to and read its chant.toml, if it has one.

    Raises:
        ProjectNotFound: See `find_root`.
        ProjectInvalid: chant.toml has findings.

    """
    root = find_root(folder)
    if not os.path.isfile(os.path.join(root, CONFIG)):
        return Project(root, name=os.path.basename(root))
    table, findings = read_table(root, CONFIG)
    project = _project(root, table) if table else None
    if project is None or findings.problems:
        raise ProjectInvalid("\n".join(map(str, sorted(findings.problems))))
    return project


def choose_environment(project: Project, asked: str | None) -> str:
    """Return the environment to work in: asked for, default, the only one, or ``local``.

    Raises:
        EnvUnknown: ``asked`` is not declared.

    """
    declared = project.environments
    if asked is not None:
        if asked not in project.known_environments:
            raise EnvUnknown(unknown("environment", asked, project.known_environments))
        return asked
    if project.default_environment:
        return project.default_environment
    return declared[0] if len(declared) == 1 else DEFAULT_ENVIRONMENT


def _project(root: str, top: Table) -> Project:
    own = top.table("project", "project")
    environments = own.texts("environments")
    for env in environments:
        if not ENVIRONMENT.fullmatch(env):
            own.problem("environments", f"environment {env!r}: letters, digits, _, - and . only")
    default = own.text("default_environment") or None
    if default and default not in environments:
        own.problem("default_environment", unknown("environment", default, environments))
    project = Project(
        root,
        config=True,
        name=own.text("name") or os.path.basename(root),
        environments=environments,
        default_environment=default,
        python_ops=own.flag("python_ops"),
        compensation_timeout_s=own.duration("compensation_timeout") or 300.0,
        ledger=_ledger(top.table("ledger", "ledger")),
        params=read_params(top.table("params", "params")),
        profiles=_profiles(top.table("profiles", "profiles")),
        activity_modules=_modules(top.table("activities", "activities")),
        stewards=_stewards(top),
        resources=tuple(dict(each.values) for each in top.tables("resource", "resource")),
        lint=dict(top.table("lint", "lint").values),
        roles=_roles(top.table("roles", "roles")),
    )
    own.close()
    top.close()
    return project


def _ledger(table: Table) -> LedgerSettings:
    asked = table.text("push", "never")
    push = PUSH_POLICIES.get(asked)
    if push is None:
        table.problem("push", unknown("policy", asked, PUSH_POLICIES))
    branch = table.text("branch", DEFAULT_BRANCH)
    settings = LedgerSettings(branch, table.text("remote") or None, push or "never")
    if settings.push != "never" and settings.remote is None:
        table.problem("push", f"push = {push!r} needs a remote")
    table.close()
    return settings


def _profiles(table: Table) -> dict[str, Profile]:
    from ops.model import Profile

    found: dict[str, Profile] = {}
    for name in list(table.values):
        each = table.table(name, f"profile {name}")
        timeout_s = each.duration("timeout") or 300.0
        found[name] = Profile(name, timeout_s, read_retry(each))
        each.close()
    return found


def _modules(table: Table) -> tuple[str, ...]:
    modules = table.texts("modules")
    table.close()
    return modules


def _roles(table: Table) -> dict[str, tuple[str, ...]]:
    return {role: table.texts(role) for role in list(table.values)}


def _stewards(top: Table) -> dict[str, Steward]:
    found: dict[str, Steward] = {}
    for table in top.tables("steward", "steward"):
        steward = Steward(
            table.text("name", required=True),
            table.text("environment"),
            table.texts("ops"),
            table.texts("capabilities"),
            tuple(_schedule(each) for each in table.tables("schedule", "schedule")),
        )
        table.close()
        if steward.name in found:
            table.problem("name", f"another steward is called {steward.name!r}")
        _check_steward(table, steward, found.values())
        found[steward.name] = steward
    return found


def _check_steward(table: Table, steward: Steward, others: Iterable[Steward]) -> None:
    """Note an Op that two stewards would run in one environment, or one steward twice."""
    env = steward.environment
    for op in steward.ops:
        if steward.ops.count(op) > 1:
            table.problem("ops", f"op {op!r} is named twice")
            break
        taken = [each.name for each in others if op in each.ops and each.environment == env]
        if taken:
            table.problem("ops", f"op {op!r} belongs to steward {taken[0]!r} there already")


def _schedule(table: Table) -> tuple[str, str]:
    pair = table.text("op", required=True), table.text("cron", required=True)
    table.close()
    return pair

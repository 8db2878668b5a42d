"""Checks of what chant needs around it.  Each says what it found; none changes anything."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ops.checking import check_catalog
from ops.counts import counted
from ops.errors import LedgerError, OpsError
from ops.git import Git
from ops.in_flight import InFlight
from ops.ledger import Ledger, open_ledger
from ops.loading import load_catalog
from ops.model import ActivityStep
from ops.project import find_project, find_root
from ops.project_activities import project_activities
from ops.resources.resource import load_resources
from ops.taken_name import branch_in_the_way

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.project import Project

REMOTE_TIMEOUT_S = 10.0
NO_IDENTITY = (
    "none; facts are committed as chant@localhost; set one with: git config --global user.name"
    " NAME, and user.email"
)
OLDEST_PYTHON = (3, 11)

PROGRAMS = {
    "git_tag": "git",
    "git_push": "git",
    "kubectl_apply": "kubectl",
    "helm_upgrade": "helm",
    "kubernetes": "kubectl",
}
"""What an activity or a reader runs."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: ``warn`` works in a lesser way, ``fail`` does not."""

    name: str
    status: Literal["pass", "warn", "fail"]
    detail: str


def examine(folder: str, environ: Mapping[str, str]) -> list[Check]:
    """Check everything for the project that ``folder`` belongs to."""
    checks = [_python(), _processes()]
    try:
        root = find_root(folder)
    except OpsError as error:
        return [*checks, *_git(folder, environ), Check("project", "fail", error.message)]
    checks += _git(root, environ)
    try:
        project = find_project(folder)
    except OpsError as error:
        return [*checks, Check("config", "fail", error.message)]
    checks.append(Check("config", "pass", _config(project)))
    checks += [*_declarations(project), *_programs(project, environ)]
    return [*checks, *_guarded("ledger", lambda: list(_ledger(project)))]


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    said = f"{version} at {sys.executable}"
    return Check("python", "pass" if sys.version_info >= OLDEST_PYTHON else "fail", said)


def _processes() -> Check:
    if os.path.exists("/proc/self/stat"):
        return Check("processes", "pass", "steps are watched through /proc")
    return Check("processes", "warn", "no /proc: what a step starts may outlive a killed chant")


def _git(root: str, environ: Mapping[str, str]) -> list[Check]:
    git = Git(root, environ)
    try:
        version = git.text("version")
    except LedgerError as error:
        return [Check("git", "fail", error.message)]
    known = git.ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    said = known.rsplit(" ", 2)[0] if known else NO_IDENTITY
    return [
        Check("git", "pass", version.removeprefix("git version ")),
        Check("identity", "pass" if known else "warn", said),
    ]


def _config(project: Project) -> str:
    if not project.config:
        return "no chant.toml: the top of the checkout is the project"
    return f"{project.name}: environments {', '.join(project.environments) or 'local'}"


def _declarations(project: Project) -> Iterator[Check]:
    catalog = load_catalog(project)
    problems = check_catalog(catalog)
    said = counted(len(catalog.ops), "Op")
    if problems:
        listed = "; ".join(map(str, problems[:3]))
        yield Check("ops", "fail", f"{said}, {counted(len(problems), 'problem')}: {listed}")
    else:
        yield Check("ops", "pass", said)
    declared = load_resources(project)
    told = counted(len(declared.resources), "resource")
    if declared.problems:
        yield Check("resources", "fail", f"{told}; {declared.problems[0]}")
    else:
        yield Check("resources", "pass", told)


def _programs(project: Project, environ: Mapping[str, str]) -> list[Check]:
    """Look for the programs that the project's own steps and resources run."""
    steps = (s for op in load_catalog(project).ops.values() for p in op.phases for s in p.steps)
    used = {step.fn for step in steps if isinstance(step, ActivityStep)}
    used |= {each.reader.name for each in load_resources(project).resources.values()}
    wanted = {PROGRAMS[name] for name in used if name in PROGRAMS} | {"sh"}
    missing = sorted(p for p in wanted if not shutil.which(p, path=environ.get("PATH")))
    if missing:
        return [Check("activities", "fail", f"not installed: {', '.join(missing)}")]
    own: tuple[str, ...] = ()
    if project.activity_modules:
        found = project_activities(project)
        if found.problems:
            return [Check("activities", "fail", "; ".join(map(str, found.problems[:3])))]
        own = tuple(sorted(found.activities))
    return [Check("activities", "pass", f"found {', '.join((*sorted(wanted), *own))}")]


def _ledger(project: Project) -> Iterator[Check]:
    ledger = open_ledger(project.root, project.ledger)
    if not isinstance(ledger, Ledger):
        yield Check("ledger", "fail", f"{ledger.reason}; chant run --no-ledger works")
        return
    yield _branch(ledger)
    yield _state(ledger)
    if ledger.settings.remote:
        yield _remote(ledger)


def _branch(ledger: Ledger) -> Check:
    name, tip = ledger.branch.name, ledger.branch.tip()
    if tip is None:
        shallow = ledger.git.text("rev-parse", "--is-shallow-repository") == "true"
        if shallow:
            hint = f"git fetch origin {name}:{name}"
            return Check("ledger", "warn", f"no branch {name} in this shallow clone; {hint}")
        if in_the_way := branch_in_the_way(ledger.git, name):
            return Check("ledger", "fail", in_the_way)
        return Check("ledger", "pass", f"branch {name} begins with the first run")
    for env in ledger.environments():
        ledger.newest_of_each(env)
    return Check("ledger", "pass", f"branch {name} at {tip[:12]}")


def _state(ledger: Ledger) -> Check:
    folder = ledger.state_dir
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK):
        return Check("notes", "fail", f"{folder} can't be written: a killed run would be lost")
    abandoned = [marker.record["id"] for marker, _ in InFlight(ledger.state_dir).abandoned()]
    if abandoned:
        said = f"interrupted runs, recorded with the next run: {', '.join(abandoned[:5])}"
        return Check("notes", "warn", said)
    return Check("notes", "pass", "no interrupted runs")


def _remote(ledger: Ledger) -> Check:
    remote = ledger.settings.remote or ""
    try:
        ledger.git.run("ls-remote", "--heads", remote, timeout_s=REMOTE_TIMEOUT_S)
    except LedgerError as error:
        needed = ledger.settings.push == "require"
        return Check("remote", "fail" if needed else "warn", error.message)
    return Check("remote", "pass", f"{remote} answers; push = {ledger.settings.push!r}")


def _guarded(name: str, check: Callable[[], list[Check]]) -> list[Check]:
    try:
        return check()
    except (OpsError, OSError) as error:
        return [Check(name, "fail", str(error))]

"""``chant build``: check everything, resolve it, and write plans and a manifest to dist/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import (
    FAILED,
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Build the project; with --check write nothing and say what would change."""
    from ops.build import build
    from ops.counts import counted
    from ops.errors import OpInvalid
    from ops.loading import load_catalog
    from ops.project import choose_environment, find_project
    from runtimes.chant.planning import given_params

    given, check = given_params(invocation.values("--param")), invocation.on("--check")
    project = find_project(around.cwd)
    env = choose_environment(project, invocation.value("--env"))
    try:
        made = build(load_catalog(project), env, given, around.environ, check=check)
    except OpInvalid as error:
        problems = error.message.splitlines()
        return Outcome(FAILED, _document(problems=problems), error.message)
    document = _document(made.value, sorted(made.files), made.stale, check=check)
    if check and made.stale:
        text = "\n".join(["dist/ is not up to date:", *made.stale])
        return Outcome(FAILED, document, text)
    files = counted(len(made.files), "file")
    written = f"{len(made.stale)} of {files} written to dist/" if made.stale else ""
    done = "checked" if check else written or "dist/ is up to date"
    return Outcome(OK, document, f"{counted(len(made.value['ops']), 'Op')} in {env}: {done}")


def _document(
    manifest: Mapping[str, Any] | None = None,
    files: Sequence[str] = (),
    stale: Sequence[str] = (),
    *,
    check: bool = True,
    problems: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "manifest": manifest,
        "files": list(files),
        "stale": list(stale),
        "written": bool(stale) and not check,
        "problems": list(problems),
    }


BUILD = Verb(
    path=("build",),
    summary="Check all Ops and write their plans and a manifest to dist/",
    handler=answer,
    document=(
        '{"manifest" (null if there are problems), "files", "stale" (those that were not there, or'
        ' differed), "written", "problems"}'
    ),
    own_flags=(
        Flag("--check", "only check: write nothing"),
        Flag("--param", "a parameter of an Op, may be given for each", "NAME=VALUE", many=True),
        Flag("--env", "the environment; else the project's default", "ENV"),
    ),
    exit_codes=(OK, FAILED, USAGE, REFUSED),
)

"""``chant doctor``: whether everything that chant needs is there."""

from __future__ import annotations

from runtimes.chant.verbs.verb import FAILED, OK, USAGE, Invocation, Outcome, Surroundings, Verb


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Check the surroundings; a check that fails is a finding."""
    del invocation
    from dataclasses import asdict

    from ops.doctor import examine
    from runtimes.chant.columns import columns

    checks = examine(around.cwd, around.environ)
    failed = any(check.status == "fail" for check in checks)
    text = "\n".join(columns((check.status, check.name, check.detail) for check in checks))
    document = {"ok": not failed, "checks": [asdict(check) for check in checks]}
    return Outcome(FAILED if failed else OK, document, text, is_answer=True, is_table=True)


DOCTOR = Verb(
    path=("doctor",),
    summary="Check what chant needs: git, identity, ledger, remote, config, activities, Python",
    handler=answer,
    document='{"ok", "checks": [{"name", "status" (pass, warn, fail), "detail"}]}',
    exit_codes=(OK, FAILED, USAGE),
)

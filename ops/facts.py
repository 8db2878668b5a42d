"""Who runs an Op, on which machine and on which commit: the part of a record that is looked up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ops.errors import LedgerError
from ops.git import Git
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen
class RunFacts:
    """``commit`` and ``dirty`` are None where there is no commit to speak of."""

    actor: str
    host: str
    commit: str | None = None
    dirty: bool | None = None
    """Tracked files differ from the commit."""


def run_facts(root: str, environ: Mapping[str, str] | None = None) -> RunFacts:
    """Look the facts up for the project at ``root``.  Never fails for want of git."""
    base = os.environ if environ is None else environ
    git = Git(root, base)
    actor, host = actor_of(base), os.uname().nodename
    try:
        commit = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if commit is None:
            return RunFacts(actor, host)
        changed = git.ask("status", "--porcelain", "--untracked-files=no", "--ignore-submodules")
    except LedgerError:
        return RunFacts(actor, host)
    return RunFacts(actor, host, commit, None if changed is None else bool(changed))


def actor_of(environ: Mapping[str, str]) -> str:
    """Return the name to record: a CI's word for who started it, else the login."""
    for name in ("CHANT_ACTOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "LOGNAME", "USER"):
        if environ.get(name):
            return environ[name]
    return f"uid {os.getuid()}"

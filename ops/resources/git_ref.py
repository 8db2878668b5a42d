"""The reader `git-ref`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ops.git import git_environment
from ops.resources.programs import run_program
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

NO_SUCH_REF = (1, 2)
"""show-ref says 1, ls-remote --exit-code says 2."""

PREFIXES = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
"""Where a short name is looked for; the order is git's own."""


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    ref, remote = keys["ref"], keys.get("remote")
    if ref.startswith("-") or (remote or "").startswith("-"):
        return unobserved("a ref or remote can't begin with a dash")
    folder = os.path.join(look.root, keys.get("repository", ""))
    what = ["ls-remote", "--exit-code", "--", remote, ref] if remote else ["show-ref", "--", ref]
    ran = run_program(["git", "-C", folder, *what], look, git_environment(look.environ))
    if isinstance(ran, str):
        return unobserved(ran)
    if ran.code in NO_SUCH_REF:
        return ABSENT
    if ran.code:
        return unobserved(ran.why)
    rows = (line.split(None, 1) for line in ran.stdout.decode(errors="replace").splitlines())
    commits = {row[1].strip(): row[0] for row in rows if len(row) > 1}
    found = next((commits[each + ref] for each in PREFIXES if each + ref in commits), None)
    return ABSENT if found is None else present(commit=found)

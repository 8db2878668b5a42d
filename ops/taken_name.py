"""A branch that can't be made, since another one's name begins, or goes on, as its own does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ops.git import Git

REFUSED = re.compile(r"'refs/heads/([^'\n]+)' exists; cannot create 'refs/heads/([^'\n]+)'")
"""How git names the two."""


def taken_name(said: str) -> str | None:
    """Return for people what to do, if git ``said`` that another branch is in the way."""
    refused = REFUSED.search(said)
    return None if refused is None else beside(*refused.groups())


def branch_in_the_way(git: Git, name: str) -> str | None:
    """Look for a branch that ``name``, which is none yet, can't be beside; say what to do.

    Raises:
        LedgerError: git can't tell.

    """
    parts = name.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    known = git.text("for-each-ref", "--format=%(refname)", f"refs/heads/{parts[0]}").splitlines()
    branches = [each.removeprefix("refs/heads/") for each in known]
    there = [each for each in above if each in branches]
    there += [each for each in branches if each.startswith(f"{name}/")]
    return beside(there[0], name) if there else None


def beside(there: str, ours: str) -> str:
    """Say that ``there`` keeps us from beginning ``ours``."""
    hint = "rename it, or set another branch in [ledger] of chant.toml"
    return f"a branch {there} is there, and git makes none called {ours} beside it: {hint}"

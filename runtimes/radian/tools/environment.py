"""The environment of the programs that tools start: ours, without what looks like a secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECRET_WORDS = frozenset(
    {"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS"}
    | {"PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS", "CREDS", "PAT", "AUTH", "COOKIE", "DSN"}
    | {"PGPASSWORD", "BEARER", "JWT", "SAS"}
)
_HARMLESS = frozenset({"PWD", "OLDPWD"})
_SIGNED_IN = r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"
_ADDS_CODE = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND"})
"""Makes a shell read a file that nobody sees in the command."""
_AGENTS = frozenset({"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GPG_TTY"})
"""Leads to programs that sign with a person's keys."""

PYTHON_STREAMS = "PYTHONIOENCODING"
"""Says what the streams of one process are.  Those of a tool's are pipes, and read as UTF-8."""

QUIET: Mapping[str, str] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
}
"""Nobody can type, so nothing should ask, page or open an editor."""


def tool_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for tools: of ``env`` what does not look like a secret."""
    passed = {name: value for name, value in env.items() if not looks_secret(name, value)}
    if PYTHON_STREAMS in passed:
        passed[PYTHON_STREAMS] = "utf-8"
    return {**passed, **QUIET}


def looks_secret(name: str, value: str) -> bool:
    """Tell whether a variable is better not passed on, by its name or by its value."""
    if name in _ADDS_CODE or name in _AGENTS:
        return True
    words = set(re.split(r"[^A-Z0-9]+", name.upper()))
    if words & _SECRET_WORDS and name not in _HARMLESS:
        return True
    return "://" in value and re.search(_SIGNED_IN, value) is not None

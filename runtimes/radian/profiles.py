"""The three profiles as one table: what is allowed, what is denied, what a person is asked.

A profile of the configuration extends one of them and only adds rules.  Pure: no I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

ProfileName: TypeAlias = Literal["read-only", "workspace", "full"]
Answer: TypeAlias = Literal["allow", "deny", "ask"]
Row: TypeAlias = Literal[
    "read_inside",
    "read_elsewhere",
    "read_secret",
    "write_inside",
    "write_protected",
    "write_elsewhere",
    "shell_sandboxed",
    "shell_unsandboxed",
    "job",
    "mcp_reading",
    "mcp",
    "fetch",
    "subagent",
    "talk",
]

PROFILE_NAMES: tuple[ProfileName, ...] = get_args(ProfileName)
DEFAULT_PROFILE: ProfileName = "workspace"

ROWS: Mapping[Row, str] = {
    "read_inside": "read, grep, glob inside the workspace and the folders of skills",
    "read_elsewhere": "read, grep, glob elsewhere",
    "read_secret": "read, grep, glob, write, patch in the secret set",
    "write_inside": "write, patch inside the workspace",
    "write_protected": "write, patch inside `.git` or `.radian` of the workspace",
    "write_elsewhere": "write, patch elsewhere",
    "shell_sandboxed": "shell in the sandbox",
    "shell_unsandboxed": "shell without a sandbox",
    "job": "background job",
    "mcp_reading": "MCP tool that says it only reads",
    "mcp": "other MCP tool",
    "fetch": "fetch",
    "subagent": "subagent",
    "talk": "ask_user, todo, job",
}
"""What each row is about, in the words of the documentation."""

# fmt: off
TABLE: Mapping[Row, tuple[Answer, Answer, Answer]] = {
    #                     read-only workspace full
    "read_inside":       ("allow", "allow", "allow"),
    "read_elsewhere":    ("deny",  "deny",  "allow"),
    "read_secret":       ("deny",  "deny",  "deny"),
    "write_inside":      ("deny",  "allow", "allow"),
    "write_protected":   ("deny",  "ask",   "allow"),
    "write_elsewhere":   ("deny",  "deny",  "deny"),
    "shell_sandboxed":   ("allow", "allow", "allow"),
    "shell_unsandboxed": ("deny",  "ask",   "allow"),
    "job":               ("deny",  "allow", "allow"),  # beyond this a job is judged as a shell call
    "mcp_reading":       ("ask",   "ask",   "allow"),
    "mcp":               ("deny",  "ask",   "allow"),
    "fetch":             ("deny",  "ask",   "allow"),
    "subagent":          ("allow", "allow", "allow"),
    "talk":              ("allow", "allow", "allow"),
}
# fmt: on


def answer_of(profile: ProfileName, row: Row) -> Answer:
    """Look an action up."""
    return TABLE[row][PROFILE_NAMES.index(profile)]


def wants_sandbox(profile: ProfileName) -> bool:
    """Tell whether commands of this profile run in a sandbox where there is one."""
    return profile != "full"


_OFFERED_BY: Mapping[str, tuple[Row, ...]] = {
    "write": ("write_inside",),
    "patch": ("write_inside",),
    "shell": ("shell_sandboxed", "shell_unsandboxed"),
    "job": ("job",),
    "fetch": ("fetch",),
}


def offered(profile: ProfileName, tool: str) -> bool:
    """Tell whether the model gets to know ``tool``: not if the profile denies all its uses.

    MCP tools are judged by `offered_mcp`.
    """
    rows = _OFFERED_BY.get(tool, ())
    return not rows or any(answer_of(profile, row) != "deny" for row in rows)


def offered_mcp(profile: ProfileName, *, reading: bool) -> bool:
    """Tell whether the model gets to know an MCP tool that does or does not say it only reads."""
    return answer_of(profile, "mcp_reading" if reading else "mcp") != "deny"

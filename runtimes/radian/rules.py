"""Permission rules: ``TOOL`` or ``TOOL(pattern)``, as flags, configuration and profiles give them.

Pure: no I/O.  Paths are made absolute here, against the workspace and the home folder.
"""

from __future__ import annotations

import re
from posixpath import join, normpath
from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.values import frozen
from runtimes.radian.patterns import address_matches, path_matches, text_matches

if TYPE_CHECKING:
    from collections.abc import Iterable

RuleSource: TypeAlias = Literal["flag", "config", "profile"]

PATH_TOOLS = ("read", "grep", "glob", "write", "patch")
RULE_TOOLS = (*PATH_TOOLS, "shell", "job", "mcp", "fetch", "subagent", "ask_user", "todo")
COVERS = {"read": ("read", "grep", "glob"), "write": ("write", "patch")}
"""A rule for reading is one for searching too, and one for writing is one for patching."""

_RULE = r"(?s)\s*([A-Za-z_]+)\s*(?:\((.*)\))?\s*"


class RuleInvalidError(ValueError):
    """A rule that can't be read; the text is for people and quotes the rule."""


@frozen
class Rule:
    """One rule; without a pattern it is about every use of the tool."""

    tool: str
    pattern: str | None = None
    source: RuleSource = "config"
    text: str = ""
    """As it was written."""

    def about(self, tool: str) -> bool:
        """Tell whether the rule is about a tool at all."""
        return tool in COVERS.get(self.tool, (self.tool,))

    def matches(self, tool: str, target: str) -> bool:
        """Tell whether the rule means this use: a path (absolute), a command, an address."""
        if not self.about(tool):
            return False
        if self.pattern is None:
            return True
        if tool in PATH_TOOLS:
            return path_matches(self.pattern, target)
        if tool == "fetch":
            return address_matches(self.pattern, target)
        return text_matches(self.pattern, target)

    def spells(self, tool: str, command: str, size: int) -> bool:
        """Tell whether it matches a command whose first ``size`` characters it says in so many."""
        pattern = self.pattern or ""
        return len(pattern.partition("*")[0]) >= size and self.matches(tool, command)


@frozen
class Rules:
    """All rules of a process."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    def __add__(self, other: Rules) -> Rules:
        """Put two sets together; since deny always wins, their order does not matter."""
        return Rules(self.allow + other.allow, self.deny + other.deny)

    def unreadable(self) -> tuple[str, ...]:
        """Return the absolute path patterns that may not be read, searched or listed."""
        return tuple(
            rule.pattern for rule in self.deny if rule.tool == "read" and rule.pattern is not None
        )


def parse_rules(
    allow: Iterable[str],
    deny: Iterable[str],
    source: RuleSource,
    *,
    workspace: str,
    home: str,
) -> Rules:
    """Read rules.

    Raises:
        RuleInvalidError: One of them can't be read.

    """
    return Rules(
        tuple(parse_rule(text, source, workspace=workspace, home=home) for text in allow),
        tuple(parse_rule(text, source, workspace=workspace, home=home) for text in deny),
    )


def parse_rule(text: str, source: RuleSource, *, workspace: str, home: str) -> Rule:
    """Read one rule; both folders are absolute and have no links in them.

    Raises:
        RuleInvalidError: It can't be read.

    """
    found = re.fullmatch(_RULE, text)
    if found is None:
        message = f"{text!r} is no permission rule: write TOOL or TOOL(pattern)"
        raise RuleInvalidError(message)
    tool, pattern = found.group(1), found.group(2)
    if tool not in RULE_TOOLS:
        message = f"{text!r} names no tool that rules know: {_nearest(tool)}"
        raise RuleInvalidError(message)
    if pattern is not None:
        pattern = pattern.strip()
        if not pattern:
            message = f"{text!r} has an empty pattern: leave out the brackets to mean every use"
            raise RuleInvalidError(message)
        if tool in PATH_TOOLS:
            pattern = _absolute(pattern, workspace, home)
    return Rule(tool, pattern, source, text)


def _absolute(pattern: str, workspace: str, home: str) -> str:
    if pattern == "~" or pattern.startswith("~/"):
        pattern = home + pattern[1:]
    return normpath(join(workspace, pattern))


def _nearest(tool: str) -> str:
    import difflib

    near = difflib.get_close_matches(tool, RULE_TOOLS, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(RULE_TOOLS)}"

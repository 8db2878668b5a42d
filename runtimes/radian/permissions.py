"""May this call run?  One pure function over values, see `decide` for the order of reasons.

Everything that must be looked up (links, the secret set, the parts of a command, whether there is
a sandbox) is in the request already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.values import frozen
from runtimes.radian.profiles import answer_of

if TYPE_CHECKING:
    from runtimes.radian.profiles import ProfileName, Row
    from runtimes.radian.rules import Rule, Rules

Action: TypeAlias = Literal["read", "write", "shell", "mcp", "fetch", "subagent", "talk"]
Zone: TypeAlias = Literal["inside", "protected", "elsewhere", "secret"]
"""Where a path lies after links: in the workspace, in its .git or .radian, elsewhere, or in what
no file tool touches."""
Source: TypeAlias = Literal["hook", "rule", "grant", "profile", "person", "yes", "nobody"]
"""Who decided; the last three are for those who answer an `Ask`."""


@frozen
class GrantKey:
    """What ``allow_always`` remembers for the life of the process, and never on disk."""

    tool: str
    target: str
    covers: str = ""
    """The same for people: ``exactly this command``, ``files in src/.git``."""


@frozen
class Behind:
    """What stands behind a wrapper such as ``env``, whose own rule does not allow it yet."""

    whole: str
    """The part that it stands in."""
    named: int
    """A rule that spells so much of ``whole`` names what is run, and allows it."""
    command: str = ""
    """The same as a command of its own; "": nobody knows what it is."""


@frozen
class Command:
    """A command line taken apart, see `runtimes.radian.shell_words`."""

    parts: tuple[str, ...]
    """Each simple command and redirection; an allow rule must match every one."""
    hidden: tuple[str, ...] = ()
    """What else a part would run (``env``, ``timeout 5``, ``xargs`` before it); for deny rules."""
    behind: tuple[Behind, ...] = ()
    """What allow rules must match besides the parts."""


@frozen
class Request:
    """One use of a tool, about to be decided.

    ``target`` is what rules are matched with: a path (absolute, without links), a command, an
    address, ``server/tool``.  ``alias`` is the path as it was asked for (absolute): a deny rule
    may match either.
    """

    tool: str
    action: Action
    target: str = ""
    alias: str = ""
    zone: Zone = "inside"
    roots: tuple[str, ...] = ()
    """Where files may be read or written; for the words of a denial."""
    command: Command | None = None
    """Of a shell call; None there means that it can't be taken apart safely."""
    sandboxed: bool = False
    background: bool = False
    reads_only: bool = False
    """The MCP server says so (readOnlyHint)."""
    grant: GrantKey | None = None
    note: str = ""
    """Shown with the question: why the model wants it, why there is no sandbox."""


@frozen
class Allow:
    """Run it."""

    source: Source
    detail: str = ""


@frozen
class Deny:
    """Don't; ``reason`` is the tool's result, for the model and for people."""

    source: Source
    reason: str


@frozen
class Option:
    """One answer that a person can choose; the kinds are those of the protocol."""

    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once"]


@frozen
class Ask:
    """A person must say.  Choosing ``allow_always`` adds ``grant`` to those of the process."""

    reason: str
    grant: GrantKey | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        """Return the answers to choose from."""
        once = Option("allow_once", "Allow once", "allow_once")
        no = Option("reject_once", "Reject", "reject_once")
        if self.grant is None:
            return (once, no)
        name = f"Always allow {self.grant.covers or self.grant.target} (until this process ends)"
        return (once, Option("allow_always", name, "allow_always"), no)


Decision: TypeAlias = Allow | Deny | Ask


def decide(
    request: Request,
    rules: Rules,
    grants: frozenset[GrantKey],
    profile: ProfileName,
    *,
    veto: str | None = None,
) -> Decision:
    """Decide: a hook's veto, deny rules, grants, allow rules, the profile's table; else ask.

    ``veto`` is a hook's reason against it.  What is denied stays denied whatever else allows it,
    and the secret set is closed to file tools whatever a rule says.
    """
    if veto is not None:
        return Deny("hook", f"a hook denied it: {veto}")
    for rule in rules.deny:
        if _denied_by(rule, request):
            return Deny("rule", f"denied by the {rule.source} rule {rule.text or rule.tool!r}")
    if request.zone == "secret":
        return Deny("profile", _reason("read_secret", request, profile))
    if _is_granted(request, grants):
        return Allow("grant")
    for rule in rules.allow:
        if _allowed_by(rule, request):
            return Allow("rule", rule.text)
    if _allowed_together(rules, request):
        return Allow("rule")
    return _by_profile(request, rules, profile)


def _denied_by(rule: Rule, request: Request) -> bool:
    if request.background and rule.tool == "job" and rule.pattern is None:
        return True
    targets = [request.target, request.alias or request.target]
    if request.command is not None:
        targets += request.command.parts + request.command.hidden
    return any(rule.matches(request.tool, target) for target in targets)


def _is_granted(request: Request, grants: frozenset[GrantKey]) -> bool:
    key = request.grant
    return key is not None and any(
        (one.tool, one.target) == (key.tool, key.target) for one in grants
    )


def _allowed_by(rule: Rule, request: Request) -> bool:
    if request.action != "shell" or rule.pattern is None:
        return rule.matches(request.tool, request.target)
    return False


def _allowed_together(rules: Rules, request: Request) -> bool:
    """Tell whether every part of a command, and all behind wrappers, is allowed by some rule."""
    command, tool = request.command, request.tool
    if command is None or not command.parts:
        return False
    return all(
        any(rule.matches(tool, part) for rule in rules.allow) for part in command.parts
    ) and all(
        any(
            rule.matches(tool, each.command) or rule.spells(tool, each.whole, each.named)
            for rule in rules.allow
        )
        for each in command.behind
    )


def _by_profile(request: Request, rules: Rules, profile: ProfileName) -> Decision:
    row = _row(request, profile)
    answer = answer_of(profile, row)
    if answer == "deny":
        return Deny("profile", _reason(row, request, profile))
    if answer == "allow" and not _may_hide_what_is_denied(request, rules):
        return Allow("profile", profile)
    return Ask(_question(request), request.grant)


def _may_hide_what_is_denied(request: Request, rules: Rules) -> bool:
    """Tell whether a command that nobody can take apart might contain what a rule denies."""
    return (
        request.action == "shell"
        and request.command is None
        and any(rule.about(request.tool) for rule in rules.deny)
    )


def _row(request: Request, profile: ProfileName) -> Row:
    match request.action:
        case "read":
            return "read_inside" if request.zone in {"inside", "protected"} else "read_elsewhere"
        case "write":
            match request.zone:
                case "inside":
                    return "write_inside"
                case "protected":
                    return "write_protected"
                case _:
                    return "write_elsewhere"
        case "shell":
            if request.background and answer_of(profile, "job") == "deny":
                return "job"
            return "shell_sandboxed" if request.sandboxed else "shell_unsandboxed"
        case "mcp":
            return "mcp_reading" if request.reads_only else "mcp"
        case "fetch" | "subagent" | "talk" as action:
            return action


def _reason(row: Row, request: Request, profile: ProfileName) -> str:
    if row == "read_secret":
        return f"{request.target} belongs to the files with secrets, which no file tool touches"
    if row in {"read_elsewhere", "write_elsewhere"}:
        roots = ", ".join(request.roots) or "nowhere"
        verb = "read" if row == "read_elsewhere" else "written"
        return f"{request.target} lies outside of where files may be {verb}: {roots}"
    because = f" ({request.note})" if request.note else ""
    hint = f"allow it by a rule such as {_example(request)}, or by another profile"
    return f"profile {profile} does not allow {request.tool} here{because}; a person can {hint}"


def _example(request: Request) -> str:
    return f"{request.tool}({request.target})" if request.target else request.tool


def _question(request: Request) -> str:
    if request.action == "shell" and request.command is None:
        return request.note or "the command can't be taken apart to compare it with the rules"
    return request.note

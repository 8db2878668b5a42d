"""The order of reasons, the table of profiles, rules and grants, all by values."""

from __future__ import annotations

import pytest

from runtimes.radian.permissions import (
    Allow,
    Ask,
    Command,
    Decision,
    Deny,
    GrantKey,
    Request,
    Zone,
    decide,
)
from runtimes.radian.profiles import PROFILE_NAMES, ProfileName, offered, offered_mcp
from runtimes.radian.rules import RuleInvalidError, Rules, parse_rules

WORKSPACE, HOME = "/home/me/box", "/home/me"


def _rules(allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Rules:
    return parse_rules(allow, deny, "flag", workspace=WORKSPACE, home=HOME)


def _shell(*parts: str, sandboxed: bool = False, split: bool = True) -> Request:
    text = "; ".join(parts)
    return Request(
        "shell",
        "shell",
        text,
        command=Command(parts) if split else None,
        sandboxed=sandboxed,
        grant=GrantKey("shell", text),
    )


def _file(tool: str, name: str, zone: Zone = "inside") -> Request:
    path = f"{WORKSPACE}/{name}" if not name.startswith("/") else name
    return Request(tool, "write" if tool in {"write", "patch"} else "read", path, zone=zone)


def _word(decision: Decision) -> str:
    return type(decision).__name__.lower()


@pytest.mark.parametrize(
    ("request_", "read_only", "workspace", "full"),
    [
        (_file("read", "a"), "allow", "allow", "allow"),
        (_file("grep", ".git/config", "protected"), "allow", "allow", "allow"),
        (_file("glob", "/etc", "elsewhere"), "deny", "deny", "allow"),
        (_file("read", "/home/me/.ssh/id", "secret"), "deny", "deny", "deny"),
        (_file("write", "/home/me/.ssh/id", "secret"), "deny", "deny", "deny"),
        (_file("write", "a"), "deny", "allow", "allow"),
        (_file("patch", ".git/hooks/x", "protected"), "deny", "ask", "allow"),
        (_file("patch", "/etc/passwd", "elsewhere"), "deny", "deny", "deny"),
        (_shell("ls", sandboxed=True), "allow", "allow", "allow"),
        (_shell("ls"), "deny", "ask", "allow"),
        (Request("shell", "shell", "ls", background=True), "deny", "ask", "allow"),
        (
            Request("shell", "shell", "ls", background=True, sandboxed=True),
            "deny",
            "allow",
            "allow",
        ),
        (Request("mcp", "mcp", "db/query", reads_only=True), "ask", "ask", "allow"),
        (Request("mcp", "mcp", "db/drop"), "deny", "ask", "allow"),
        (Request("fetch", "fetch", "https://a.org/"), "deny", "ask", "allow"),
        (Request("subagent", "subagent"), "allow", "allow", "allow"),
        (Request("todo", "talk"), "allow", "allow", "allow"),
    ],
)
def test_each_row_of_the_table_is_as_written(
    request_: Request, read_only: str, workspace: str, full: str
) -> None:
    answers = [_word(decide(request_, Rules(), frozenset(), name)) for name in PROFILE_NAMES]

    assert answers == [read_only, workspace, full]


def test_a_hooks_veto_comes_before_everything() -> None:
    decision = decide(_file("read", "a"), _rules(("read",)), frozenset(), "full", veto="not now")

    assert decision == Deny("hook", "a hook denied it: not now")


def test_a_deny_rule_beats_a_grant_and_an_allow_rule() -> None:
    request = _shell("git push")
    rules = _rules(("shell(git *)",), ("shell(git push *)",))
    assert request.grant is not None

    decision = decide(request, rules, frozenset({request.grant}), "full")

    assert decision == Deny("rule", "denied by the flag rule 'shell(git push *)'")


def test_a_grant_allows_exactly_what_it_was_given_for() -> None:
    granted = frozenset({GrantKey("shell", "make test", "this command")})

    assert decide(_shell("make test"), Rules(), granted, "workspace") == Allow("grant")
    assert _word(decide(_shell("make tests"), Rules(), granted, "workspace")) == "ask"


def test_an_allow_rule_comes_before_the_profile() -> None:
    decision = decide(
        _file("write", "src/a.py"), _rules(("write(src/**)",)), frozenset(), "read-only"
    )

    assert decision == Allow("rule", "write(src/**)")


def test_no_rule_opens_the_secret_set() -> None:
    request = _file("read", "/home/me/.ssh/id", "secret")

    assert _word(decide(request, _rules(("read(~/.ssh/**)",)), frozenset(), "full")) == "deny"


def test_every_part_of_a_command_must_be_allowed() -> None:
    rules = _rules(("shell(git status *)", "shell(ls *)"))

    both = decide(_shell("git status -s", "ls"), rules, frozenset(), "workspace")
    one = decide(_shell("git status -s", "rm x"), rules, frozenset(), "workspace")

    assert (_word(both), _word(one)) == ("allow", "ask")


def test_one_denied_part_denies_the_command() -> None:
    command = Command(("timeout 5 rm x",), hidden=("rm x",))
    request = Request("shell", "shell", "timeout 5 rm x", command=command, sandboxed=True)

    assert _word(decide(request, _rules(deny=("shell(rm *)",)), frozenset(), "full")) == "deny"


def test_what_cannot_be_taken_apart_is_asked_where_something_is_denied() -> None:
    request = _shell("f() { rm x; }; f", sandboxed=True, split=False)

    assert _word(decide(request, _rules(("shell(*)",)), frozenset(), "workspace")) == "allow"
    assert _word(decide(request, _rules(deny=("shell(rm *)",)), frozenset(), "full")) == "ask"


def test_a_deny_rule_matches_the_asked_path_as_well_as_where_it_leads() -> None:
    request = Request("read", "read", "/home/me/box/real", alias="/home/me/box/private/link")

    assert _word(decide(request, _rules(deny=("read(private)",)), frozenset(), "full")) == "deny"


def test_a_denial_of_the_profile_lists_the_roots() -> None:
    request = Request("read", "read", "/etc/x", zone="elsewhere", roots=(WORKSPACE, "/skills"))
    decision = decide(request, Rules(), frozenset(), "workspace")

    assert decision == Deny(
        "profile", "/etc/x lies outside of where files may be read: /home/me/box, /skills"
    )


def test_a_question_offers_once_always_and_no_and_says_what_always_covers() -> None:
    ask = Ask("", GrantKey("shell", "rm -rf x", "exactly this command"))

    assert [(one.option_id, one.kind, one.name) for one in ask.options] == [
        ("allow_once", "allow_once", "Allow once"),
        (
            "allow_always",
            "allow_always",
            "Always allow exactly this command (until this process ends)",
        ),
        ("reject_once", "reject_once", "Reject"),
    ]


def test_a_denial_by_the_profile_says_how_to_allow_it() -> None:
    decision = decide(_shell("make test"), Rules(), frozenset(), "read-only")

    assert isinstance(decision, Deny)
    assert "shell(make test)" in decision.reason


@pytest.mark.parametrize(
    ("rule", "tool", "target", "matches"),
    [
        ("shell(git status *)", "shell", "git status", True),
        ("shell(git status *)", "shell", "git status -s a b", True),
        ("shell(git status *)", "shell", "git statusx", False),
        ("shell(make)", "shell", "make all", False),
        ("write(src/**)", "write", "/home/me/box/src/a/b.py", True),
        ("write(src/**)", "patch", "/home/me/box/src/a.py", True),
        ("write(src/**)", "write", "/home/me/box/srcs/a.py", False),
        ("write(*.md)", "write", "/home/me/box/a/b.md", False),
        ("write(**/*.md)", "write", "/home/me/box/a/b.md", True),
        ("write(**)", "write", "/etc/passwd", False),
        ("read(private)", "grep", "/home/me/box/private/x", True),
        ("read(~/notes/*)", "read", "/home/me/notes/a", True),
        ("read(/opt/**)", "read", "/opt", True),
        ("patch(a)", "write", "/home/me/box/a", False),
        ("mcp(db/*)", "mcp", "db/query", True),
        ("mcp(db/*)", "mcp", "dbx/query", False),
        ("fetch(*.python.org)", "fetch", "https://docs.python.org/3/?q=1", True),
        ("fetch(python.org)", "fetch", "https://evil.org/python.org", False),
        ("fetch(python.org/3/*)", "fetch", "https://python.org/3/x", True),
        ("fetch(https://a.org/*)", "fetch", "http://a.org/x", False),
        ("fetch", "fetch", "https://a.org/", True),
    ],
)
def test_rules_match_what_they_say(rule: str, tool: str, target: str, matches: bool) -> None:  # noqa: FBT001 - a column
    assert _rules((rule,)).allow[0].matches(tool, target) is matches


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shell(", "'shell(' is no permission rule: write TOOL or TOOL(pattern)"),
        ("shel(ls)", "'shel(ls)' names no tool that rules know: did you mean shell?"),
        (
            "shell( )",
            "'shell( )' has an empty pattern: leave out the brackets to mean every use",
        ),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleInvalidError) as caught:
        _rules((text,))

    assert str(caught.value) == message


def test_what_a_profile_denies_outright_is_not_offered() -> None:
    tools = ("read", "write", "patch", "shell", "job", "fetch", "todo", "subagent")
    names: tuple[ProfileName, ...] = PROFILE_NAMES

    assert {name: [tool for tool in tools if not offered(name, tool)] for name in names} == {
        "read-only": ["write", "patch", "job", "fetch"],
        "workspace": [],
        "full": [],
    }
    assert not offered_mcp("read-only", reading=False)
    assert offered_mcp("read-only", reading=True)

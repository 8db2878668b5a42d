"""What stands behind `timeout`, `env`, `xargs` and the like is judged as a command of its own."""

from __future__ import annotations

import pytest

from runtimes.radian.permissions import Allow, Ask, Decision, Deny, Request, decide
from runtimes.radian.rules import parse_rules
from runtimes.radian.shell_words import split_command
from runtimes.radian.wrappers import WRAPPERS, words_behind


def decided(text: str, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Decision:
    """Decide a command outside of the sandbox, where what is not allowed is asked for."""
    rules = parse_rules(
        [f"shell({each})" for each in allow],
        [f"shell({each})" for each in deny],
        "flag",
        workspace="/w",
        home="/h",
    )
    command = split_command(text)
    return decide(Request("shell", "shell", text, command=command), rules, frozenset(), "workspace")


WRAPPED = [
    "timeout 5 rm -rf x",
    "timeout -k 3 -s KILL 5 rm -rf x",
    "timeout --signal=KILL --kill-after 3 -v 5m rm -rf x",
    "timeout -sKILL -- 5 rm -rf x",
    "/usr/bin/timeout 5 /bin/rm -rf x",
    "env rm -rf x",
    "env -i A=1 B=2 rm -rf x",
    "env -u HOME -C /tmp - rm -rf x",
    "nice rm -rf x",
    "nice -n 5 rm -rf x",
    "nice -5 rm -rf x",
    "nice --adjustment=5 rm -rf x",
    "nohup rm -rf x",
    "setsid -f rm -rf x",
    "stdbuf -oL -e 0 rm -rf x",
    "stdbuf --output=L rm -rf x",
    "time rm -rf x",
    "time -p rm -rf x",
    "sudo rm -rf x",
    "sudo -n -u me A=1 rm -rf x",
    "sudo --user=me -- rm -rf x",
    "doas -u me rm -rf x",
    "xargs rm -rf x",
    "xargs -0 -n1 -P 4 rm -rf x",
    "xargs -I{} rm -rf x {}",
    "xargs -I {} rm -rf x {}",
    "xargs --null --max-args=1 rm -rf x",
    "exec rm -rf x",
    "exec -a ls rm -rf x",
    "command rm -rf x",
    "command -p rm -rf x",
    "builtin rm -rf x",
    "ionice -c 3 rm -rf x",
    "chroot /x rm -rf x",
    "flock -n lock rm -rf x",
    "busybox rm -rf x",
    "taskset -c 0 rm -rf x",
    "chrt -f 5 rm -rf x",
    "watch -n 1 rm -rf x",
    "watch 'ls; rm -rf x'",
    "strace -f -o log rm -rf x",
    "unshare -rn rm -rf x",
    "nohup nice timeout 5 rm -rf x",
    "sudo sh -c 'rm -rf x'",
    "env -i bash -c 'ls; timeout 5 rm -rf x'",
    "xargs sh -c 'rm -rf x'",
    "A=1 timeout 5 rm -rf x",
    "find . -exec rm -rf x {} +",
    "find . -exec timeout 5 rm -rf x \\;",
    "find . -execdir env A=1 /bin/rm -rf x \\;",
    "ls | timeout 5 xargs rm -rf x",
]
OTHERS = ("/usr/bin/timeout *", "A=1 *", "ls *", "sh *", "bash *")
ALL_BUT_RM = (*(f"{name} *" for name in WRAPPERS), *OTHERS)


@pytest.mark.parametrize("text", WRAPPED)
def test_a_rule_for_the_wrapper_does_not_allow_what_stands_behind_it(text: str) -> None:
    assert isinstance(decided(text, ALL_BUT_RM), Ask)
    assert isinstance(decided(text, (*ALL_BUT_RM, "rm *", "/bin/rm *")), Allow)


@pytest.mark.parametrize("text", WRAPPED)
def test_a_rule_for_what_stands_behind_does_not_allow_the_wrapper(text: str) -> None:
    assert isinstance(decided(text, ("rm *", "/bin/rm *")), Ask)


@pytest.mark.parametrize("text", WRAPPED)
def test_a_deny_rule_sees_what_stands_behind(text: str) -> None:
    assert isinstance(decided(text, ("*",), ("rm *",)), Deny)


@pytest.mark.parametrize(
    "text",
    [
        "env -S 'rm -rf x'",
        "env -S'rm -rf x'",
        "env -u A -vS 'rm -rf x'",
        "env --split-string='rm -rf x'",
        "ssh host rm -rf x",
        "ssh host 'ls; rm -rf x'",
        "flock lock -c 'ls; rm -rf x'",
        "parallel rm -rf x ::: a",
        "parallel 'ls; rm -rf {}' ::: a",
        "sudo watch 'ls; rm -rf x'",
        "sudo --strange rm -rf x",
        "bwrap --bind / / rm -rf x",
        "systemd-run --user rm -rf x",
    ],
)
def test_a_deny_rule_sees_what_an_allow_rule_can_not_judge(text: str) -> None:
    assert isinstance(decided(text, ("*",), ("rm *",)), Deny)


@pytest.mark.parametrize(
    "text",
    [
        "env -S 'ls x'",
        "timeout --strange 5 ls",
        "timeout $T ls",
        "timeout 5 $X ls",
        "xargs timeout 5",
        "xargs env",
        "xargs -I X X",
        "xargs -I X ls X",
        "sudo -s",
        "sudo -e ls",
        "chroot /x",
        "unshare -r",
        "flock lock -c ls",
        "parallel ls ::: a",
        "bwrap --bind / / ls",
        "find . -exec {} \\;",
        "nice *",
    ],
)
def test_where_it_can_not_be_found_a_person_is_asked(text: str) -> None:
    assert isinstance(decided(text, (*ALL_BUT_RM, "{ls} *")), Ask)
    assert isinstance(decided(text, ("*",)), Allow)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("timeout 5 make *", "timeout 5 make test"),
        ("timeout 5 make *", "timeout 5 make"),
        ("timeout 5 make test", "timeout 5 make test"),
        ("sudo systemctl restart *", "sudo systemctl restart web"),
        ("xargs grep *", "xargs grep -l x"),
        ("env A=1 timeout 5 make *", "env A=1 timeout 5 make"),
        ("bwrap --bind / / ls", "bwrap --bind / / ls"),
        ("timeout *", "timeout 5"),
        ("env *", "env"),
        ("env *", "env A=1"),
        ("xargs *", "xargs -0"),
        ("command *", "command -v rm"),
        ("ssh box *", "ssh box uptime"),
        ("find *", "find . -name rm"),
    ],
)
def test_a_rule_that_names_what_stands_behind_or_nothing_allows_it(rule: str, text: str) -> None:
    assert isinstance(decided(text, (rule,)), Allow)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("sudo timeout *", "sudo timeout 5 rm x"),
        ("sudo rm*", "sudo rmdir x"),
        ("timeout * make *", "timeout 5 make test"),
        ("* make", "timeout 5 make"),
        ("xargs grep x", "xargs grep y"),
    ],
)
def test_a_rule_that_names_less_does_not(rule: str, text: str) -> None:
    assert isinstance(decided(text, (rule,)), Ask)


def test_what_xargs_adds_is_part_of_its_command() -> None:
    assert isinstance(decided("xargs git", ("xargs *", "git")), Ask)
    assert isinstance(decided("xargs git status", ("xargs *", "git status *")), Allow)


def test_words_without_end_are_not_taken_apart() -> None:
    assert split_command("sudo " * 300 + "rm") is None
    assert split_command("nice " * 12 + "rm") is None
    assert split_command("xargs " + "a " * 300) is None


def test_where_a_program_stands_among_the_words_is_found() -> None:
    assert words_behind(["timeout", "-k", "3", "5", "rm", "x"]) == (4, ["rm", "x"])
    assert words_behind(["xargs", "-0", "rm"]) == (2, ["rm", "{}"])
    assert words_behind(["env", "-i"]) == (2, [])
    assert words_behind(["timeout", "--wat", "5", "rm"]) is None

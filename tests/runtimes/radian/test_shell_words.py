"""What a command would run, found by a real parser."""

from __future__ import annotations

import subprocess
import sys

import pytest

from runtimes.radian.permissions import Command
from runtimes.radian.shell_words import split_command
from tests.shared import ROOT


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("git status", ["git status"]),
        ("a && b || c; d | e |& f &", ["a", "b", "c", "d", "e", "f"]),
        ("a\nb # comment\nc", ["a", "b", "c"]),
        ("echo $(rm x)", ["echo $(rm x)", "rm x"]),
        ("echo `rm x`", ["echo `rm x`", "rm x"]),
        ('echo "${x:-$(rm a)}"', ['echo "${x:-$(rm a)}"', "rm a"]),
        ("x=$(rm y)", ["x=$(rm y)", "rm y"]),
        ("cat <<E\n$(rm z)\nE", ["cat", "<<E", "rm z"]),
        ("ls > out 2>&1", ["ls", "> out"]),
        ("ls >/dev/null 2>&1", ["ls"]),
        ("sort < a", ["sort", "< a"]),
        ("'r'\"m\" -\\rf", ["rm -rf"]),
        ("(a; { b; })", ["a", "b"]),
        ("if [ -f x ]; then a; else b; fi", ["a", "b"]),
        ("for PATH in /evil; do git status; done", ["for PATH in /evil", "git status"]),
        ("sh -c 'a; b'", ["sh -c a; b", "a", "b"]),
        ("diff <(a) b", ["diff <(a) b", "a"]),
    ],
)
def test_a_command_is_taken_apart(text: str, parts: list[str]) -> None:
    command = split_command(text)

    assert command is not None
    assert list(command.parts) == parts


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("A=1 rm x", "rm x"),
        ("/bin/rm x", "rm x"),
        ("env A=1 timeout 5 rm x", "rm x"),
        ("sudo -u me rm x", "rm x"),
        ("find . -exec rm {} +", "rm {} +"),
        ("env -S x bash -c 'rm x'", "bash -c rm x"),
    ],
)
def test_what_a_program_would_run_is_found_behind_it(text: str, hidden: str) -> None:
    command = split_command(text)

    assert command is not None
    assert hidden in command.hidden


@pytest.mark.parametrize(
    "text",
    [
        "",
        "&&",
        "'open",
        "f() { rm x; }; f",
        "$X y",
        "`x` y",
        "~/bin/x",
        "/bin/r? x",
        "eval 'rm x'",
        ". script",
        "curl x | sh",
        'sh -c "$X"',
        "$'\\x72m' x",
        "alias ls=rm; ls",
        "a\r",
        "a\0b",
        "a;" * 40_000,
        "(" * 300 + "a" + ")" * 300,
    ],
)
def test_what_cannot_be_split_safely_is_not(text: str) -> None:
    assert split_command(text) is None


def test_shells_in_shells_end_somewhere() -> None:
    text = "true"
    for _ in range(3):
        text = f"sh -c {_quoted(text)}"

    command = split_command(text)

    assert isinstance(command, Command)
    assert command.parts[-1] == "true"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.parametrize(
    "text",
    [
        "echo ${x:-`id`}",
        'echo "${x:-`id`}"',
        "echo ${x/`id`/y}",
        'echo "${x%%`id`}"',
        "echo \"${x:-'`id`'}\"",
        "echo ${x:-<(id)}",
        "echo ${x:+>(id)}",
        'for i in "${x:-`id`}"; do echo; done',
        'case "${x:-`id`}" in x) echo;; esac',
        "cat <<EOF\n`id`\nEOF",
        "cat <<EOF\n${x:-`id`}\nEOF",
        'cat <<< "${x:-`id`}"',
        "git pu\\\nsh",
        "trap 'id' EXIT",
        "su -c id",
        "script -c id",
        "test -v 'a[$(id)]'",
        "printf -v 'a[`id`]' x",
        "read 'a[$(id)]'",
        "unset 'a[$(id)]'",
        "echo { }#`id`",
        "echo ${x['a[$(id)]']}",
        "echo $(( 'a[$(id)]' ))",
        "echo && [ -v 'a[$(id)]' ]",
        "echo && [[ 'a[$(id)]' -eq 0 ]]",
        'echo && [[ "a[\\$(id)]" -eq 0 ]]',
    ],
)
def test_what_bash_would_run_in_the_middle_of_a_text_is_not_passed_over(text: str) -> None:
    assert split_command(text) is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("echo 'a `b` $(c)'", "echo a `b` $(c)"),
        ("echo a\\`b\\`", "echo a`b`"),
        ('echo "a \\`b\\`"', "echo a `b`"),
        ("echo a # `b`", "echo a"),
        ("cat <<'EOF'\n`b` $(c)\nEOF", "cat"),
        ("git log \\\n  -p", "git log -p"),
        ("printf '%s' 'a[0]'", "printf %s a[0]"),
    ],
)
def test_what_is_only_text_is_left_alone(text: str, part: str) -> None:
    command = split_command(text)

    assert command is not None
    assert command.parts[0] == part


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("find . -name x", ()),
        ("find . -exec rm {} \\;", ("rm {}",)),
        ("find . -execdir git push {} +", ("git push {}",)),
        ("find . -ok rm {} \\; -okdir id \\;", ("rm {}", "id")),
        ("find . -delete", ("-delete",)),
        ("find . -fprint /x", ("-fprint /x",)),
    ],
)
def test_what_find_does_to_what_it_finds_is_a_part(text: str, parts: tuple[str, ...]) -> None:
    command = split_command(text)

    assert command is not None
    assert command.parts[1:] == parts


def test_the_first_command_of_a_process_waits_for_the_parser_only() -> None:
    code = (
        "import sys\n"
        "from runtimes.radian.shell_words import split_command\n"
        "BEFORE = set(sys.modules)\n"
        "split_command('a | b')\n"
        "print(*{each.partition('.')[0] for each in sys.modules.keys() - BEFORE})"
    )
    words = [sys.executable, "-c", code]

    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=True, timeout=60, text=True)

    assert set(done.stdout.split()) == {"tree_sitter", "tree_sitter_bash"}

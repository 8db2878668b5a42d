"""Section 4 of the page behind `radian`: profiles, rules, trust; see `test_radian_seed`."""

from __future__ import annotations

import json
import re
import stat
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.radian_page import TIME, of_type, talker
from tests.runtimes.radian.acp.client import Client, call, new, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return talker(tmp_path)


def bring(box: Box, text: str) -> None:
    """Have the project bring a configuration."""
    box.workspace.joinpath(".radian").mkdir(exist_ok=True)
    box.workspace.joinpath(".radian", "config.toml").write_text(text)


def outside(command: str) -> dict[str, Any]:
    """Call a command that is asked for: out of the sandbox."""
    return call("shell", command=command, unsandboxed=True, reason="to see")


def decisions(box: Box, *flags: str) -> list[tuple[str, str]]:
    """Have the model make two calls that would be asked for, with nobody there to ask."""
    box.play({"tool_calls": [outside("echo hi"), outside("uname")]}, {"text": "ok"})
    run = box.run("exec", "-p", "x", "--output", "jsonl", *flags)
    assert run.returncode == 0, run.stderr
    return [(each["decision"], each["source"]) for each in of_type(run.stdout, "Permission")]


ASKED = ("deny", "nobody")
ALLOWED = ("allow_once", "rule")
UNAME = 'allow = ["shell(uname)"]\n'


def test_s5_1_a_trusted_project_adds_rules_to_a_profile(box: Box) -> None:
    bring(box, f"[profiles.workspace]\n{UNAME}")
    box.configure('\n[profiles.ci]\nextends = "workspace"\nallow = ["shell(echo *)"]\n')

    assert decisions(box) == [ASKED, ALLOWED]
    assert decisions(box, "--no-trust") == [ASKED, ASKED]
    # Of a name that both have, the rules of both hold; the project's other tables do nothing.
    assert decisions(box, "--profile", "ci") == [ALLOWED, ASKED]
    bring(box, f"[profiles.ci]\n{UNAME}")
    assert decisions(box, "--profile", "ci") == [ALLOWED, ALLOWED]
    bring(box, '[profiles.workspace]\ndeny = ["shell(uname)"]\n')
    assert decisions(box, "--allow", "shell(uname)") == [ASKED, ("deny", "rule")]


def test_s5_1_a_profile_that_only_the_project_has_keeps_the_sandbox(box: Box) -> None:
    bring(box, f'[profiles.ci]\nextends = "workspace"\n{UNAME}')
    words = ("exec", "-p", "x", "--profile", "ci")
    assert decisions(box, "--profile", "ci") == [ASKED, ALLOWED]

    untrusted = box.run(*words, "--no-trust")
    assert (untrusted.returncode, untrusted.stdout) == (2, "")
    assert "no profile 'ci'; known: read-only, workspace, full" in untrusted.stderr
    with Client(box, "--profile", "ci", "--no-trust") as client:
        client.initialize()
        assert "no profile 'ci'" in refusal(new(client, box.workspace))[1]
    bring(box, f'[profiles.ci]\nextends = "full"\n{UNAME}')
    run = box.run(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert "extends must be one of read-only, workspace, not 'full'" in run.stderr


def test_s4_4_no_project_takes_a_sandbox_away(box: Box) -> None:
    bring(box, f'[profiles.workspace]\nextends = "full"\n{UNAME}')

    assert decisions(box) == [ASKED, ALLOWED]
    box.play({"text": "ok"})
    said = box.run("exec", "-p", "x").stderr
    assert said.count("\n") == 1
    assert "extends full is passed over, for it extends workspace" in said


def test_s4_4_no_project_says_whom_to_call_or_with_what(box: Box) -> None:
    bring(box, 'default_provider = "evil"\n[providers.play]\nkind = "anthropic"\n')

    run = box.run("exec", "-p", "x")

    assert (run.returncode, run.stdout) == (0, "ok\n")
    assert [each.split(": ")[2].split()[0] for each in run.stderr.splitlines()] == [
        "'default_provider'",
        "'providers'",
    ]


ASK = {"": "deny nobody", "--yes": "allow_once yes"}
ROWS: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "read inside": (call("read", path="a.txt"), ("allow", "allow", "allow")),
    "read elsewhere": (call("read", path="{home}/plain"), ("deny", "deny", "allow")),
    "read a secret": (call("read", path="{home}/.ssh/id_rsa"), ("deny", "deny", "deny")),
    "read a secret by a link": (call("read", path="link"), ("deny", "deny", "deny")),
    "read our own": (call("read", path="{home}/.radian/config.toml"), ("deny", "deny", "deny")),
    "write inside": (call("write", path="b.txt", content="x"), ("no tool", "allow", "allow")),
    "write in .git": (call("write", path=".git/x", content="x"), ("no tool", "ask", "allow")),
    "write in .radian": (call("write", path=".radian/x", content="x"), ("no tool", "ask", "allow")),
    "write elsewhere": (call("write", path="../x", content="x"), ("no tool", "deny", "deny")),
    "shell without a sandbox": (
        call("shell", command="true", unsandboxed=True, reason="x"), ("deny", "ask", "allow"),
    ),
    "background job": (
        call("shell", command="true", background=True), ("deny", "as a command", "allow"),
    ),
    "fetch": (call("fetch", url="http://127.0.0.1:9/"), ("no tool", "ask", "allow")),
    "subagent": (call("subagent", prompt="look"), ("allow", "allow", "allow")),
    "todo": (call("todo", items=[]), ("allow", "allow", "allow")),
}  # fmt: skip
PROFILES = ("read-only", "workspace", "full")


@pytest.mark.parametrize("yes", ["", "--yes"])
@pytest.mark.parametrize("profile", PROFILES)
def test_s4_2_each_action_is_decided_by_its_row(box: Box, profile: str, yes: str) -> None:
    home = box.home.parent
    for path in (home / "plain", home / ".ssh" / "id_rsa", box.workspace / "a.txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    box.workspace.joinpath(".git").mkdir()
    box.workspace.joinpath("link").symlink_to(home / ".ssh" / "id_rsa")
    asked = json.loads(json.dumps([each for each, _ in ROWS.values()]).replace("{home}", str(home)))
    box.play({"when": "look", "text": "Seen."}, {"tool_calls": asked}, {"text": "ok"})

    flags = ("--profile", profile, "--output", "jsonl", *filter(None, [yes]))
    run = box.run("exec", "-p", "go", *flags)

    assert run.returncode == 0, run.stderr
    decided = {each["call_id"]: each for each in of_type(run.stdout, "Permission")}
    for at, (name, (_, row)) in enumerate(ROWS.items(), 1):
        wanted, found = row[PROFILES.index(profile)], decided.get(f"call-{at}", {})
        told = f"{found.get('decision')} {found.get('source')}"
        match wanted:
            case "ask":
                assert told == ASK[yes], name
            case "no tool":
                assert told == "None None", name
            case "as a command":  # where there is no sandbox it is asked for, too
                assert told in {"allow_once profile", ASK[yes]}, name
            case _:
                assert told == ("deny profile" if wanted == "deny" else "allow_once profile"), name
    assert not box.workspace.parent.joinpath("x").exists()


def test_s4_2_where_there_is_no_sandbox_leaving_it_needs_no_reason(box: Box) -> None:
    outside_of_it = call("shell", command="echo out", unsandboxed=True)
    for profile, status_of_call in (("full", "completed"), ("workspace", "failed")):
        box.play({"tool_calls": [outside_of_it]}, {"text": "ok"})
        run = box.run("exec", "-p", "go", "--output", "jsonl", "--yes", "--profile", profile)
        (result,) = of_type(run.stdout, "ToolResult")
        assert (profile, result["status"]) == (profile, status_of_call)


def test_s4_4_the_trust_file_maps_paths_and_the_nearest_one_decides(box: Box) -> None:
    file = box.home / "trust.json"
    file.unlink()
    inner = box.workspace / "a" / "b"
    inner.mkdir(parents=True)
    inner.joinpath("AGENTS.md").write_text("Say moo.")
    words = ("exec", "-p", "x", "--workspace", "a/b", "--session-id")

    assert box.run("trust").returncode == 0
    listed = json.loads(file.read_text())
    box.run(*words, "one")
    assert box.run("trust", "--no", "a").returncode == 0
    box.run(*words, "two")
    box.run(*words, "three", "--trust")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (when,) = [each.pop("when") for each in listed.values()]
    assert listed == {str(box.workspace): {"trusted": True}}
    assert re.fullmatch(TIME, when)
    assert set(json.loads(file.read_text())) == {str(box.workspace), str(box.workspace / "a")}
    trusted = [box.journal(each)[1]["trusted"] for each in ("one", "two", "three")]
    assert trusted == [True, False, True]


def test_s4_4_a_project_that_is_gone_can_be_forgotten(box: Box) -> None:
    gone = box.workspace / "gone"
    gone.mkdir()
    assert box.run("trust", "gone").returncode == 0
    gone.rmdir()

    refused = box.run("trust", "gone")
    forgotten = box.run("trust", "--forget", "gone")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert (forgotten.returncode, forgotten.stdout) == (0, f"{gone} is forgotten.\n")
    assert str(gone) not in box.home.joinpath("trust.json").read_text()
    assert box.run("trust", "--forget", "gone").stdout == f"{gone} was not listed.\n"


@pytest.mark.parametrize("flags", [(), ("--no",), ("--forget",), ("--show",)])
def test_s4_4_no_name_is_not_the_current_folder(box: Box, flags: tuple[str, ...]) -> None:
    before = box.home.joinpath("trust.json").read_bytes()

    run = box.run("trust", *flags, "")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "radian trust: '' is no folder\n"
    assert box.home.joinpath("trust.json").read_bytes() == before


def test_s4_4_what_is_wished_of_trust_is_one_thing(box: Box) -> None:
    before = box.home.joinpath("trust.json").read_bytes()

    run = box.run("trust", "--no", "--forget")

    assert (run.returncode, run.stdout) == (2, "")
    assert "--no and --forget don't go together" in run.stderr
    assert box.home.joinpath("trust.json").read_bytes() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_s4_4_the_notice_of_trust_comes_before_the_turn(
    box: Box, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    box.home.joinpath("trust.json").unlink()
    box.play({"tool_calls": [call("glob", pattern="*")]}, {"text": "ok"})

    notice, *rest = box.run("exec", stdin="x").stderr.splitlines()

    assert "is not trusted" in notice
    assert rest == ["> glob: Find * in ."]

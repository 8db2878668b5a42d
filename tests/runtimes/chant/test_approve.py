"""Gates from the command line: a run stops, people answer, a run goes through; and what is not."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.chant.projects import ledger_lines, make_project
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GATED = """\
name = "gated"

[params.version]
type = "string"
default = "1"

[[phases]]
name = "Build"
  [[phases.steps]]
  id = "one"
  fn = "shell"
  args = { cmd = 'echo one >> log' }

[[phases]]
name = "Deploy"
  [[phases.steps]]
  id = "window"
  gate = "window"
  description = "Someone watches"
  #GATE
  [[phases.steps]]
  id = "two"
  fn = "shell"
  args = { cmd = 'echo two >> log' }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = 'echo undo >> log' }
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(tmp_path / "box", gated=GATED)


def set_gate(folder: Path, *lines: str) -> None:
    """Give the gate more keys."""
    text = GATED.replace("#GATE", "\n  ".join(lines))
    (folder / "ops" / "gated.op.toml").write_text(text)


def chant(
    folder: Path, *words: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script("chant"), *words],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def run(folder: Path, *words: str) -> int:
    return chant(folder, "run", "gated", *words).returncode


def approve(folder: Path, *words: str, by: str = "ann") -> int:
    done = chant(folder, "approve", "gated", "window", "--approver", by, *words)
    assert done.returncode == 0, done.stderr
    return done.returncode


def refused(folder: Path, *words: str, code: int = 4, env: Mapping[str, str] | None = None) -> str:
    """Answer in vain: the ledger does not move.  Return what was said."""
    before = tip(folder)
    done = chant(folder, "approve", "gated", "window", *words, env=env)
    assert done.returncode == code, done.stderr
    assert tip(folder) == before
    assert done.stdout == ""
    return done.stderr.removeprefix("chant approve: ").strip()


def tip(folder: Path) -> str:
    words = ["git", "-C", str(folder), "for-each-ref", "refs/heads/chant/lifecycle"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def records(folder: Path, env: str = "local") -> list[dict[str, object]]:
    return [json.loads(line) for line in ledger_lines(folder, env, "gated")]


def test_a_run_stops_at_the_gate_and_the_next_goes_through_once_it_is_open(box: Path) -> None:
    stopped = chant(box, "run", "gated")
    assert stopped.returncode == 3
    assert "\nchant approve gated window --approver <you>\n" in stopped.stdout
    assert log(box) == ["one"]

    said = chant(box, "approve", "gated", "window", "--approver", "ann", "--note", "go", "--json")
    answer = json.loads(said.stdout)
    assert (answer["state"], answer["missing"]) == ("approved", 0)
    assert answer["run"] == "chant run gated --env local --param version=1"
    assert answer["answer"]["approver"] == "ann"
    assert answer["answer"]["channel"] == "cli"

    assert run(box) == 0
    assert log(box) == ["one", "one", "two"]
    assert run(box) == 3
    statuses = [each["status"] for each in records(box)]
    assert statuses == ["gated", "ok", "gated"]
    assert "undo" not in log(box)


def test_the_record_says_who_opened_the_gate(box: Path) -> None:
    run(box)
    approve(box, "--note", "go", "--url", "https://example.org/1")
    run(box)

    step = records(box)[1]["phases"][1]["steps"][0]  # type: ignore[index]
    assert [(each["approver"], each["note"]) for each in step["approval"]["by"]] == [("ann", "go")]


def test_an_approval_of_a_plan_that_changed_is_asked_again(box: Path) -> None:
    run(box)
    path = box / "ops" / "gated.op.toml"
    path.write_text(path.read_text().replace("echo two", "echo changed"))
    approve(box)

    again = chant(box, "run", "gated")

    assert again.returncode == 3
    assert "the plan changed since run" in again.stdout
    assert "changed" not in log(box)
    approve(box)
    assert run(box) == 0


def test_an_approval_counts_for_its_parameters_and_its_environment_only(box: Path) -> None:
    run(box, "--param", "version=2", "--env", "prod")
    approve(box)

    assert run(box, "--param", "version=2") == 3
    assert run(box, "--param", "version=3", "--env", "prod") == 3
    assert run(box, "--param", "version=2", "--env", "prod") == 0


def test_where_more_than_one_waits_it_must_be_said_which(box: Path) -> None:
    run(box)
    run(box, "--env", "prod")

    assert refused(box, "--approver", "ann").endswith("say which: --env local, --env prod")
    approve(box, "--env", "prod")
    assert run(box) == 3
    assert run(box, "--env", "prod") == 0


def test_a_rejected_gate_takes_no_approval_until_it_is_asked_again(box: Path) -> None:
    run(box)
    approve(box, "--reject", "--note", "not today", by="bob")

    said = refused(box, "--approver", "ann")
    assert said.startswith("nothing-pending: ")
    assert "bob rejected it" in said
    assert said.endswith("chant run gated --env local --param version=1 asks again")
    again = chant(box, "run", "gated")
    assert again.returncode == 3
    assert "bob rejected it" in again.stdout
    approve(box)
    assert run(box) == 0


def test_an_approval_can_be_ended_before_it_is_used(box: Path) -> None:
    run(box)
    approve(box)
    approve(box, "--expire")

    assert run(box) == 3


def test_a_gate_that_has_expired_takes_no_answer_and_says_so(box: Path) -> None:
    set_gate(box, 'timeout = "1ms"')
    run(box)

    assert refused(box, "--approver", "ann").startswith("expired: gate window of gated in local")


def test_a_quorum_needs_different_people(box: Path) -> None:
    set_gate(box, "quorum = 2")
    run(box)
    approve(box)

    assert refused(box, "--approver", " ANN ").startswith("already-approved: ")
    halfway = chant(box, "run", "gated")
    assert halfway.returncode == 3
    assert "approvals: 1 of 2 (ann)\n" in halfway.stdout
    approve(box, by="bob")
    assert run(box) == 0


def test_a_role_is_what_the_project_says(box: Path) -> None:
    set_gate(box, 'roles = ["ops"]')
    with (box / "chant.toml").open("a") as config:
        config.write('[roles]\nops = ["bob"]\n')
    run(box)

    assert refused(box, "--approver", "ann").startswith("role-missing: ")
    approve(box, by="bob")
    assert run(box) == 0


def test_an_approval_that_may_be_used_again_is_kept(box: Path) -> None:
    set_gate(box, "reuse = true")
    run(box)
    approve(box)

    assert [run(box), run(box)] == [0, 0]


def test_where_nothing_is_pending_the_line_that_asks_is_shown(box: Path) -> None:
    assert refused(box, "--approver", "ann") == (
        "nothing-pending: nothing is pending at gate window of gated; chant run gated asks"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--approver", "<you>"), "--approver needs a name, not '<you>'"),
        (("--approver", " "), "--approver needs a name, not ' '"),
        (("--approver", "a", "--url", "example.org"), "--url needs an absolute http or https"),
        (("--approver", "a", "--reject", "--expire"), "--reject and --expire exclude each other"),
        (("--approver", "a", "--env", "mars"), "unknown environment 'mars'"),
    ],
)
def test_words_that_can_not_be_meant_are_refused(
    box: Path, words: tuple[str, ...], said: str
) -> None:
    run(box)

    assert said in refused(box, *words, code=2)


def test_an_op_that_is_not_there_is_named(box: Path) -> None:
    done = chant(box, "approve", "gatd", "window", "--approver", "ann")

    assert done.returncode == 2
    assert "unknown op 'gatd' (did you mean gated?)" in done.stderr


def test_in_a_stewards_turn_no_gate_is_answered(box: Path) -> None:
    run(box)

    for flag in ((), ("--reject",), ("--expire",)):
        said = refused(box, "--approver", "ann", *flag, env={"CHANT_STEWARD": "box-steward"})
        assert said.startswith("gate-in-steward-turn: ")


def test_a_step_of_a_run_over_acp_is_no_terminal(box: Path) -> None:
    over_acp = {"CHANT_CHANNEL": "acp"}
    chant(box, "run", "gated", env=over_acp)

    assert records(box)[0]["origin"] == "acp"
    assert refused(box, "--approver", "ann", env=over_acp).startswith("same-origin: ")
    approve(box)
    assert run(box) == 0


def damage(folder: Path) -> None:
    """Add half a line to the file of gates."""
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t"]

    def ask(*words: str, text: str = "") -> str:
        done = subprocess.run(
            [*git, *words], input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    old = ask("show", "chant/lifecycle:_gates/gated.jsonl")
    blob = ask("hash-object", "-w", "--stdin", text=old + '\n{"version": 1, "kin')
    gates = ask("mktree", text=f"100644 blob {blob}\tgated.jsonl\n")
    top = ask("ls-tree", "chant/lifecycle").split("\n")
    rows = [row for row in top if not row.endswith("\t_gates")]
    tree = ask("mktree", text="\n".join([*rows, f"040000 tree {gates}\t_gates"]) + "\n")
    commit = ask("commit-tree", tree, "-p", "chant/lifecycle", "-m", "damage")
    ask("update-ref", "refs/heads/chant/lifecycle", commit)


def test_a_damaged_ledger_lets_nobody_through(box: Path) -> None:
    run(box)
    approve(box)
    damage(box)

    stopped = chant(box, "run", "gated")

    assert stopped.returncode == 1
    assert "gate 'window': no proof, no passage: line 3 of _gates/gated.jsonl" in stopped.stdout
    assert log(box) == ["one", "one", "undo"]
    assert "line 3 of _gates/gated.jsonl" in refused(box, "--approver", "bob")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_ledger_takes_no_approval(box: Path) -> None:
    run(box)
    folder = box / ".git" / "objects"
    mode = folder.stat().st_mode
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        each.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert "git" in refused(box, "--approver", "ann")
    finally:
        for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            each.chmod(mode)
    assert run(box) == 3


def test_an_op_with_a_gate_does_not_run_without_the_ledger(box: Path) -> None:
    done = chant(box, "run", "gated", "--no-ledger")

    assert done.returncode == 4
    assert "has gates (window), which only the ledger opens" in done.stderr
    assert not (box / "log").exists()


def test_help_says_what_the_verb_does_and_does_nothing(box: Path) -> None:
    run(box)
    before = tip(box)

    shown = chant(box, "approve", "gated", "window", "--help")

    assert shown.returncode == 0
    assert "chant approve OP GATE" in shown.stdout
    assert tip(box) == before

"""The verbs that only read, on the command line and in a session."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from ops.in_flight import InFlight
from tests.ops.projects import git
from tests.runtimes.chant.projects import CHANT_TOML, FAILING, RELEASE, make_project
from tests.runtimes.chant.talk import chant, prompt, refused
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

GATED = """\
name = "gated"
depends = ["release"]

[[phases]]
name = "Ask"
  [[phases.steps]]
  gate = "window"
  description = "Someone watches"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "echo through" }
"""

MORE = """
[[resource]]
name = "readme"
reader = "file"
path = "README.md"
op = "release"

[[steward]]
name = "box-steward"
environment = "local"
ops = ["gated"]
capabilities = ["inference"]
schedule = [{ op = "gated", cron = "*/15 * * * *" }]
"""


POINT = """\
name = "ship-it"
title = "Ship this build?"
[question]
type = "yesno"
[inputs]
risk = "string"
[[deciders]]
kind = "quorum"
count = 1
"""

ASKING = """\
name = "asking"

[[phases]]
name = "Ask"
  [[phases.steps]]
  point = "ship-it"
  args = { risk = "high" }
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    folder = make_project(tmp_path / "box", release=RELEASE, failing=FAILING, gated=GATED)
    (folder / "chant.toml").write_text(CHANT_TOML + MORE)
    return folder


def test_everything_that_is_declared_is_listed(box: Path) -> None:
    said = chant(box, "list", "--json")

    assert [each["name"] for each in said.document["ops"]] == ["failing", "gated", "release"]
    assert said.document["resources"] == [
        {"name": "readme", "reader": "file", "file": "chant.toml"}
    ]
    assert said.document["stewards"] == [
        {"name": "box-steward", "environment": "local", "ops": ["gated"]}
    ]
    assert prompt(box, "list") == (0, said.document)


def test_an_op_is_described_as_it_would_run(box: Path) -> None:
    code, document = prompt(box, "describe release --param version=7 --env prod")

    (found,) = document["found"]
    assert (code, found["kind"], found["env"]) == (0, "op", "prod")
    assert found["params"] == {"version": "7"}
    assert found["phases"][0]["steps"][0]["id"] == "pack"
    assert (
        "schedule:\n  - op: gated\n    cron: */15 * * * *\n"
        in chant(box, "describe", "box-steward").out
    )
    assert "path: README.md" in chant(box, "describe", "readme").out


def test_what_is_listed_in_a_description_stands_below_one_name(box: Path) -> None:
    said = chant(box, "describe", "release", "--param", "version=7").out

    assert said.splitlines().count("phases:") == 1
    assert "phases:\n  - name: " in said
    assert "    steps:\n      - id: pack\n        fn: " in said


def test_an_unknown_name_is_answered_with_the_known_ones(box: Path) -> None:
    said = chant(box, "describe", "relaese")

    assert said.code == 2
    assert "did you mean release?" in said.err
    assert "box-steward" in said.err


def test_the_graph_has_what_depends_on_what(box: Path) -> None:
    said = chant(box, "graph")

    assert said.out.splitlines() == [
        "gated depends on release",
        "gated stops at gate window",
        "release brings about resource readme",
        "steward box-steward runs gated",
        "failing",
    ]
    code, document = prompt(box, "graph")
    assert code == 0
    assert {"from": "op:gated", "to": "op:release", "kind": "depends"} in document["edges"]
    assert document["text"] + "\n" == said.out


def test_the_steps_of_an_op_are_drawn_with_its_clean_up(box: Path) -> None:
    lines = chant(box, "graph", "failing", "--format", "mermaid").out.splitlines()

    assert lines == [
        "flowchart LR",
        '  subgraph "Work"',
        '    n0["shell (boom)"]',
        '    n1["shell (later)"]',
        "  end",
        '  subgraph "Rollback"',
        '    n2["shell (undo)"]',
        "  end",
        "  n0 --> n1",
        "  n1 -.->|on failure| n2",
    ]
    assert chant(box, "graph", "--format", "svg").code == 2


def test_dot_is_what_graphviz_reads(box: Path) -> None:
    drawn = chant(box, "graph", "--format", "dot").out

    assert drawn.startswith("digraph chant {\n")
    assert '"op:gated" -> "op:release" [label="depends on"];' in drawn
    assert drawn.count("{") == drawn.count("}")


def test_runs_are_listed_shown_and_logged(box: Path) -> None:
    never = chant(box, "run", "list", "--json").document
    chant(box, "run", "release")
    chant(box, "run", "failing")
    chant(box, "run", "gated")

    listed = chant(box, "run", "list", "--json").document
    code, log = prompt(box, "run log --limit 2")
    _, one = prompt(box, "run log release")
    _, status = prompt(box, "run status failing")

    assert {row["op"]: row["newest"] for row in never["ops"]} == dict.fromkeys(
        ("failing", "gated", "release")
    )
    assert {row["op"]: row["newest"]["status"] for row in listed["ops"]} == {
        "failing": "fail",
        "gated": "gated",
        "release": "ok",
    }
    assert listed["running"] == []
    assert (code, [run["op"] for run in log["runs"]]) == (0, ["gated", "failing"])
    assert [run["op"] for run in one["runs"]] == ["release"]
    assert status["newest"]["failure"]["step_id"] == "boom"
    assert "fail     boom   shell" in chant(box, "run", "status", "failing").out
    assert "gated at window" in chant(box, "run", "list").out


def test_a_run_that_goes_on_is_listed_and_counted(box: Path) -> None:
    (box / "ops/slow.op.toml").write_text(
        'name = "slow"\n[[phases]]\nname = "Work"\n[[phases.steps]]\nfn = "shell"\n'
        'args = { cmd = "echo at work; exec sleep 60" }\n'
    )
    with subprocess.Popen(
        [script("chant"), "run", "slow"],
        cwd=box,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        while "at work" not in run.stdout.readline():
            pass
        listed = chant(box, "run", "list", "--json").document["running"]
        status = chant(box, "run", "status", "slow")
        workspace = chant(box, "workspace", "status", "--json").document
        run.terminate()
        run.communicate(timeout=60)

    assert [(each["op"], each["pid"]) for each in listed] == [("slow", run.pid)]
    assert f"slow is running on {listed[0]['host']}, process {run.pid}" in status.out
    assert [each["op"] for each in workspace["running"]] == ["slow"]


def test_the_workspace_tells_what_waits(box: Path) -> None:
    chant(box, "run", "release")
    chant(box, "run", "gated", CHANT_STEWARD="box-steward")

    said = chant(box, "workspace", "status")
    code, document = prompt(box, "workspace status")

    assert (said.code, code) == (0, 0)
    assert "  gated at window  closed  chant approve gated window --approver <you>" in said.out
    (gate,) = document["gates"]
    assert (gate["op"], gate["gate"], gate["env"]) == ("gated", "window", "local")
    assert [each["op"] for each in document["stewards"][0]["waiting"]] == ["gated"]


def test_a_gate_that_is_open_waits_for_a_run_and_for_nobody(box: Path) -> None:
    chant(box, "run", "release")
    chant(box, "run", "gated", CHANT_STEWARD="box-steward")
    chant(box, "approve", "gated", "window", "--approver", "ann")

    said = chant(box, "workspace", "status")
    document = chant(box, "workspace", "status", "--json").document
    steward = chant(box, "steward", "list").out

    shown = "  gated at window  open, approved by ann  chant run gated --env local"
    assert [line for line in said.out.splitlines() if "window" in line] == [shown]
    (gate,) = document["gates"]
    assert (gate["state"], gate["approve"]) == ("approved", None)
    assert [each["waiting"] for each in document["stewards"]] == [[]]
    assert "waits on" not in steward


def test_a_gate_that_waits_twice_says_which_is_which(box: Path) -> None:
    chant(box, "run", "release")
    op = box / "ops" / "gated.op.toml"
    op.write_text(op.read_text() + '\n[params.part]\ndefault = "1"\n')
    first = chant(box, "run", "gated", "--json").document["id"]
    second = chant(box, "run", "gated", "--param", "part=2", "--json").document["id"]

    gates = chant(box, "workspace", "status", "--json").document["gates"]

    assert [gate["approve"].split()[-1] for gate in gates] == [first, second]


def test_a_question_put_without_a_run_waits_in_the_workspace_too(box: Path) -> None:
    (box / "points").mkdir()
    (box / "points/ship-it.toml").write_text(POINT)
    chant(box, "workspace", "points", "ask", "ship-it", "--input", "risk=odd")

    said = chant(box, "workspace", "status")

    assert "questions:\n  Ship this build?  chant workspace points answer ship-it-" in said.out


def test_stewards_are_shown_with_what_they_wait_on(box: Path) -> None:
    chant(box, "run", "release")
    chant(box, "run", "gated", CHANT_STEWARD="box-steward")

    code, document = prompt(box, "steward show box-steward")

    assert (code, document["capabilities"]) == (0, ["inference"])
    assert [(each["op"], each["at"]) for each in document["waiting"]] == [("gated", "window")]
    assert chant(box, "steward", "list").out == "box-steward  local  gated  waits on 1\n"
    assert "did you mean box-steward?" in chant(box, "steward", "show", "box-stewart").err


def test_a_broken_file_hides_nothing_and_is_told(box: Path) -> None:
    (box / "ops/broken.op.toml").write_text("name = \n")

    for words in (["list"], ["graph"]):
        said = chant(box, *words)
        assert said.code == 0
        assert "warning: ops/broken.op.toml:1: " in said.err
        assert "release" in said.out


def test_the_doctor_passes_a_healthy_project_and_names_what_ails_another(
    box: Path, tmp_path: Path
) -> None:
    healthy = chant(box, "doctor", "--json")
    (box / "ops/broken.op.toml").write_text("name = \n")
    ill = chant(box, "doctor")
    nowhere = chant(tmp_path, "doctor", "--json")

    assert (healthy.code, healthy.document["ok"]) == (0, True)
    assert {"python", "git", "identity", "config", "ops", "ledger"} <= {
        each["name"] for each in healthy.document["checks"]
    }
    assert ill.code == 1
    assert "fail  ops" in ill.out
    assert "ops/broken.op.toml:1:" in ill.out
    assert [each["name"] for each in nowhere.document["checks"] if each["status"] == "fail"] == [
        "project"
    ]
    assert prompt(box, "doctor")[0] == 1


def test_the_doctor_asks_the_remote_and_reads_the_branch(box: Path) -> None:
    remote = '[ledger]\nremote = "origin"\npush = "require"\n'
    (box / "chant.toml").write_text(CHANT_TOML + remote)
    git(box, "remote", "add", "origin", str(box / "none.git"))
    chant(box, "run", "release")

    checks = {each["name"]: each for each in chant(box, "doctor", "--json").document["checks"]}

    assert checks["remote"]["status"] == "fail"
    assert checks["ledger"]["status"] == "pass"


def test_a_new_project_runs_at_once(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "new")
    folder = tmp_path / "new"

    made = chant(folder, "init", "--json")

    assert (made.code, made.document["written"]) == (0, ["chant.toml", "ops/hello.op.toml"])
    assert chant(folder, "run", "hello", "--param", "who=you").code == 0
    assert (folder / "build/greeting.txt").read_text() == "Hello, you!\n"
    assert chant(folder, "build", "--check").code == 1
    assert chant(folder, "lifecycle", "diff", "--live").out.startswith("newly-observed  greeting")


@pytest.mark.parametrize(
    "name", ["a b", "\n", "\x1b[31m", "\x7f", '"q"', "a\\b", "'" * 3, "\udcff", "\u2028"]
)
def test_a_new_project_may_lie_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    """A name with a line end gave a chant.toml that nobody could read."""
    folder = tmp_path / name
    folder.mkdir()

    assert chant(folder, "init").code == 0

    told = chant(folder, "list", "--json").document["project"]
    assert told == name.replace("\udcff", "?")


def test_a_new_project_says_what_comes_next(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "new")

    within = chant(tmp_path / "new", "init", "sub").out.splitlines()
    outside = chant(tmp_path, "init", "plain").out.splitlines()

    assert within[-1] == "next: chant list, chant run hello, chant lifecycle diff --live"
    assert outside[-1] == (
        "next: git init, chant list, chant run hello, chant lifecycle diff --live"
    )


def test_a_folder_with_something_in_it_is_not_touched_without_force(tmp_path: Path) -> None:
    (tmp_path / "chant.toml").write_text("# mine\n")

    refused = chant(tmp_path, "init")
    forced = chant(tmp_path, "init", "--force", "--json")

    assert refused.code == 4
    assert "--force" in refused.err
    assert (tmp_path / "chant.toml").read_text() == "# mine\n"
    assert forced.document["kept"] == ["chant.toml"]
    assert prompt(tmp_path, "init sub --name 'a \"b'")[0] == 0
    assert 'name = "a \\"b"' in (tmp_path / "sub/chant.toml").read_text()


def test_a_prompt_writes_only_below_its_session_s_folder(box: Path, tmp_path: Path) -> None:
    assert chant(box, "run", "failing").code == 1
    outside = tmp_path / "outside"
    outside.mkdir()
    (box / "link").symlink_to(outside)
    names = ("../a.html", f"{outside}/a.html", "link/a.html", "link")

    asked = [f"run report failing --out {name}" for name in names]
    told = [refused(box, text) for text in (*asked, "init ../new", "init link")]

    assert all(f"is outside of the session's folder, {box}: a prompt" in each for each in told)
    assert list(outside.iterdir()) == []
    assert not (box.parent / "new").exists()
    assert not (box.parent / "a.html").exists()
    assert prompt(box, "run report failing --out new/../new/a.html")[0] == 0
    assert (box / "new/a.html").exists()
    # At a terminal it is the person's own word.
    assert chant(box, "run", "report", "failing", "--out", str(outside / "a.html")).code == 0


@pytest.mark.parametrize(
    "words", [["run", "status", "relase"], ["run", "log", "relase"], ["steward", "show", "x"]]
)
def test_an_unknown_op_lists_the_known_ones(box: Path, words: list[str]) -> None:
    said = chant(box, *words, "--json")

    assert said.code == 2
    assert "known: " in json.loads(said.out)["error"]


def test_a_run_is_reported_by_its_op_or_its_id_on_stdout_or_to_a_file(box: Path) -> None:
    chant(box, "run", "failing")
    run_id = chant(box, "run", "log", "--json").document["runs"][0]["id"]

    by_op, by_id = chant(box, "run", "report", "failing"), chant(box, "run", "report", run_id)
    wrote = chant(box, "run", "report", run_id, "--out", "reports/failing.html", "--json")
    code, document = prompt(box, "run report failing --format html")

    assert by_op.out == by_id.out
    assert by_op.out.startswith("# failing: fail\n")
    page = (box / "reports/failing.html").read_text()
    assert wrote.document["file"] == str(box / "reports/failing.html")
    assert (code, document["report"]) == (0, page)


def test_where_nothing_has_run_it_is_said_how_to_make_a_run(box: Path) -> None:
    staging = ("--env", "staging")
    in_staging = (
        "release has no finished run in staging; chant run release --env staging begins one\n"
    )
    (box / "chant.toml").write_text('[project]\nenvironments = ["local", "staging"]\n')

    said = [
        chant(box, "run", "report", "release").err,
        chant(box, "run", "report", "release", *staging).err,
        chant(box, "run", "status", "release").out,
        chant(box, "run", "log", "release", *staging).out,
        chant(box, "run", "log").out,
    ]

    assert said == [
        "chant run report: release has no finished run in local; chant run release begins one\n",
        f"chant run report: {in_staging}",
        "release has no finished run in local; chant run release begins one\n",
        in_staging,
        "no finished runs in local; chant run OP begins one\n",
    ]


def test_a_run_that_goes_on_is_pointed_to_instead_of_another(box: Path) -> None:
    record = {"id": "20261130-101500123-9f3a2c1b", "op": "release", "env": "local"}
    InFlight(str(box / ".git/chant")).begin({**record, "status": "running"})

    reported = chant(box, "run", "report", "release").err
    logged = chant(box, "run", "log", "release").out
    status = chant(box, "run", "status", "release").out

    pointed = "release has no finished run in local; chant run status release shows the one"
    assert (pointed in reported, pointed in logged) == (True, True)
    assert status.startswith("release is running on ")
    assert len(status.splitlines()) == 1


def test_a_run_whose_process_was_killed_is_interrupted_before_the_next_run_records_it(
    box: Path,
) -> None:
    """It was silently absent until then: the Op had never run, or its run before was shown."""
    chant(box, "run", "release")
    before = chant(box, "run", "status", "release", "--json").document["newest"]
    lost = {**before, "id": "20991130-101500123-9f3a2c1b", "started": "2099-11-30T10:15:00.123Z"}
    InFlight(str(box / ".git/chant")).begin({**lost, "ended": None, "status": "running"})
    note = box / f".git/chant/runs/{lost['id']}.json"
    note.write_text(json.dumps({**json.loads(note.read_bytes()), "start_time": "of another"}))

    listed = chant(box, "run", "list", "--json").document["ops"]
    shown = {each["op"]: each["newest"] for each in listed}["release"]
    logged = chant(box, "run", "log", "release", "--json").document["runs"]
    reported = chant(box, "run", "report", lost["id"])
    status = chant(box, "run", "status", "release")

    assert (shown["id"], shown["status"], shown["duration_ms"]) == (lost["id"], "interrupted", None)
    assert [each["id"] for each in logged] == [lost["id"], before["id"]]
    assert (reported.code, "interrupted" in reported.out) == (0, True)
    assert "interrupted" in status.out
    chant(box, "run", "release")
    again = chant(box, "run", "log", "release", "--json").document["runs"]
    assert sorted(each["status"] for each in again) == ["interrupted", "ok", "ok"]


def test_what_can_not_be_reported_says_why(box: Path) -> None:
    for name, code, reason in (
        ("release", 4, "release has no finished run in local"),
        ("20261130-101500123-9f3a2c1b", 4, "there is no run 20261130-101500123-9f3a2c1b in local"),
        ("relase", 2, "did you mean release?"),
    ):
        said = chant(box, "run", "report", name)
        assert (said.code, reason in said.err) == (code, True)
    assert chant(box, "run", "report", "release", "--format", "pdf").code == 2


def test_points_are_listed_drawn_described_and_waited_for(box: Path) -> None:
    (box / "points").mkdir()
    (box / "points/ship-it.toml").write_text(POINT)
    (box / "ops/asking.op.toml").write_text(ASKING)
    assert chant(box, "run", "asking", CHANT_STEWARD="box-steward").code == 3

    listed = chant(box, "list", "--json").document
    (found,) = chant(box, "describe", "ship-it", "--json").document["found"]
    waits = chant(box, "workspace", "status", "--json").document
    steward = chant(box, "steward", "show", "box-steward", "--json").document

    assert listed["points"] == [
        {"name": "ship-it", "title": "Ship this build?", "file": "points/ship-it.toml"}
    ]
    assert (found["kind"], found["question"]["type"]) == ("point", "yesno")
    assert "asking asks point ship-it" in chant(box, "graph").out
    (question,) = waits["questions"]
    assert question["line"].startswith(f"chant workspace points answer {question['id']} ")
    assert [(each["op"], each["at"]) for each in steward["waiting"]] == [("asking", "ship-it")]

    chant(box, "workspace", "points", "answer", question["id"], "--answer", "yes", "--by", "ann")

    answered = chant(box, "workspace", "status", "--json").document
    assert (answered["questions"], answered["stewards"][0]["waiting"]) == ([], [])


def test_help_of_half_a_verb_is_help(box: Path) -> None:
    said = chant(box, "lifecycle", "--help")

    assert said.code == 0
    assert "lifecycle snapshot" in said.out

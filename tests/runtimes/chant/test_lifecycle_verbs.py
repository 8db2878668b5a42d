"""Resources by the verbs, on the command line and in a session."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.ops.projects import git
from tests.runtimes.chant.projects import CHANT_TOML, make_project
from tests.runtimes.chant.talk import chant, prompt

if TYPE_CHECKING:
    from pathlib import Path

README = """
[[resource]]
name = "readme"
reader = "file"
path = "README.md"
op = "release"
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    folder = make_project(tmp_path / "box")
    (folder / "chant.toml").write_text(CHANT_TOML + README)
    (folder / "README.md").write_text("box\n")
    return folder


def classes(document: Any) -> dict[str, str]:
    return {each["name"]: each["class"] for each in document["resources"]}


def test_a_bare_live_diff_works_without_a_snapshot(box: Path) -> None:
    said = chant(box, "lifecycle", "diff", "--live", "--json")

    assert said.code == 0
    assert classes(said.document) == {"readme": "newly-observed"}
    assert (said.document["env"], said.document["snapshot"]) == ("local", None)
    assert prompt(box, "chant lifecycle diff --live") == (0, said.document)


def test_drift_is_told_against_the_last_snapshot_and_can_be_an_exit_code(box: Path) -> None:
    assert chant(box, "lifecycle", "snapshot", "--name", "good").code == 0
    (box / "README.md").write_text("changed\n")

    told = chant(box, "lifecycle", "diff", "--live")
    judged = chant(box, "lifecycle", "diff", "--live", "--exit-code")
    stored = chant(box, "lifecycle", "diff", "--exit-code", "--json")

    assert (told.code, judged.code, judged.out) == (0, 1, told.out)
    assert "drifted  readme  file\n" in told.out
    assert "bytes: was 4, is 8\n" in told.out
    assert (stored.code, classes(stored.document)) == (0, {"readme": "unchanged"})


def test_what_is_gone_is_planned_with_the_op_that_brings_it_back(box: Path) -> None:
    chant(box, "lifecycle", "snapshot")
    (box / "README.md").unlink()

    said = chant(box, "lifecycle", "plan")
    code, document = prompt(box, "lifecycle plan")

    assert said.out == "create  readme  declared and absent; chant run release --env local\n"
    assert code == 0
    assert document["actions"][0]["class"] == "disappeared"


def test_a_resource_that_is_no_longer_declared_is_an_orphan(box: Path) -> None:
    chant(box, "lifecycle", "snapshot")
    (box / "chant.toml").write_text(CHANT_TOML)

    said = chant(box, "lifecycle", "diff", "--live", "--json")

    assert classes(said.document) == {"readme": "orphan"}


def test_snapshots_are_shown_and_listed(box: Path) -> None:
    code, taken = prompt(box, "lifecycle snapshot --name first")
    chant(box, "lifecycle", "snapshot", "prod", "--name", "other")

    shown = chant(box, "lifecycle", "show", "first", "--json").document
    log = chant(box, "lifecycle", "log", "--json").document

    assert (code, taken["resources"]["readme"]["state"]) == (0, "present")
    assert shown == {
        key: value for key, value in taken.items() if key not in {"ledger_commit", "pushed"}
    }
    assert [each["name"] for each in log["snapshots"]] == ["first"]
    listed = chant(box, "lifecycle", "log", "prod").out
    assert "other  " in listed
    assert listed.endswith("  1 resource\n")
    assert "README" not in chant(box, "lifecycle", "show").out
    assert "bytes: 4" in chant(box, "lifecycle", "show").out


def test_what_could_not_be_looked_at_is_told_and_does_not_count(box: Path) -> None:
    silent = '[[resource]]\nname = "far"\nreader = "http"\nurl = "{}"\ntimeout = "200ms"\n'
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        (box / "chant.toml").write_text(CHANT_TOML + silent.format(url))

        said = chant(box, "lifecycle", "diff", "--live", "--exit-code")

    assert said.code == 0
    assert "unobserved  far  http: no answer within 0.2 s\n" in said.out
    assert said.err == "warning: 1 of 1 resource could not be judged\n"


def test_a_wrong_declaration_refuses_and_moves_nothing(box: Path) -> None:
    (box / "bad.resource.toml").write_text('name = "bad"\nreader = "fil"\n')

    said = chant(box, "lifecycle", "snapshot")

    assert (said.code, said.out) == (4, "")
    assert (
        "bad.resource.toml:2: resource bad: unknown reader 'fil' (did you mean file?)" in said.err
    )
    assert git(box, "branch", "--list", "chant/lifecycle") == ""


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["lifecycle"], 2, "needs one of diff, log, plan, show, snapshot"),
        (["lifecycle", "dif"], 2, "did you mean 'diff'?"),
        (["lifecycle", "diff", "nowhere"], 2, "known: local, prod"),
        (["lifecycle", "log", "--limit", "0"], 2, "--limit needs a whole number"),
        (["lifecycle", "show"], 4, "there is no snapshot of local yet"),
        (["lifecycle", "show", "x"], 4, "unknown snapshot 'x'"),
    ],
)
def test_refusals_name_what_is_known(box: Path, words: list[str], code: int, reason: str) -> None:
    said = chant(box, *words)

    assert said.code == code
    assert reason in said.err


def test_without_a_repository_a_live_diff_works_and_a_snapshot_says_why_not(
    tmp_path: Path,
) -> None:
    folder = make_project(tmp_path / "plain", git=False)
    (folder / "chant.toml").write_text(CHANT_TOML + README)

    said = chant(folder, "lifecycle", "diff", "--live")

    assert (said.code, said.out.split()[:2]) == (0, ["missing", "readme"])
    assert "is not in a git repository" in said.err
    assert chant(folder, "lifecycle", "snapshot").code == 4

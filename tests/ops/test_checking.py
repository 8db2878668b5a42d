# A finding is one line, and so is the row that provokes it.
# ruff: noqa: E501
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.checking import check_catalog, check_op
from tests.ops.projects import RELEASE, catalog, small_op

if TYPE_CHECKING:
    from pathlib import Path


def op_text(*steps: str, head: str = "", tail: str = "", parallel: str = "") -> str:
    body = "".join(f"[[phases.steps]]\n{each}\n" for each in steps)
    return f'name = "x"\n{head}\n[[phases]]\nname = "A"\n{parallel}\n{body}\n{tail}'


SHELL = 'id = "{}"\nfn = "shell"\nargs = {{ cmd = "true" }}'


def findings(tmp_path: Path, text: str, **files: str) -> list[str]:
    others = {f"{name}.op.toml": content for name, content in files.items()}
    found = catalog(tmp_path, {"x.op.toml": text, **others})
    assert found.problems == ()
    return [str(problem) for problem in check_op(found.find("x"), found)]


def test_a_good_op_has_no_findings(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"ops/release.op.toml": RELEASE})

    assert check_catalog(found) == ()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (op_text('fn = "shel"'), "x.op.toml:7: unknown fn 'shel' (did you mean shell?); known: build, copy"),
        (op_text(SHELL.format("a") + '\nprofile = "slow"'), ":10: unknown profile 'slow'; known: human, long"),
        (op_text('fn = "shell"\nargs = { cmd = "x", cdw = "y" }'), ":8: step p1.s1: unknown arg of shell 'cdw' (did you mean cwd?)"),
        (op_text('fn = "shell"'), ":6: step p1.s1: shell needs cmd: the command line"),
        (op_text('fn = "shell"\nargs = { cmd = 3 }'), ":8: step p1.s1: cmd must be text, not 3"),
        (op_text('fn = "sleep"\nargs = { duration = "1 s" }'), "duration must be a duration like 10s"),
        (op_text('fn = "wait_for"\nargs = { port = 1, file = "x" }'), "exactly one of command, url, port, file"),
        (op_text('fn = "shell"\nargs = { cmd = { from = "nope" } }'), ":8: unknown earlier step 'nope'; there are none"),
        (op_text('id = "a"\nfn = "shell"\nargs = { cmd = { from = "a" } }'), "unknown earlier step 'a'"),
        (op_text(SHELL.format("a"), 'fn = "shell"\nargs = { cmd = { from = "a" } }', parallel="parallel = true"), "unknown earlier step 'a'"),
        (op_text('fn = "shell"\nargs = { cmd = { param = "v" } }', head="[params.vv]"), "unknown parameter 'v' (did you mean vv?); known: vv"),
        (op_text(SHELL.format("a"), head='[params.v]\ntype = "integer"\ndefault = "3"'), "'v' is of type integer, not '3'"),
        (op_text(SHELL.format("a"), head='[params.v]\ndefault = "c"\nenum = ["a", "b"]'), "must be one of a, b"),
        (op_text(SHELL.format("a"), head="[params.a-b]\n[params.a_b]"), "would both be CHANT_PARAM_A_B"),
        (op_text(SHELL.format("a"), SHELL.format("a")), "step id 'a' is used twice"),
        (op_text(SHELL.format("a"), tail='[[on_failure]]\nname = "A"\n[[on_failure.steps]]\n' + SHELL.format("b")), "phase 'A' is declared twice"),
        (op_text(SHELL.format("a"), head='environments = ["prdo"]'), ":2: unknown environment 'prdo' (did you mean prod?)"),
        (op_text(SHELL.format("a"), head='depends = ["nope"]'), ":2: unknown op 'nope'; known: x"),
        (op_text(SHELL.format("a"), head='depends = ["x"]'), "dependency cycle: x -> x"),
        (op_text(SHELL.format("a"), tail='[[on_failure]]\nname = "R"\n[[on_failure.steps]]\ngate = "g"'), "gate 'g' stands in on_failure"),
        (op_text('gate = "g"', SHELL.format("a"), parallel="parallel = true"), "gate 'g' has nothing to guard in parallel phase 'A'"),
    ],
)  # fmt: skip
def test_each_finding_has_file_line_and_known_names(
    tmp_path: Path, text: str, finding: str
) -> None:
    found = findings(tmp_path, text)

    assert any(finding in each for each in found), found


def test_a_longer_cycle_is_drawn(tmp_path: Path) -> None:
    text = op_text(SHELL.format("a"), head='depends = ["y"]')

    found = findings(tmp_path, text, y=small_op("y", more='depends = ["x"]'))

    assert found == ["x.op.toml:2: dependency cycle: x -> y -> x"]


def test_clean_up_may_refer_to_what_runs_before_it_in_reverse(tmp_path: Path) -> None:
    tail = """\
[[on_failure]]
name = "Last"
[[on_failure.steps]]
fn = "shell"
args = { cmd = { from = "look" } }
[[on_failure]]
name = "First"
[[on_failure.steps]]
id = "look"
fn = "shell"
args = { cmd = { from = "a" } }
"""
    assert findings(tmp_path, op_text(SHELL.format("a"), tail=tail)) == []


def test_all_findings_are_told_at_once(tmp_path: Path) -> None:
    text = op_text('fn = "shel"', 'fn = "exce"', SHELL.format("c") + '\nprofile = "none"')

    assert len(findings(tmp_path, text)) == 3

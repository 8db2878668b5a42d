# A finding is one line, and so is the row that provokes it.
# ruff: noqa: E501
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.errors import EnvUnknown, ProjectInvalid, ProjectNotFound
from ops.model import Profile, Retry
from ops.project import LedgerSettings, Project, choose_environment, find_project, find_root
from tests.ops.projects import project, repository

if TYPE_CHECKING:
    from pathlib import Path

FULL = """\
[project]
name = "box"
environments = ["local", "prod"]
default_environment = "prod"
compensation_timeout = "1m"
[ledger]
remote = "origin"
push = "try"
[params.version]
required = true
[profiles.slow]
timeout = "1h"
attempts = 2
wait = "10s"
[[steward]]
name = "box-steward"
environment = "prod"
ops = ["release"]
capabilities = ["inference"]
schedule = [{ op = "release", cron = "*/15 * * * *" }]
[[resource]]
name = "readme"
reader = "file"
path = "README.md"
"""


def test_every_key_of_chant_toml_is_read(tmp_path: Path) -> None:
    found = project(tmp_path, {"chant.toml": FULL})

    assert (found.name, found.default_environment) == ("box", "prod")
    assert found.compensation_timeout_s == 60
    assert found.ledger == LedgerSettings(remote="origin", push="try")
    assert found.profiles["slow"] == Profile("slow", 3600.0, Retry(2, 10.0))
    assert found.params["version"].required
    assert found.stewards["box-steward"].schedule == (("release", "*/15 * * * *"),)
    assert found.resources[0]["path"] == "README.md"


def test_the_nearest_chant_toml_wins_over_the_checkout(tmp_path: Path) -> None:
    inner = tmp_path / "deep" / "er"
    inner.mkdir(parents=True)
    repository(tmp_path)
    assert find_root(str(inner)) == str(tmp_path)

    (tmp_path / "deep" / "chant.toml").write_text("")
    assert find_root(str(inner)) == str(tmp_path / "deep")


def test_without_either_the_error_says_so() -> None:
    with pytest.raises(ProjectNotFound, match=r"no chant\.toml and no git checkout"):
        find_root("/proc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[project]\nnmae = "x"', r"chant\.toml:2: project: unknown key 'nmae' \(did you mean name\?\)"),
        ("[projct]", r"chant\.toml:1: unknown key 'projct' \(did you mean project\?\)"),
        ("[project]\nname = 3", r"chant\.toml:2: project: name must be text, not 3"),
        ('[ledger]\npush = "sometimes"', r"chant\.toml:2: ledger: unknown policy 'sometimes'"),
        ('[ledger]\npush = "try"', r"push = 'try' needs a remote"),
        ('[project]\ndefault_environment = "x"', r"unknown environment 'x'"),
        ('[project]\nenvironments = ["a/b"]', r"environment 'a/b'"),
        ('[profiles.x]\ntimeout = "5 minutes"', r"chant\.toml:2: profile x: duration '5 minutes'"),
        ("[project]\nname = ", r"chant\.toml:2: not valid TOML: Invalid value"),
        ("project = 3", r"project must be a table, not 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "chant.toml").write_text(text)

    with pytest.raises(ProjectInvalid, match=message):
        find_project(str(tmp_path))


@pytest.mark.parametrize(
    ("declared", "default", "asked", "chosen"),
    [
        ((), None, None, "local"),
        (("prod",), None, None, "prod"),
        (("a", "b"), None, None, "local"),
        (("a", "b"), "b", None, "b"),
        (("a", "b"), "b", "a", "a"),
        ((), None, "local", "local"),
    ],
)
def test_the_environment_is_chosen_by_rule(
    declared: tuple[str, ...], default: str | None, asked: str | None, chosen: str
) -> None:
    some = Project("/", environments=declared, default_environment=default)

    assert choose_environment(some, asked) == chosen


def test_an_undeclared_environment_lists_the_declared() -> None:
    with pytest.raises(EnvUnknown, match=r"unknown environment 'prdo' \(did you mean prod\?\); known: local, prod"):  # fmt: skip
        choose_environment(Project("/", environments=("prod", "local")), "prdo")


STEWARD = '[[steward]]\nname = "{name}"\nenvironment = "{env}"\nops = {ops}\n'


@pytest.mark.parametrize(
    ("stewards", "said"),
    [
        ([("a", "prod", ["x", "x"])], "op 'x' is named twice"),
        (
            [("a", "prod", ["x"]), ("b", "prod", ["x"])],
            "op 'x' belongs to steward 'a' there already",
        ),
        ([("a", "prod", []), ("a", "local", [])], "another steward is called 'a'"),
    ],
)
def test_two_stewards_share_neither_a_name_nor_an_op(
    tmp_path: Path, stewards: list[tuple[str, str, list[str]]], said: str
) -> None:
    declared = "".join(STEWARD.format(name=n, env=e, ops=o) for n, e, o in stewards)

    with pytest.raises(ProjectInvalid, match=said):
        project(tmp_path, {"chant.toml": declared})


def test_an_op_may_have_one_steward_in_each_environment(tmp_path: Path) -> None:
    declared = "".join(STEWARD.format(name=e, env=e, ops=["x"]) for e in ("prod", "local"))

    assert set(project(tmp_path, {"chant.toml": declared}).stewards) == {"prod", "local"}

"""Declarations of resources: where they are read from, and what is said of wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.resources.resource import ResourceNotFound, load_resources
from tests.ops.projects import project

if TYPE_CHECKING:
    from pathlib import Path

CHANT = """\
[project]
environments = ["local", "prod"]

[[resource]]
name = "readme"
reader = "file"
path = "README.md"
environments = ["prod"]
op = "release"
timeout = "30s"
[resource.expect]
mode = "0644"
"""

PORT = """\
name = "web"
reader = "port"
port = 8099
"""


def test_resources_come_from_chant_toml_and_from_files_of_their_own(tmp_path: Path) -> None:
    declared = load_resources(
        project(tmp_path, {"chant.toml": CHANT, "deep/web.resource.toml": PORT})
    )

    assert declared.problems == ()
    readme, web = declared.resources["readme"], declared.resources["web"]
    assert (readme.reader.name, readme.keys) == ("file", {"path": "README.md"})
    assert (readme.expect, readme.op, readme.timeout_s) == ({"mode": "0644"}, "release", 30.0)
    assert (readme.file, readme.line) == ("chant.toml", 4)
    assert (web.keys, web.expect, web.file) == ({"port": 8099}, None, "deep/web.resource.toml")
    assert list(declared.in_environment("local")) == ["web"]
    assert list(declared.in_environment("prod")) == ["readme", "web"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('name = "a"\n', "a.resource.toml:1: resource a: reader is missing"),
        ('name = "a"\nreader = "fil"\n', "did you mean file?"),
        ('name = "a"\nreader = "file"\n', "path is missing: from the project's folder"),
        (
            'name = "a"\nreader = "file"\npth = "x"\npath = "y"\n',
            "3: resource a: unknown key 'pth'",
        ),
        ('name = "a"\nreader = "process"\n', "needs exactly one of match, pid_file"),
        ('name = "a/b"\nreader = "file"\npath = "x"\n', "letters, digits"),
        ('name = "a"\nreader = "port"\nport = "x"\n', "port must be a whole number"),
        ('name = "a"\nreader = "file"\npath = "x"\nexpect = { sha = "1" }\n', "mean sha256?"),
        ('name = "a"\nreader = "file"\npath = "x"\ntimeout = "10m"\n', "up to 300 s"),
        (
            'name = "a"\nreader = "file"\npath = "x"\nenvironments = ["pord"]\n',
            "did you mean prod?",
        ),
        ('name = "a"\nreader = "command"\ncommand = "x"\nabsent_codes = ["1"]\n', "whole numbers"),
        ("name = \n", "a.resource.toml:1: "),
    ],
)
def test_what_is_wrong_has_a_place_and_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    declared = load_resources(
        project(tmp_path, {"a.resource.toml": text, "web.resource.toml": PORT})
    )

    assert reason in "\n".join(map(str, declared.problems))
    assert list(declared.resources) == ["web"]


def test_two_of_one_name_are_told_with_both_files(tmp_path: Path) -> None:
    declared = load_resources(project(tmp_path, {"a.resource.toml": PORT, "b.resource.toml": PORT}))

    assert [str(problem) for problem in declared.problems] == [
        "b.resource.toml:1: resource web: resource 'web' is also in a.resource.toml"
    ]


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    declared = load_resources(project(tmp_path, {"a.resource.toml": PORT}))

    assert declared.find("web").name == "web"
    with pytest.raises(ResourceNotFound, match="did you mean web"):
        declared.find("wbe")

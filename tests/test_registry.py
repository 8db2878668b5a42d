"""The manifests for the registry of agents: what its schema and checks ask for, as of August 2026.

Its rules are told in FORMAT.md and CONTRIBUTING.md of the repository agentclientprotocol/registry.
"""

from __future__ import annotations

import json
import re
import tomllib
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from runtimes.version import VERSION
from tests.e2e.agents import CHANT, RADIAN
from tests.e2e.talk import Talk
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = sorted((ROOT / "registry").iterdir())
TEXT = {"type": "string", "minLength": 1}
URL = {"type": "string", "pattern": "^https://"}
WORDS = {"type": "array", "items": {"type": "string"}}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
PACKAGE = {
    "type": "object",
    "required": ["package"],
    "properties": {"package": TEXT, "cmd": TEXT, "args": WORDS, "env": TEXTS},
    "additionalProperties": False,
}
MANIFEST: dict[str, Any] = {
    "type": "object",
    "required": ["id", "name", "version", "description", "license_url", "distribution"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
        "name": TEXT,
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "description": TEXT,
        "repository": URL,
        "website": URL,
        "authors": WORDS,
        "license": TEXT,
        "license_url": URL,
        "distribution": {
            "type": "object",
            "minProperties": 1,
            "properties": {"npx": PACKAGE, "uvx": PACKAGE},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
KINDS = {kind.name: kind for kind in (CHANT, RADIAN)}


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """The folder of each manifest in turn, named like its agent."""
    chosen: Path = request.param
    return chosen


@pytest.fixture
def manifest(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "agent.json").read_text("utf-8"))
    return told


def test_both_agents_have_a_manifest() -> None:
    assert [folder.name for folder in FOLDERS] == sorted(KINDS)


def test_a_manifest_is_what_the_registry_takes(folder: Path, manifest: dict[str, Any]) -> None:
    jsonschema.validate(manifest, MANIFEST)

    assert manifest["id"] == folder.name
    assert sorted(each.name for each in folder.iterdir()) == ["agent.json", "icon.svg"]


def test_a_manifest_names_the_release_and_program_that_there_are(manifest: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    package = manifest["distribution"]["uvx"]

    assert manifest["version"] == VERSION
    assert package["package"] == f"{project['name']}=={VERSION}"
    assert package["cmd"] in project["scripts"]
    assert manifest["license"] == project["license"]


def test_what_a_manifest_starts_answers_by_its_name(
    manifest: dict[str, Any], tmp_path: Path
) -> None:
    package = manifest["distribution"]["uvx"]
    command = (script(package["cmd"]), *package["args"])

    with Talk(KINDS[manifest["id"]], tmp_path, command=command) as talk:
        told = talk.initialize()["agentInfo"]

    assert (told["name"], told["version"]) == (manifest["id"], manifest["version"])


def test_an_icon_is_16_by_16_in_the_colour_of_the_text_around_it(folder: Path) -> None:
    text = (folder / "icon.svg").read_text("utf-8")
    root = ET.fromstring(text)  # noqa: S314 - ours
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', text))

    assert (root.get("width"), root.get("height")) == ("16", "16")
    assert root.get("viewBox") == "0 0 16 16"
    assert "currentColor" in colours
    assert colours <= {"currentColor", "none"}
    assert "<!--" not in text
    assert "style" not in text

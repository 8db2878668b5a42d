"""No tracked file names a machine's folders or a registry's host: the project runs anywhere."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Joined from pieces, so that this file passes its own test.
FOLDERS = ("work", "farm", "root", "tmp/design")
HOSTS = (
    ("pypi", "org"),
    ("deb", "debian", "org"),
    ("registry", "npmjs"),
    ("files.python", "hosted"),
)
FORBIDDEN = re.compile(
    "|".join(
        [
            *(f"/{folder}/" for folder in FOLDERS),
            *(r"\.?".join(map(re.escape, host)) for host in HOSTS),
        ]
    )
)


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_tracked_file_names_this_machine_or_a_registry() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in _tracked()
        if path.is_file()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if (match := FORBIDDEN.search(line))
    ]

    assert found == []


@pytest.mark.parametrize(
    "pieces", [("cd /wo", "rk/x"), ("=/ro", "ot/"), ("https://pypi", ".org/x")]
)
def test_the_search_finds_such_names(pieces: tuple[str, str]) -> None:
    assert FORBIDDEN.search("".join(pieces))

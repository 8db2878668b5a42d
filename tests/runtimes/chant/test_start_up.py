"""A person waits for the command line, and a client for its first prompt: both load little."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.chant.projects import RELEASE, make_project
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOADED = """
import gc, os, sys
product, *words = sys.argv[1:]
sys.argv[:] = [product, *words]

def tell(_code):
    sys.stderr.write(" ".join(sys.modules))
    for module in [*sys.modules.values()]:
        for one in vars(module).values():
            if "__dataclass_params__" in getattr(one, "__dict__", ()):
                sys.stderr.write(f" dataclass:{one.__module__}.{one.__qualname__}")
    sys.stderr.write(f" collector:{gc.isenabled()} {' '.join(too_early)}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

def note(*_):
    if not gc.get_freeze_count():
        too_early.append("collected-too-early")

sys.exit = tell
too_early = []
main = __import__(f"runtimes.{product}.entry", fromlist=["main"]).main
gc.collect()
gc.callbacks.append(note)
main()
"""
LEFT_ON = "collector:True"
OURS = ("ops.", "runtimes.", "protocol.", "actors.")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(tmp_path, git=False, release=RELEASE)


def loaded_by(folder: Path, *line: str) -> set[str]:
    """Return the modules, and the dataclasses, that are there when a line has been carried out."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
        text=True,
    )
    assert done.stdout
    return set(done.stderr.split())


def test_ops_are_listed_without_what_other_verbs_need(box: Path) -> None:
    loaded = loaded_by(box, "chant", "list")

    assert "ops.loading" in loaded
    spared = {"bz2", "click", "hashlib", "inspect", "logging", "orjson", "pykka", "shutil"}
    assert loaded & spared == set()


def test_values_of_ops_are_declared_with_the_quick_words(box: Path) -> None:
    loaded = loaded_by(box, "chant", "list")

    declared = {each.removeprefix("dataclass:") for each in loaded if each.startswith("dataclass:")}
    # Members of these take no part in comparisons, are put in order, or change.
    assert {each for each in declared if each.startswith(OURS)} == {
        "ops.findings.Findings",
        "ops.findings.Problem",
        "ops.model.Op",
        "ops.points.Point",
    }


@pytest.mark.parametrize("product", ["chant", "radian"])
def test_help_is_shown_without_what_is_needed_in_trouble(box: Path, product: str) -> None:
    loaded = loaded_by(box, product, "--help")

    assert "click" in loaded
    assert loaded.isdisjoint({"ast", "inspect", "platform", "traceback"})


@pytest.mark.parametrize("line", [("chant", "list"), ("chant", "--help"), ("radian", "--help")])
def test_nothing_looks_for_garbage_before_all_is_imported(box: Path, line: Sequence[str]) -> None:
    loaded = loaded_by(box, *line)

    assert LEFT_ON in loaded
    assert "collected-too-early" not in loaded

"""The quick way into ``chant acp``: the plain forms only, and nothing heavy on the way."""

from __future__ import annotations

import subprocess
import sys

import pytest

from runtimes.chant.acp_flags import grace_seconds, read_quickly


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("acp", {}),
        ("acp serve", {}),
        ("acp --grace 3", {"--grace": "3"}),
        ("acp serve --grace=3", {"--grace": "3"}),
        ("acp --faults a.toml", {"--faults": "a.toml"}),
        ("acp --allow-faults --grace 1", {"--allow-faults": "on", "--grace": "1"}),
        ("acp --allow-faults=yes", None),
        ("acp --help", None),
        ("acp --grace", None),
        ("acp --grace=", None),
        ("acp --grace 1 --grace 2", None),
        ("acp serve serve", None),
        ("acp --json", None),
        ("serve", None),
        ("run acp", None),
        ("", None),
    ],
)
def test_only_plain_lines_are_read_quickly(line: str, flags: dict[str, str] | None) -> None:
    assert read_quickly(line.split()) == flags


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("0", None),
        ("-1", None),
        ("x", None),
        ("nan", None),
        ("1e9", None),
    ],
)
def test_a_grace_is_a_number_of_seconds_up_to_an_hour(text: str, seconds: float | None) -> None:
    assert grace_seconds(text) == seconds


def test_serving_starts_without_click_ops_verbs_or_logging_libraries() -> None:
    code = "import sys, runtimes.chant.entry, runtimes.chant.serving; print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(run.stdout.split())

    heavy = {"click", "loguru", "asyncio", "subprocess", "tomllib", "difflib", "ops"}
    assert loaded & heavy == set()
    ours = {name for name in loaded if name.startswith("runtimes.chant.")}
    assert ours == {
        f"runtimes.chant.{name}" for name in ("acp_flags", "entry", "runtime", "serving")
    }

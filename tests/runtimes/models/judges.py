"""Model servers that others wrote, npm aimock and PyPI llmock, and a real model behind ours."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.node import node_command
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

AIMOCK = ROOT / "tests/e2e/aimock/node_modules/@copilotkit/aimock/dist/cli.js"
LLMOCK = ROOT / ".venv/llmock/bin/llmock"
SMOLLM = ROOT / ".venv/smollm/bin/python"
FACE = ROOT / "tests/judges/smollm/face.py"
ABSENT = "NOT TESTED: {} (make judges brings it)"


@contextmanager
def aimock(folder: Path, *fixtures: dict[str, Any]) -> Generator[str]:
    """Run aimock with the fixtures, and give its address."""
    node = node_command()
    if node is None or not AIMOCK.exists():
        pytest.skip(ABSENT.format("the npm package aimock is not installed"))
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}))
    words = [*node, str(AIMOCK), "-p", "0", "-f", str(folder), "--log-level", "info"]
    with _running(words, "listening on ") as url:
        yield url


@contextmanager
def llmock(*options: str) -> Generator[str]:
    """Run llmock, and give its address."""
    if not LLMOCK.exists():
        pytest.skip(ABSENT.format("the PyPI package llmock is not installed"))
    with _running([str(LLMOCK), "serve", "-p", "0", *options], "Uvicorn running on ") as url:
        yield url


@contextmanager
def smollm() -> Generator[str]:
    """Run a real tiny model, and give its address."""
    if not (ROOT / ".venv/smollm/.installed").exists():
        pytest.skip("NOT TESTED: the model SmolLM2 is not installed (make smollm brings it)")
    with _running([str(SMOLLM), str(FACE)], "listening on ") as url:
        yield url


def told(url: str, value: Any = None) -> Any:
    """Ask a judge for something, or tell it what to do."""
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - loopback
        return json.load(answer)


@contextmanager
def _running(words: list[str], sign: str) -> Generator[str]:
    """Run a server until the block ends; it says where it listens after ``sign``."""
    server = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    said: list[str] = []
    with server.stdin, server.stdout as lines:
        try:
            for line in lines:
                said.append(line)
                if sign in line:
                    break
            else:
                pytest.fail(f"{words[0]} does not run: {''.join(said)}")
            # What it says later must not fill the pipe.
            threading.Thread(target=_drain, args=(lines,), daemon=True).start()
            yield said[-1].partition(sign)[2].split()[0]
        finally:
            server.kill()
            server.wait(10)


def _drain(lines: Any) -> None:
    try:
        for _ in lines:
            pass
    except ValueError:
        return  # closed under us at the end of the test

"""The instant model that coding agents are measured with, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Model:
    """A running one; see `bench/agents/model_server.py` for what prompts make it do."""

    port: int

    @property
    def url(self) -> str:
        """The base address of its three interfaces."""
        return f"http://127.0.0.1:{self.port}/v1"

    def figure(self, name: str) -> float:
        """Return one of its figures: ``sent`` (bytes), ``arrived`` or ``hung_up`` (monotonic s)."""
        with urllib.request.urlopen(f"{self.url}/{name}") as answer:  # noqa: S310 - our own server
            value: float = json.load(answer)["value"]
            return value


@contextmanager
def model() -> Generator[Model]:
    """Start the model, and end it afterwards."""
    command = [sys.executable, "-m", "bench.agents.model_server"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Model(int(process.stdout.readline()))
        finally:
            process.stdin.close()

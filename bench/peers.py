"""Whom we measure: our servers as a built wheel installs them, the official SDKs, and two floors.

Everything is installed under bench/.peers.  All Python agents are started in the same way: from a
venv whose site-packages are compiled, with no Python variable in the environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.node import install, node_command

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / ".peers"
AGENTS = ROOT / "bench" / "agents"
PYTHON_SDK = "agent-client-protocol==0.12.1"
TYPESCRIPT_SDK = "2.4.0"


@dataclass(frozen=True, slots=True)
class Agent:
    """Something to measure: how it is started, and in which environment."""

    name: str
    command: tuple[str, ...]
    env: dict[str, str]
    patience_s: float = 120
    """How long to wait for any one answer."""


@dataclass(frozen=True, slots=True)
class Peers:
    """All agents.  ``typescript`` is None where there is no Node."""

    chant: Agent
    radian: str
    """The installed command."""
    stream: Agent
    bare: Agent
    ceiling: Agent
    python: Agent
    typescript: Agent | None

    def sdk_agents(self) -> list[Agent]:
        """Return the agents on the official SDKs that are there."""
        return [agent for agent in (self.python, self.typescript) if agent is not None]


def set_up() -> Peers:
    """Install what is missing, and ours anew from the sources as they are."""
    ours = _venv("ours")
    _install_ours(ours)
    theirs = _venv("python-sdk")
    _pip(theirs, "install", "--constraint", str(ROOT / "requirements-dev.txt"), PYTHON_SDK)
    _compile(theirs)
    python = str(ours / "bin" / "python")
    return Peers(
        chant=_agent("chant", str(ours / "bin" / "chant"), "acp"),
        radian=str(ours / "bin" / "radian"),
        stream=_agent("our runtime", python, str(AGENTS / "stream_agent.py")),
        bare=_agent("bare Python", python, str(AGENTS / "bare.py")),
        ceiling=_agent("orjson ceiling", python, str(AGENTS / "ceiling.py")),
        python=_agent("Python SDK", str(theirs / "bin" / "python"), str(AGENTS / "python_sdk.py")),
        typescript=_typescript(),
    )


def clean_environment() -> dict[str, str]:
    """Return the environment without what changes how Python or chant behave."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CHANT", "RADIAN", "LOGURU", "VIRTUAL_ENV"))
    }


def _agent(name: str, *command: str) -> Agent:
    return Agent(name, command, clean_environment())


def _venv(name: str) -> Path:
    folder = PEERS / name
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


def _pip(venv: Path, *words: str) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    subprocess.run([venv / "bin" / "python", "-m", "pip", *quiet, *words], check=True)


def _install_ours(venv: Path) -> None:
    """Build a wheel with the build backend that the project's own venv has, and install that."""
    wheels = PEERS / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT))
    _pip(Path(sys.prefix), *build)
    (wheel,) = wheels.glob("*.whl")
    _pip(venv, "install", "--constraint", str(ROOT / "requirements-dev.txt"), str(wheel))
    _pip(venv, "install", "--force-reinstall", "--no-deps", str(wheel))
    _compile(venv)


def _compile(venv: Path) -> None:
    """Write bytecode for all that is installed, whatever the environment says about it."""
    (packages,) = (venv / "lib").glob("python3*/site-packages")
    subprocess.run([venv / "bin" / "python", "-m", "compileall", "-q", packages], check=True)


def _typescript() -> Agent | None:
    node = node_command()
    if node is None:
        return None
    folder = PEERS / "typescript-sdk"
    if not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "tests" / "e2e" / "typescript" / name, folder)
        install(folder)
    _check_version(folder)
    env = {**clean_environment(), "BENCH_NODE_MODULES": str(folder)}
    return Agent("TypeScript SDK", (*node, str(AGENTS / "typescript_sdk.mjs")), env)


def _check_version(folder: Path) -> None:
    manifest = folder / "node_modules" / "@agentclientprotocol" / "sdk" / "package.json"
    found = json.loads(manifest.read_text())["version"]
    if found != TYPESCRIPT_SDK:
        message = f"{folder} has version {found}, the bench is about {TYPESCRIPT_SDK}: remove it"
        raise RuntimeError(message)


if __name__ == "__main__":
    set_up()

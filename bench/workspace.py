"""A folder to run Ops in: a copy of bench/box in a git repository of its own, made and removed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

BOX = Path(__file__).resolve().parent / "box"


@contextmanager
def workspace() -> Generator[Path]:
    """Give a fresh workspace with one commit, so that runs are recorded as they are for users."""
    with tempfile.TemporaryDirectory(prefix="chantry-bench-") as folder:
        path = Path(folder) / "box"
        shutil.copytree(BOX, path)
        who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        for words in (
            ["init", "--quiet"],
            ["add", "."],
            [*who, "commit", "--quiet", "-m", "Start"],
        ):
            subprocess.run(["git", *words], cwd=path, check=True)
        yield path

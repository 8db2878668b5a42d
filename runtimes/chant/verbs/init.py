"""``chant init``: a first project: chant.toml, an example Op and a resource."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANT = """\
# What this project is and where its runs are recorded.  chant --help lists what one can do.

[project]
name = "{name}"
environments = ["local"]
default_environment = "local"

[ledger]
branch = "chant/lifecycle"   # an orphan branch of this repository: your files never move
push = "never"               # "try" or "require" also need: remote = "origin"

# What should exist.  chant lifecycle diff --live compares it with what is there.
[[resource]]
name = "greeting"
reader = "file"
path = "build/greeting.txt"
op = "hello"                 # what brings it about
"""

HELLO = """\
# An Op: phases in order, and what cleans up when one of them fails.  chant run hello

name = "hello"
overview = "Write a greeting, check it, and take it back if that fails"

[params.who]
type = "string"
default = "world"
description = "Who is greeted"

[[phases]]
name = "Write"
  [[phases.steps]]
  id = "greet"
  fn = "render"
  [phases.steps.args]
  text = "Hello, ${who}!\\n"
  dest = "build/greeting.txt"
  values = { who = { param = "who" } }

[[phases]]
name = "Check"
  [[phases.steps]]
  id = "read"
  fn = "shell"
  args = { cmd = "cat build/greeting.txt" }
  outcome = { name = "greeting", from = "stdout" }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "rm -f build/greeting.txt" }
"""

PASSED_OVER = frozenset({".git", ".gitignore", ".gitattributes", "README.md", "LICENSE"})
"""What a new repository has; a folder with nothing else counts as empty."""


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Write the files; one that is there is never overwritten."""
    from ops.errors import OpsError
    from runtimes.chant.verbs.writing import path_to_write

    folder = path_to_write(around, invocation.param("FOLDER"))
    name = invocation.value("--name") or os.path.basename(os.path.realpath(folder))
    there = sorted(set(os.listdir(folder)) - PASSED_OVER) if os.path.isdir(folder) else []
    if there and not invocation.on("--force"):
        listed = ", ".join(there[:5]) + (", …" if len(there) > 5 else "")  # noqa: PLR2004
        msg = f"{folder} is not empty ({listed}); --force adds what is missing and keeps the rest"
        raise OpsError(msg)
    files = {"chant.toml": CHANT.format(name=_quoted(name)), "ops/hello.op.toml": HELLO}
    written, kept = _write(folder, files)
    document = {"folder": os.path.realpath(folder), "written": written, "kept": kept}
    lines = [f"wrote {path}" for path in written] + [f"kept {path}" for path in kept]
    first = "" if _in_checkout(folder) else "git init, "
    lines.append(f"next: {first}chant list, chant run hello, chant lifecycle diff --live")
    return Outcome(OK, document, "\n".join(lines))


def _in_checkout(folder: str) -> bool:
    here = os.path.realpath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        here, below = os.path.dirname(here), here
        if here == below:
            return False
    return True


def _quoted(name: str) -> str:
    """Return what stands for ``name`` between the quotes of a TOML text."""
    text = name.encode(errors="replace").decode()  # a folder's name need not be UTF-8
    return "".join(_escaped(each) for each in text)


def _escaped(letter: str) -> str:
    if letter in '\\"':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _write(folder: str, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    from ops.whole_file import whole_file

    written: list[str] = []
    kept: list[str] = []
    for name, text in files.items():
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            kept.append(name)
            continue
        with whole_file(path) as stream:
            stream.write(text.encode())
        written.append(name)
    return written, kept


INIT = Verb(
    path=("init",),
    summary="Begin a project: write chant.toml, an example Op and a resource",
    handler=answer,
    document='{"folder", "written", "kept"}',
    params=(Param("FOLDER", "where; the working directory when absent", required=False),),
    own_flags=(
        Flag("--name", "the project's name; the folder's when absent", "NAME"),
        Flag("--force", "also in a folder that is not empty; no file is overwritten"),
    ),
    exit_codes=(OK, USAGE, REFUSED),
)

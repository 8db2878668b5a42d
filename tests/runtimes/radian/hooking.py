"""Hooks for tests: scripts that note what they were given and answer as they are told."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NOTING = """\
#!{python}
import json, os, sys
given = json.load(sys.stdin)
with open({notes!r}, "a") as notes:
    about = {{"name": {name!r}, "cwd": os.getcwd(), "env": dict(os.environ)}}
    notes.write(json.dumps({{**about, **given}}) + "\\n")
"""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Hooks in a folder, their configuration and their notes."""

    folder: Path
    notes: Path

    def add(
        self, event: str, *then: str, name: str = "", required: bool = False, timeout: str = "30s"
    ) -> str:
        """Write a script that notes its invocation and goes on with ``then``; return its table."""
        name = name or event
        path = self.folder / f"{name}.py"
        head = NOTING.format(python=sys.executable, notes=str(self.notes), name=name)
        path.write_text("\n".join([head, *then, ""]))
        path.chmod(0o755)
        return (
            f'[[hooks]]\nevent = "{event}"\ncommand = ["./{path.name}"]\n'
            f'required = {str(required).lower()}\ntimeout = "{timeout}"\n'
        )

    def noted(self, event: str = "") -> list[dict[str, Any]]:
        """Return what the hooks were given, in the order of their runs."""
        if not self.notes.exists():
            return []
        notes = [json.loads(line) for line in self.notes.read_text().splitlines()]
        return [note for note in notes if event in {"", note["event"]}]


def answer(**keys: Any) -> str:
    """Return the line of a script that answers with an object."""
    return f"print({json.dumps(keys)!r})"

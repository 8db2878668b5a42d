"""A provider of each wire format at an address, and a task for the agent there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box

KEY = "sk-0123456789abcdef"
SESSION = "s1"
TASK = "mend the sum"
ADD = "def add(a, b):\n    return a {} b\n"
TEST = "from sums import add\n\nassert add(1, 2) == 3\nprint('all well')\n"


def configure(box: Box, kind: str, base_url: str, more: str = "") -> None:
    """Declare the provider ``far`` and store its key, as a person would."""
    box.configure(
        f'\n[providers.far]\nkind = "{kind}"\nbase_url = "{base_url}"\ndefault_model = "gpt-4o"\n'
        f'[providers.far.models.gpt-4o]\nprice_input = "2"\nprice_output = "10"\n{more}'
    )
    stored = box.run("login", "far", stdin=f"{KEY}\n")
    assert (stored.returncode, stored.stderr) == (0, "")


def exec_words(*more: str, session: str = SESSION, prompt: str = TASK) -> tuple[str, ...]:
    """Return the words that have the provider ``far`` do the task."""
    output = ("--output", "jsonl", "--session-id", session)
    return ("exec", "-p", prompt, "--provider", "far", *output, *more)


def broken_project(workspace: Path) -> None:
    """Write a sum that is wrong, and its test."""
    (workspace / "sums.py").write_text(ADD.format("-"))
    (workspace / "test_sums.py").write_text(TEST)


def everything_kept(box: Box, *said: str) -> str:
    """Return all that was said and written, but for the credential's own file."""
    files = [
        path.read_text(errors="replace")
        for path in [*box.home.rglob("*"), *box.workspace.rglob("*")]
        if path.is_file() and path.parent.name != "credentials"
    ]
    return "".join([*said, *files])

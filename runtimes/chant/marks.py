"""Marks and colors of a terminal, and their plain forms.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

_GREEN, _RED, _YELLOW, _BOLD, _DIM = "32", "31", "33", "1", "2"


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands before a line, and how words are set."""

    ok: str
    fail: str
    out: str
    waits: str
    started: str
    bar: str
    colors: bool

    def of(self, status: str) -> str:
        """Return the mark of a step's or a run's status."""
        match status:
            case "ok":
                return self._set(self.ok, _GREEN)
            case "fail" | "cancelled" | "interrupted":
                return self._set(self.fail, _RED)
            case "gated" | "waiting":
                return self._set(self.waits, _YELLOW)
            case _:
                return self.dim(self.out)

    def bold(self, text: str) -> str:
        """Set text in bold."""
        return self._set(text, _BOLD)

    def dim(self, text: str) -> str:
        """Set text back."""
        return self._set(text, _DIM)

    def _set(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.colors and text else text


def marks_for(encoding: str, *, colors: bool) -> Marks:
    """Return marks that ``encoding`` can carry."""
    fancy = Marks("✓", "✗", "–", "…", "▸", "│", colors)
    try:
        "✓✗–…▸│".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Marks("ok", "FAIL", "-", "..", ">", "|", colors)
    return fancy

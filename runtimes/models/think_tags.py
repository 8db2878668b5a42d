"""Reasoning that a local server leaves in the text: ``<think>...</think>`` at its very start."""

from __future__ import annotations

from typing import Literal, TypeAlias

OPEN, CLOSE = "<think>", "</think>"
_Place: TypeAlias = Literal["start", "inside", "after", "text"]


class ThinkTags:
    """Tells reasoning from text.  Elsewhere than at the start the tags are text like any other."""

    def __init__(self) -> None:
        """Have read nothing yet."""
        self._place: _Place = "start"
        self._held = ""

    @property
    def done(self) -> bool:
        """Whether all that follows is text: then there is no need to ask any more."""
        return self._place == "text"

    def feed(self, piece: str) -> tuple[str, str]:
        """Return what of the text so far has become (reasoning, text)."""
        if self._place == "text":
            return "", piece
        self._held += piece
        if self._place == "start":
            return self._start()
        return self._inside() if self._place == "inside" else ("", self._after())

    def finish(self) -> tuple[str, str]:
        """Return what is still held at the end of the answer."""
        held, self._held = self._held, ""
        return (held, "") if self._place == "inside" else ("", held)

    def _start(self) -> tuple[str, str]:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._place = "inside"
            self._held = begun[len(OPEN) :]
            return self._inside()
        if OPEN.startswith(begun):
            return "", ""
        self._place = "text"
        return self.finish()

    def _inside(self) -> tuple[str, str]:
        thought, closed, rest = self._held.partition(CLOSE)
        if closed:
            self._place, self._held = "after", rest
            return thought, self._after()
        # What may be the beginning of the closing tag waits for what comes.
        keep = next((n for n in range(len(CLOSE) - 1, 0, -1) if thought.endswith(CLOSE[:n])), 0)
        self._held = thought[len(thought) - keep :]
        return thought[: len(thought) - keep], ""

    def _after(self) -> str:
        """Pass over the blank lines between the tag and the text."""
        text, self._held = self._held.lstrip("\n"), ""
        if text:
            self._place = "text"
        return text

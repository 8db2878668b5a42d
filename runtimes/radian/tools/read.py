"""`read`: lines of a text file, numbered, bounded in number and length."""

from __future__ import annotations

import os
from dataclasses import field
from typing import IO, TYPE_CHECKING, Any

from protocol.values import slotted
from runtimes.radian.tools.base import Location, Prepared, ToolFailedError, ToolOutcome, ToolView
from runtimes.radian.tools.disk import MAX_FILE_BYTES, open_regular
from runtimes.radian.tools.image_size import describe_binary
from runtimes.radian.tools.places import Place
from runtimes.radian.tools.running import file_request, one_line, run_callable
from runtimes.radian.tools.text_edit import UTF16_MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import WorkContext
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

DEFAULT_LINES = 2000
MAX_LINE_BYTES = 4000
"""Shown of one line; minified files have lines of megabytes."""
MAX_SHOWN_BYTES = 64 * 1024
"""Of one result, about 16,000 tokens; the rest is read by another call."""
SNIFFED_BYTES = 8192


class Read:
    """Reads a file."""

    name = "read"
    kind: Kind = "read"
    read_only = True
    summary = (
        "Read a text file. Lines come numbered from 1 (number, tab, text). For a long file, "
        "name where to start and how many lines to read."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Absolute, or relative to the workspace",
            },
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "Number of lines"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Look where the file lies; it is opened only when it may be."""
        place = context.places.place(values["path"])
        title = one_line(f"Read {context.places.shown(place.path)}")
        view = ToolView(title, (Location(place.path, values.get("offset")),))
        return Prepared(self.name, values, view, file_request(self.name, "read", place, context))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the reading."""
        del call_id
        values, request = prepared.input, prepared.request
        first = values.get("offset", 1)
        last = first + values.get("limit", DEFAULT_LINES) - 1

        def act(work: WorkContext) -> ToolOutcome:
            context.places.recheck(Place(request.target, request.alias, request.zone))
            fd = open_regular(request.target, context.faults)
            with os.fdopen(fd, "rb") as stream:
                head = stream.read(SNIFFED_BYTES)
                size = os.fstat(fd).st_size
                if head.startswith(UTF16_MARKS) or b"\0" in head:
                    message = f"{request.alias} is {describe_binary(head)} of {size} bytes, no text"
                    raise ToolFailedError(message)
                stream.seek(0)
                reading = _Reading(first, last)
                digest = reading.run(stream, work, whole=size <= MAX_FILE_BYTES)
            if digest:
                context.seen.note_digest(request.target, digest)
            return ToolOutcome(reading.text())

        return run_callable(self.name, act)


@slotted
class _Reading:
    """Collects the wanted lines of one file, and a digest of all of it."""

    first: int
    last: int
    lines: list[str] = field(default_factory=list[str])
    shown_bytes: int = 0
    number: int = 0
    more: bool = False
    replaced: bool = False

    def run(self, stream: IO[bytes], work: WorkContext, *, whole: bool) -> str | None:
        """Read; return the digest of the file if ``whole`` of it was read."""
        import hashlib

        digest = hashlib.sha256()
        while piece := stream.readline(MAX_LINE_BYTES):
            self.number += 1
            if self.number % 4096 == 0 and work.cancel.is_set():
                message = "stopped"
                raise ToolFailedError(message)
            digest.update(piece)
            self._take(piece)
            while not piece.endswith(b"\n") and (piece := stream.readline(64 * 1024)):
                digest.update(piece)
            if self.more and not whole:
                return None
        return digest.hexdigest()

    def _take(self, piece: bytes) -> None:
        if self.number < self.first:
            return
        if self.number > self.last or self.shown_bytes > MAX_SHOWN_BYTES:
            self.more = True
            self.last = min(self.last, self.number - 1)
            return
        text = piece.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
        self.replaced = self.replaced or "\ufffd" in text
        cut = "" if len(piece) < MAX_LINE_BYTES or piece.endswith(b"\n") else " [line cut]"
        self.lines.append(f"{self.number}\t{text.removeprefix(chr(0xFEFF))}{cut}")
        self.shown_bytes += len(piece) + 8

    def text(self) -> str:
        """Return the numbered lines and what must be said about them."""
        if not self.number:
            return "[the file is empty]"
        if not self.lines:
            return f"[the file has {self.number} lines; there is none numbered {self.first}]"
        notes: list[str] = []
        if self.more:
            notes.append(f"[the file goes on: next offset {self.last + 1}]")
        if self.replaced:
            notes.append("[bytes that are not UTF-8 are shown as \ufffd]")
        return "\n".join([*self.lines, *notes])

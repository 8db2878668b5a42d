"""What a file that is no text is, from its first bytes: for people, and for the model."""

from __future__ import annotations

import struct

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "a UTF-16 text"),
    (b"\xfe\xff", "a UTF-16 text"),
)
_PNG_SIZE_END = 24


def describe_binary(head: bytes) -> str:
    """Name a kind of file by its first bytes; a PNG image with its size in pixels."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a WebP image"
    for start, name in _KINDS:
        if head.startswith(start):
            return name + _png_size(head) if name == "a PNG image" else name
    return "a binary file"


def _png_size(head: bytes) -> str:
    if len(head) < _PNG_SIZE_END:
        return ""
    width, height = struct.unpack(">II", head[16:_PNG_SIZE_END])
    return f" ({width}x{height})"

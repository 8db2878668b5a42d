"""Replacing text in a file's bytes: only what is named changes, never a line end beside it.

Arguments come with LF, files with what they have.  Pure: no I/O.
"""

from __future__ import annotations

import re
from itertools import takewhile

from protocol.values import frozen

MARK = "\ufeff"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_LINES_NAMED = 5


class EditFailedError(ValueError):
    """The edit does not fit the file; the text says why, for the model."""


@frozen
class Edit:
    """Replace ``old`` by ``new``; ``everywhere``: as often as it occurs, else it must be once."""

    old: str
    new: str
    everywhere: bool = False


def apply_edit(data: bytes, edit: Edit) -> bytes:
    """Return a file's bytes with one edit made.

    Raises:
        EditFailedError: ``old`` is not there, or more than once.

    """
    if data.startswith(UTF16_MARKS):
        message = "the file is UTF-16; change it by a command"
        raise EditFailedError(message)
    # The mark at a file's start is no text: it stays, whether the arguments have it or not.
    edit = Edit(edit.old.removeprefix(MARK), edit.new.removeprefix(MARK), edit.everywhere)
    if not edit.old:
        message = "old is empty: name the text to replace, or use write for a new file"
        raise EditFailedError(message)
    if edit.old == edit.new:
        message = "old and new are the same"
        raise EditFailedError(message)
    matches = _matches(data, edit)
    pieces: list[bytes] = []
    at = 0
    main = main_line_end(data)
    for match in matches:
        pieces += [data[at : match.start()], _replacement(edit, match, main)]
        at = match.end()
    return b"".join([*pieces, data[at:]])


def main_line_end(data: bytes) -> bytes:
    """Return the line end that most lines have, of as many the first; LF where there is none."""
    both = data.count(b"\r\n")
    alone = data.count(b"\n") - both
    if both == alone and both:
        return b"\r\n" if data[: data.index(b"\n")].endswith(b"\r") else b"\n"
    return b"\r\n" if both > alone else b"\n"


def like_before(before: bytes, content: str) -> bytes:
    """Return new content for a file with the line ends and the mark that it has.

    Only where the file had one kind of line ends, and the content does not bring the other.
    """
    data = content.encode("utf-8", "replace")
    one_kind = before.count(b"\r\n") == before.count(b"\n") > 0
    if one_kind and b"\r" not in data:
        data = data.replace(b"\n", b"\r\n")
    mark = MARK.encode()
    return mark + data if before.startswith(mark) and not data.startswith(mark) else data


def _matches(data: bytes, edit: Edit) -> list[re.Match[bytes]]:
    pattern = _pattern(edit.old)
    matches = list(pattern.finditer(data))
    if not matches:
        raise EditFailedError(_why_not(data, edit.old))
    if edit.everywhere:
        return matches
    starts = [matches[0].start()]
    while again := pattern.search(data, starts[-1] + 1):  # also one that overlaps
        starts.append(again.start())
        if len(starts) > MAX_LINES_NAMED:
            break
    if len(starts) > 1:
        lines = ", ".join(str(data.count(b"\n", 0, start) + 1) for start in starts)
        message = f"old occurs more than once (lines {lines}): name more of it, or set all"
        raise EditFailedError(message)
    return matches


def _pattern(old: str) -> re.Pattern[bytes]:
    """Match line ends of both kinds, unless ``old`` itself is particular about them."""
    data = old.encode("utf-8", "replace")
    if b"\r" in data:
        return re.compile(re.escape(data))
    return re.compile(rb"(\r?\n)".join(map(re.escape, data.split(b"\n"))))


def _replacement(edit: Edit, match: re.Match[bytes], main: bytes) -> bytes:
    if "\r" in edit.old:
        return edit.new.encode("utf-8", "replace")
    old = edit.old.split("\n")
    new = edit.new.replace("\r\n", "\n").split("\n")
    ends = _line_ends(old, new, match.groups(), main)
    lines = [line.encode("utf-8", "replace") for line in new]
    return b"".join(line + end for line, end in zip(lines, [*ends, b""], strict=True))


def _line_ends(
    old: list[str], new: list[str], there: tuple[bytes, ...], main: bytes
) -> list[bytes]:
    """Choose the end of each new line: lines that stay keep theirs, others get the main one."""
    wanted = len(new) - 1
    if wanted == len(there):
        return list(there)
    most = min(wanted, len(there))
    first = min(_common(old, new), most)
    last = min(_common(old[::-1], new[::-1]), most - first)
    middle = [main] * (wanted - first - last)
    return [*there[:first], *middle, *there[len(there) - last :]]


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _why_not(data: bytes, old: str) -> str:
    wanted = [line.split() for line in old.strip().splitlines()]
    there = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
    for at in range(len(there) - len(wanted) + 1):
        if wanted and there[at : at + len(wanted)] == wanted:
            return f"old is not in the file; line {at + 1} differs from it in white space only"
    return "old is not in the file: read it again, the text must be exactly as it stands there"

"""Sentences of a specification that lies beside the repository, each known by a fingerprint."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE_HEADS = ("Method What", "Field Meaning", "Method\t", "Prompt\t")
LONGEST_HEADING = 60
FLAG_HEADING = r"--[a-z-]+( <[a-z]+>)?"
COMMANDS = ("chant ", "radian ")


@dataclass(frozen=True)
class Sentence:
    """One requirement."""

    heading: str
    text: str

    @property
    def fingerprint(self) -> str:
        """What stands for it in an index: it changes with each word."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:6]


def sentences(text: str) -> Iterator[Sentence]:
    """Read a page; what is not a heading is one requirement a sentence."""
    heading = ""
    for line in filter(None, (each.strip().lstrip("•").strip() for each in text.splitlines())):
        if line.startswith(TABLE_HEADS):
            continue
        if not heading or _is_heading(line):
            heading = line.rstrip("#")
            continue
        for sentence in re.split(r"(?<=\.)\s+", line):
            yield Sentence(heading, " ".join(sentence.split()))


def _is_heading(line: str) -> bool:
    if re.fullmatch(FLAG_HEADING, line):
        return True
    plain = not line.startswith(COMMANDS) and not re.search(r"[.:,]$|\t|--|  ", line)
    return plain and len(line) < LONGEST_HEADING


def words_of(heading: str) -> str:
    """Return a heading as it stands in the name of a test."""
    return "_".join(re.findall(r"[a-z0-9]+", heading.rpartition(":")[2].lower()))

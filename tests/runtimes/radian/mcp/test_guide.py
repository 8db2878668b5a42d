"""What docs/mcp.md shows works, and its numbers are those of the code."""

from __future__ import annotations

import re
import tomllib

from runtimes.radian.mcp.handshake import START_LIMIT_S
from runtimes.radian.mcp.listing import (
    DIGEST_CHARS,
    MAX_DEPTH,
    MAX_LISTING_BYTES,
    MAX_NAME_CHARS,
    MAX_SCHEMA_BYTES,
    MAX_TOOLS,
)
from runtimes.radian.mcp.peer import MAX_LINE_BYTES
from runtimes.radian.mcp.server import FIRST_DELAY_S, MAX_RESTARTS, PATIENCE_S
from runtimes.radian.mcp.specs import TIMEOUT_S, ServerSpec, of_config, of_flags
from runtimes.radian.tools.full_output import MAX_RESULT_BYTES
from tests.shared import ROOT

GUIDE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
KIB = 1024


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_table_that_it_shows_is_a_server() -> None:
    tables = tomllib.loads(block("toml"))["mcp_servers"]

    assert of_config(tables, "/c.toml", "config.toml").specs == (
        ServerSpec("db", "db-mcp", ("--read-only",), (("DB_PASSWORD", "…"),), 60.0, "config.toml"),
    )


def test_the_flag_that_it_shows_is_a_server() -> None:
    found = re.search(r"--mcp-config '(.*?)'", block("sh"))
    assert found is not None

    (spec,) = of_flags([found[1]], "/").specs
    assert (spec.id, spec.command, spec.env) == ("db", "db-mcp", (("DB", "box"),))


def test_its_numbers_are_those_of_the_code() -> None:
    text = " ".join(GUIDE.split())

    for words in (
        f"{TIMEOUT_S:g}s when absent",
        f"at most {PATIENCE_S:g} seconds from its start",
        f"after {START_LIMIT_S:g} s it is given up",
        f"{MAX_RESTARTS} times in a row at most (after {FIRST_DELAY_S:g}, 1 and 2 seconds)",
        f"at most {MAX_NAME_CHARS} letters",
        f"over {MAX_SCHEMA_BYTES // KIB} KiB, or deeper than {MAX_DEPTH} levels",
        f"{MAX_TOOLS} tools and {MAX_LISTING_BYTES // KIB} KiB",
        f"more than {MAX_RESULT_BYTES // KIB} KiB",
        f"A line of a server may have {MAX_LINE_BYTES // KIB // KIB} MiB",
    ):
        assert words in text, words
    assert (DIGEST_CHARS, "six characters of a digest" in text) == (6, True)

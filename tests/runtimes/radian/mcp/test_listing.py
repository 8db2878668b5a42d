"""Tools as a server lists them become functions that every provider takes."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.mcp.listing import MAX_TOOLS, Listed, read_listing, slugs_for

TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
TAKEN_BY_PROVIDERS = re.compile(r"[A-Za-z0-9_-]{1,64}")


def entry(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": TEXT, **more}


def nested(depth: int) -> Any:
    return {"type": "object", "properties": {"a": nested(depth - 1)}} if depth else {}


def test_a_tool_is_taken_as_it_is() -> None:
    hints = {"readOnlyHint": True, "title": "Look"}
    listed = entry("query", description="Asks.", annotations=hints)

    listing = read_listing("db", "db", [listed])

    assert listing.warnings == ()
    assert listing.tools == (
        Listed("mcp__db__query", "query", "Look", "Asks.", TEXT, reads_only=True),
    )


@pytest.mark.parametrize("hint", [False, None, "true", 1])
def test_only_a_clear_hint_says_that_a_tool_only_reads(hint: Any) -> None:
    listing = read_listing("db", "db", [entry("query", annotations={"readOnlyHint": hint})])

    assert listing.tools[0].reads_only is False


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"name": "t", "inputSchema": {"type": "string"}}, "not for an object"),
        ({"name": "t", "inputSchema": "text"}, "no object"),
        ({"name": "t", "inputSchema": {"x": "y" * 70_000}}, "over 65536 bytes"),
        ({"name": "t", "inputSchema": nested(100)}, "deeper"),
        ({"name": 5, "inputSchema": TEXT}, "without a name"),
        ({"inputSchema": TEXT}, "without a name"),
        ("text", "without a name"),
        (None, "without a name"),
    ],
)
def test_one_bad_tool_is_left_out_and_named_and_the_others_stay(bad: Any, why: str) -> None:
    listing = read_listing("db", "db", [bad, entry("good")])

    assert [each.name for each in listing.tools] == ["good"]
    (warning,) = listing.warnings
    assert "'db'" in warning
    assert why in warning


def test_what_can_be_mended_is() -> None:
    lists = {"type": "object", "properties": {"a": {"type": "array"}}}

    listing = read_listing(
        "db",
        "db",
        [{"name": "a"}, {"name": "b", "inputSchema": lists}, {"name": "c", "inputSchema": {}}],
    )

    assert [each.schema for each in listing.tools] == [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        {"type": "object", "properties": {}},
    ]
    assert listing.warnings == (
        "MCP server 'db', tool 'a': it has no inputSchema; it gets an empty one",
        "MCP server 'db', tool 'b': its inputSchema has lists of unsaid kind; of any now",
    )


def test_a_flood_of_tools_is_cut_with_a_word() -> None:
    listing = read_listing("db", "db", [entry(f"t{at}") for at in range(1000)])

    assert len(listing.tools) == MAX_TOOLS
    assert "more than can be offered" in listing.warnings[-1]


def test_a_name_that_comes_twice_counts_once() -> None:
    listing = read_listing("db", "db", [entry("a", title="1"), entry("a", title="2")])

    assert [each.title for each in listing.tools] == ["1"]
    assert "twice" in listing.warnings[0]


def test_names_that_look_alike_once_cleaned_stay_apart() -> None:
    listing = read_listing("db", "db", [entry("a.b"), entry("a_b"), entry("a b"), entry("ä" * 90)])

    called = [each.called for each in listing.tools]
    assert called[0] == "mcp__db__a_b"
    assert len(set(called)) == 4


@given(st.lists(st.text(), unique=True, max_size=8), st.lists(st.text(min_size=1), max_size=8))
def test_names_suit_providers_and_belong_to_one_tool_of_one_server(
    ids: list[str], names: list[str]
) -> None:
    slugs = slugs_for(ids)

    listings = [read_listing(each, slugs[each], map(entry, names)) for each in ids]

    called = [tool.called for each in listings for tool in each.tools]
    assert len(set(called)) == len(called) == len(ids) * len(set(names))
    assert all(TAKEN_BY_PROVIDERS.fullmatch(each) for each in called)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    )
)
def test_whatever_a_server_lists_comes_out_as_json(value: Any) -> None:
    listing = read_listing("db", "db", [value, {"name": "x", "inputSchema": value}])

    assert all(orjson.dumps(each.schema) for each in listing.tools)

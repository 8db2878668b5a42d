"""The tools that a server lists, made fit for every provider.  Pure: foreign JSON in, values out.

One tool that can't be offered is left out and named; the others are not made to pay for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_TOOLS = 128
"""Of one server.  Some providers take no more in all, and no model chooses well among more."""
MAX_SCHEMA_BYTES = 64 * 1024
MAX_DEPTH = 64
MAX_LISTING_BYTES = 512 * 1024
"""Of all schemas and descriptions of a server: about 128,000 tokens in every call."""
MAX_DESCRIPTION_CHARS = 4096
MAX_NAME_CHARS = 64
"""What providers take as the name of a function."""
MAX_SLUG_CHARS = 24
DIGEST_CHARS = 6
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


@frozen
class Listed:
    """One tool as a server lists it; ``called`` is what the model calls it."""

    called: str
    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    reads_only: bool = False
    """The server says that it changes nothing (readOnlyHint)."""


@frozen
class Listing:
    """What became of a whole list."""

    tools: tuple[Listed, ...] = ()
    warnings: tuple[str, ...] = ()


def slugs_for(ids: Iterable[str]) -> dict[str, str]:
    """Return how each server's id stands in names of tools: short, and no two alike.

    A slug has no ``__`` and no ``_`` at its ends, so a tool's name belongs to one server only.
    """
    taken: dict[str, str] = {}
    for name in ids:
        plain = re.sub("_+", "_", _UNFIT.sub("_", name)).strip("_")
        slug = plain or "server"
        if len(slug) > MAX_SLUG_CHARS or slug in taken.values() or not plain:
            slug = _with_digest(slug, name, MAX_SLUG_CHARS, "-")
        taken[name] = slug
    return taken


def read_listing(server: str, slug: str, listed: Iterable[Any]) -> Listing:
    """Read the entries of ``tools/list``, all pages together."""
    tools: dict[str, Listed] = {}
    warnings: list[str] = []
    left_bytes = MAX_LISTING_BYTES
    for entry in listed:
        tool, warning = _read(server, slug, entry, tools)
        warnings += [warning] if warning else []
        if tool is None:
            continue
        left_bytes -= _size(tool.schema) + len(tool.description)
        if len(tools) >= MAX_TOOLS or left_bytes < 0:
            warnings.append(
                f"MCP server {server!r} lists more than can be offered; "
                f"tools from {tool.name!r} on are left out"
            )
            break
        tools[tool.called] = tool
    return Listing(tuple(tools.values()), tuple(warnings))


def _read(
    server: str, slug: str, entry: Any, taken: Mapping[str, Listed]
) -> tuple[Listed | None, str | None]:
    """Read one entry; the text says what was wrong with it."""
    names = {each.name for each in taken.values()}
    table = _table(entry)
    name = table.get("name")
    if not isinstance(name, str) or not name:
        return None, f"MCP server {server!r} lists a tool without a name; it is left out"
    if name in names:
        return None, f"MCP server {server!r} lists {name!r} twice; the first one counts"
    where = f"MCP server {server!r}, tool {name[:MAX_NAME_CHARS]!r}"
    schema, mended = _schema(table.get("inputSchema"))
    if schema is None:
        return None, f"{where}: {mended}; it is left out"
    hints = _table(table.get("annotations"))
    listed = Listed(
        called=_called(slug, name, taken),
        name=name,
        title=_text(table.get("title")) or _text(hints.get("title")) or name,
        description=_text(table.get("description"))[:MAX_DESCRIPTION_CHARS],
        schema=schema,
        reads_only=hints.get("readOnlyHint") is True,
    )
    return listed, f"{where}: {mended}" if mended else None


def _called(slug: str, name: str, taken: Iterable[str]) -> str:
    head = f"mcp__{slug}__"
    plain = head + _UNFIT.sub("_", name)
    if len(plain) <= MAX_NAME_CHARS and plain not in taken:
        return plain
    return _with_digest(plain, name, MAX_NAME_CHARS, "_")


def _with_digest(text: str, of: str, limit: int, mark: str) -> str:
    import hashlib

    digest = hashlib.sha256(of.encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]
    return f"{text[: limit - DIGEST_CHARS - 1]}{mark}{digest}"


def _schema(value: Any) -> tuple[dict[str, Any] | None, str]:
    """Return a schema that providers take, and what was mended; None if there is no mending."""
    if value is None:
        return {"type": "object", "properties": {}}, "it has no inputSchema; it gets an empty one"
    if not isinstance(value, dict):
        return None, "its inputSchema is no object"
    schema = cast("dict[str, Any]", value)
    if schema.get("type", "object") != "object":
        return None, f"its inputSchema is for {schema['type']!r}, not for an object"
    if not _fits(schema, MAX_DEPTH) or _size(schema) > MAX_SCHEMA_BYTES:
        return None, f"its inputSchema is deeper than {MAX_DEPTH}, or over {MAX_SCHEMA_BYTES} bytes"
    whole = {**schema, "type": "object"}
    if not isinstance(whole.get("properties"), dict):
        whole["properties"] = {}
    filled: dict[str, Any] = _with_items(whole)
    return filled, "" if filled == whole else "its inputSchema has lists of unsaid kind; of any now"


def _fits(value: Any, depth: int) -> bool:
    """Tell whether a value is nested at most ``depth`` times."""
    parts: Iterable[Any]
    match value:
        case dict():
            parts = cast("dict[str, Any]", value).values()
        case list():
            parts = cast("Iterable[Any]", value)
        case _:
            return True
    return depth > 0 and all(_fits(each, depth - 1) for each in parts)


def _with_items(schema: Any) -> Any:
    """Give lists that don't say of what an ``items``: providers refuse the whole request else."""
    if isinstance(schema, list):
        return [_with_items(each) for each in cast("Iterable[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    table = {key: _with_items(each) for key, each in cast("dict[str, Any]", schema).items()}
    if table.get("type") == "array" and "items" not in table and "prefixItems" not in table:
        table["items"] = {}
    return table


def _size(schema: Mapping[str, Any]) -> int:
    import orjson

    return len(orjson.dumps(schema))


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

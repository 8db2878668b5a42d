"""What a tool of a server answered, as text for the model.  Pure: foreign JSON in, a value out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BLOCKS = 1000
MAX_TEXT_CHARS = 4 * 1024 * 1024
"""Of one answer; the model gets far less, see `runtimes.radian.tools.full_output`."""


@frozen
class Said:
    """The answer; ``failed``: the tool itself says that it failed."""

    text: str
    failed: bool = False


def read_content(result: Any) -> Said:
    """Read the result of ``tools/call``; what can't be shown as text is named."""
    table = _table(result)
    blocks = table.get("content")
    parts = list(_parts(cast("Sequence[Any]", blocks) if isinstance(blocks, list) else ()))
    structured = table.get("structuredContent")
    if structured is not None and not any(part.strip() for part in parts):
        parts = [_indented(structured)]
    text = "\n".join(parts)
    if len(text) > MAX_TEXT_CHARS:
        text = f"{text[:MAX_TEXT_CHARS]}\n[the rest of {len(text)} characters is left out]"
    return Said(text or "[the answer is empty]", table.get("isError") is True)


def _indented(value: Any) -> str:
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:  # it is nested deeper than can be written
        from protocol.writable import writable

        return orjson.dumps(writable(value), option=orjson.OPT_INDENT_2).decode()


def _parts(blocks: Sequence[Any]) -> Iterator[str]:
    for block in blocks[:MAX_BLOCKS]:
        yield _part(_table(block))
    if len(blocks) > MAX_BLOCKS:
        yield f"[{len(blocks) - MAX_BLOCKS} more parts are left out]"


def _part(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return _text(block.get("text"))
        case "image" | "audio" as kind:
            return f"[{kind}: {_text(block.get('mimeType')) or 'of no type'}, {_size(block)}]"
        case "resource_link":
            words = (_text(block.get(key)) for key in ("name", "uri", "description"))
            return f"[resource: {' '.join(word for word in words if word)}]"
        case "resource":
            return _resource(_table(block.get("resource")))
        case kind:
            return f"[something of type {kind!r}, which can't be shown]"


def _resource(resource: dict[str, Any]) -> str:
    uri, text = _text(resource.get("uri")), resource.get("text")
    if isinstance(text, str):
        return f"[resource: {uri}]\n{text}"
    kind = _text(resource.get("mimeType")) or "of no type"
    return f"[resource: {uri}, {kind}, {_size({'data': resource.get('blob')})}]"


def _size(block: dict[str, Any]) -> str:
    """Tell the size of data in base64."""
    return f"{len(_text(block.get('data'))) * 3 // 4} bytes"


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

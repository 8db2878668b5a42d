"""Which MCP servers a session has: read from a client, flags and configurations, and merged.

Only servers that are started here (stdio) can run.  Reads no file but those of ``--mcp-config``.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from protocol.acp.sessions import StdioServer

Origin: TypeAlias = Literal["session/new", "--mcp-config", "config.toml", "the project's config"]

KEYS = ("command", "args", "env", "timeout", "disabled")
"""Of a table in TOML; the JSON of other agents may hold more, which is passed over."""
TIMEOUT_S = 300.0
"""What one call of a tool may take, unless the server's entry says otherwise."""
MAX_CONFIG_BYTES = 1024 * 1024
PIPE_SILENCE_MS = 5000


class ServersInvalid(ValueError):  # noqa: N818 - an answer to the person who wrote it
    """A server's entry can't be used; the text says where and why."""


@frozen
class ServerSpec:
    """One server to start: ``command`` has a slash or is looked for on PATH."""

    id: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: float = TIMEOUT_S
    origin: Origin = "session/new"


@frozen
class Servers:
    """What some place says: servers, and what people should know about it."""

    specs: tuple[ServerSpec, ...] = ()
    warnings: tuple[str, ...] = ()


def of_client(servers: Iterable[StdioServer]) -> Servers:
    """Take the servers of ``session/new``."""
    return Servers(tuple(ServerSpec(s.name, s.command, s.args, s.env) for s in servers))


def of_flags(values: Sequence[str], folder: str) -> Servers:
    """Read each ``--mcp-config``: a file, or JSON as it stands; ``folder`` is the current one.

    Raises:
        ServersInvalid: One of them can't be read.

    """
    found = [_of_flag(value, folder) for value in values]
    return Servers(
        tuple(spec for each in found for spec in each.specs),
        tuple(text for each in found for text in each.warnings),
    )


def of_config(tables: Any, path: str, origin: Origin) -> Servers:
    """Read ``[mcp_servers]`` of the TOML file at ``path``.

    Raises:
        ServersInvalid: An entry is wrong.

    """
    where = f"{path}: mcp_servers"
    return _read(_table(tables, where), where, os.path.dirname(path), origin, strict=True)


def merged(*places: Servers) -> Servers:
    """Join places, the strongest first: of servers with one id its entry counts.

    Within a place the last entry counts, so that a later flag wins.
    """
    chosen: dict[str, ServerSpec] = {}
    twice: dict[str, Origin] = {}
    for place in places:
        for spec in reversed(place.specs):
            if spec.id in chosen:
                twice[spec.id] = chosen[spec.id].origin
            else:
                chosen[spec.id] = spec
    order = [spec.id for place in places for spec in place.specs]
    told = tuple(
        f"MCP server {name!r} is configured more than once; the entry of {origin} is used"
        for name, origin in twice.items()
    )
    warnings = tuple(text for place in places for text in place.warnings)
    return Servers(tuple(chosen[name] for name in dict.fromkeys(order)), (*warnings, *told))


def _of_flag(value: str, folder: str) -> Servers:
    text, where, base = value, "--mcp-config", folder
    if not value.lstrip().startswith("{"):
        where = base = os.path.join(folder, value)
        text, base = _text_of(where), os.path.dirname(where)
    import orjson

    try:
        parsed: Any = orjson.loads(text)
    except ValueError as error:
        message = f"{where} is not JSON: {error}"
        raise ServersInvalid(message) from error
    table = _table(parsed, where)
    if "mcpServers" not in table:
        message = f'{where} must look like {{"mcpServers": {{"ID": {{"command": "..."}}}}}}'
        raise ServersInvalid(message)
    servers = _table(table["mcpServers"], f"{where}: mcpServers")
    return _read(servers, where, base, "--mcp-config", strict=False)


def _text_of(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _all_of(descriptor).decode("utf-8-sig")
        finally:
            os.close(descriptor)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"--mcp-config {path} can't be read: {reason}"
        raise ServersInvalid(message) from error


def _all_of(descriptor: int) -> bytes:
    """Read a file, or what a shell's ``<(...)`` sends; a pipe that nobody fills is given up."""
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    data = bytearray()
    while len(data) <= MAX_CONFIG_BYTES:
        if not poll.poll(PIPE_SILENCE_MS):
            raise OSError(errno.ETIMEDOUT, f"nothing came for {PIPE_SILENCE_MS // 1000} s")
        piece = os.read(descriptor, MAX_CONFIG_BYTES)
        if not piece:
            return bytes(data)
        data += piece
    raise OSError(errno.EFBIG, f"it is larger than {MAX_CONFIG_BYTES} bytes")


def _read(
    tables: Mapping[str, Any], where: str, folder: str, origin: Origin, *, strict: bool
) -> Servers:
    specs: list[ServerSpec] = []
    warnings: list[str] = []
    for name, value in tables.items():
        place = f"{where}: {name}"
        table = _table(value, place)
        kind = table.get("type") or ("http" if "url" in table else "stdio")
        if table.get("disabled") is True or table.get("enabled") is False:
            continue
        if kind != "stdio":
            warnings.append(f"MCP server {name!r} is of type {kind!r}; only stdio ones can run")
            continue
        if strict:
            _known(table, place)
        specs.append(_spec(name, table, place, folder, origin))
    return Servers(tuple(specs), tuple(warnings))


def _spec(
    name: str, table: Mapping[str, Any], where: str, folder: str, origin: Origin
) -> ServerSpec:
    command, args, env = table.get("command"), table.get("args", []), table.get("env", {})
    if not name or not isinstance(command, str) or not command:
        message = f"{where}: command must name a program"
        raise ServersInvalid(message)
    words: Sequence[Any] = cast("Sequence[Any]", args) if isinstance(args, list) else (None,)
    if not all(isinstance(word, str) for word in words):
        message = f"{where}: args must be a list of texts"
        raise ServersInvalid(message)
    pairs = _table(env, f"{where}: env")
    if not all(isinstance(each, str) for each in pairs.values()):
        message = f"{where}: env must hold texts only"
        raise ServersInvalid(message)
    if "/" in command:
        # Never relative to a workspace: it might bring a program of that name along.
        command = os.path.normpath(os.path.join(folder, command))
    timeout_s = _timeout_s(table.get("timeout"), where)
    return ServerSpec(name, command, tuple(words), tuple(pairs.items()), timeout_s, origin)


def _timeout_s(value: Any, where: str) -> float:
    """Read a time such as ``30s``; a bare number means milliseconds to some, seconds to others."""
    from ops.durations import parse_duration

    if value is None:
        return TIMEOUT_S
    try:
        seconds = parse_duration(value) if isinstance(value, str) else 0.0
    except ValueError as error:
        message = f"{where}: timeout: {error}"
        raise ServersInvalid(message) from error
    if seconds <= 0:
        message = f'{where}: timeout must be a time as "30s", not {value!r}'
        raise ServersInvalid(message)
    return seconds


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{where} must be a table"
        raise ServersInvalid(message)
    return cast("dict[str, Any]", value)


def _known(table: Mapping[str, Any], where: str) -> None:
    for key in table:
        if key not in {*KEYS, "type", "enabled"}:
            from difflib import get_close_matches

            near = get_close_matches(key, KEYS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(KEYS)}"
            message = f"{where} has an unknown key {key!r}; {hint}"
            raise ServersInvalid(message)

"""Reads `[providers.ID]` of a config file; every key is checked, and a wrong one is named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast, get_args

from actors.stand_ins import until_trouble
from runtimes.models.config import CallIds, Kind, ModelFacts, ProviderConfig, ReasoningBack
from runtimes.models.credentials import is_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

KEYS = (
    "kind",
    "base_url",
    "credential",
    "credential_env",
    "default_model",
    "headers",
    "stream_idle_timeout",
    "models",
    "script",
    "omit",
    "reasoning_back",
    "call_ids",
)
COUNTS = ("context_window", "max_output")
PRICES = ("price_input", "price_output", "price_cache_read", "price_cache_write")
MODEL_KEYS = (*COUNTS, *PRICES, "images")


class ConfigInvalid(ValueError):  # noqa: N818 - an answer to the person who wrote the file
    """A provider's table is wrong; the message says where."""


def provider_config(name: str, value: Any, folder: str) -> ProviderConfig:
    """Read the table of provider ``name``; ``folder`` holds the file, for paths in it.

    Raises:
        ConfigInvalid: See there.

    """
    where = f"provider {name}"
    if not is_name(name):
        message = f"{where}: an id has letters, digits and . _ - only"
        raise ConfigInvalid(message)
    table = _table(value, KEYS, where)
    kind: Kind = _one_of(table, "kind", get_args(Kind), where, None)
    script = _text(table, "script", where)
    reasoning_back: ReasoningBack = _one_of(
        table, "reasoning_back", get_args(ReasoningBack), where, "with-calls"
    )
    call_ids: CallIds = _one_of(table, "call_ids", get_args(CallIds), where, "as-sent")
    if kind == "scripted" and not script:
        message = f"{where}: kind scripted needs a script"
        raise ConfigInvalid(message)
    return ProviderConfig(
        id=name,
        kind=kind,
        base_url=_url(table, kind, where),
        credential=_credential(table, where),
        credential_env=_text(table, "credential_env", where),
        default_model=_text(table, "default_model", where),
        headers=_headers(table.get("headers", {}), where),
        stream_idle_timeout_s=_duration(table.get("stream_idle_timeout", "120s"), where),
        models={
            str(model): _facts(facts, f"{where}, model {model}")
            for model, facts in _table(table.get("models", {}), None, f"{where}, models").items()
        },
        script=os.path.join(folder, script) if script else "",
        omit=_omit(table.get("omit", []), where),
        reasoning_back=reasoning_back,
        call_ids=call_ids,
    )


def _table(value: Any, known: tuple[str, ...] | None, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{where} must be a table"
        raise ConfigInvalid(message)
    table = cast("dict[str, Any]", value)
    for key in table:
        if known is not None and key not in known:
            message = f"{where} has an unknown key {key!r}; {_nearest(key, known)}"
            raise ConfigInvalid(message)
    return table


def _nearest(key: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        message = f"{where}: {key} must be text, not {value!r}"
        raise ConfigInvalid(message)
    return value


def _one_of(
    table: Mapping[str, Any], key: str, allowed: tuple[Any, ...], where: str, default: Any
) -> Any:
    value = table.get(key, default)
    if value not in allowed:
        message = f"{where}: {key} must be one of {', '.join(allowed)}, not {value!r}"
        raise ConfigInvalid(message)
    return value


def _url(table: Mapping[str, Any], kind: Kind, where: str) -> str:
    url = _text(table, "base_url", where)
    if not url:
        if kind == "openai-compatible":
            message = f"{where}: kind {kind} needs a base_url, like http://127.0.0.1:8080/v1"
            raise ConfigInvalid(message)
        return ""
    with until_trouble():
        from urllib.parse import urlsplit

    plain = url.isascii() and url.isprintable() and " " not in url
    try:
        parts = urlsplit(url)
        place = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        more = parts.query or parts.fragment or parts.username
    except ValueError:
        plain, place, more = False, None, ""
    if not plain or not place or more:
        message = f"{where}: base_url must be like https://host/v1"
        raise ConfigInvalid(message)
    return url


def _credential(table: Mapping[str, Any], where: str) -> str:
    name = _text(table, "credential", where)
    if name and not is_name(name):
        # Not repeated: people put the key itself here.
        message = f"{where}: credential is the name of a stored key, not the key itself"
        raise ConfigInvalid(message)
    return name


def _headers(value: Any, where: str) -> dict[str, str]:
    headers = _table(value, None, f"{where}, headers")
    for name, text in headers.items():
        fine = isinstance(text, str) and (name + text).isascii() and (name + text).isprintable()
        if not fine or not name or any(mark in name for mark in ' :,;"'):
            message = f"{where}: header {name!r} must be one line of ASCII text"
            raise ConfigInvalid(message)
    return headers


def _duration(value: Any, where: str) -> float:
    from ops.durations import parse_duration

    try:
        return parse_duration(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        message = f"{where}: stream_idle_timeout: {error}"
        raise ConfigInvalid(message) from error


def _omit(value: Any, where: str) -> frozenset[str]:
    names = cast("Sequence[Any]", value) if isinstance(value, list) else (None,)
    if not all(isinstance(each, str) for each in names):
        message = f"{where}: omit must be a list of field names"
        raise ConfigInvalid(message)
    return frozenset(names)


def _facts(value: Any, where: str) -> ModelFacts:
    table = _table(value, MODEL_KEYS, where)
    images = table.get("images")
    if not isinstance(images, bool | None):
        message = f"{where}: images must be true or false"
        raise ConfigInvalid(message)
    window, output = (_count(table, key, where) for key in COUNTS)
    given, out, read, write = (_price(table, key, where) for key in PRICES)
    return ModelFacts(window, output, given, out, read, write, images)


def _count(table: Mapping[str, Any], key: str, where: str) -> int | None:
    value = table.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    message = f"{where}: {key} must be a count of tokens, not {value!r}"
    raise ConfigInvalid(message)


def _price(table: Mapping[str, Any], key: str, where: str) -> Decimal | None:
    """Read a price; numbers are taken as they were written, without the dust of binary floats."""
    from decimal import Decimal, InvalidOperation

    value = table.get(key)
    if value is None:
        return None
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        price = Decimal("NaN")
    if isinstance(value, bool) or not price.is_finite() or price < 0:
        message = f'{where}: {key} must be dollars per million tokens, like "0.10"'
        raise ConfigInvalid(message)
    return price

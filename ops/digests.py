"""Digests of values: the same content gives the same digest, whatever the order of keys."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any


def canonical_json(value: object) -> bytes:
    """Write ``value`` (JSON-like, dataclasses allowed) with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_as_json)
    return text.encode()


def digest(value: object) -> str:
    """Return ``sha256:<hex>`` of the canonical JSON of ``value``."""
    import hashlib  # 3 ms, and most verbs need no digest

    return f"sha256:{hashlib.sha256(canonical_json(value)).hexdigest()}"


def _as_json(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    msg = f"{type(value).__name__} has no JSON form"
    raise TypeError(msg)

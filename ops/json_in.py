"""JSON that others may have written.  Pure."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """Return the value of ``text``.

    Raises:
        ValueError: It is no JSON, no UTF-8, or nested too deeply for us, which `json` tells by a
            RecursionError that nobody expects.

    """
    try:
        return json.loads(text)
    except RecursionError as error:
        msg = "it is nested too deeply"
        raise ValueError(msg) from error

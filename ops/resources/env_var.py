"""The reader `env-var`: whether a variable is set.  Its value is never looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.resources.reader import ABSENT, Observation, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    return present(set=True) if look.environ.get(keys["variable"]) else ABSENT

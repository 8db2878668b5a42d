"""Whether JSON that others may have written has the shape of what we write.  Pure.

Whoever shows it then need not look at every member first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

Kinds: TypeAlias = "type | tuple[type, ...]"

NONE = type(None)
MAYBE_TEXT: Kinds = (str, NONE)
MAYBE_TABLE: Kinds = (dict, NONE)
MAYBE_LIST: Kinds = (list, NONE)
MAYBE_WHOLE: Kinds = (int, NONE)
MOST = 10**15
"""No number of ours is over that: more would be a page of digits, or a time without a date."""


def check_table(
    value: Any, needed: Mapping[str, Kinds], others: Mapping[str, Kinds] | None = None
) -> dict[str, Any]:
    """Return ``value``, which has all of ``needed``, and of ``others`` nothing of another kind.

    Raises:
        TypeError: It has not; names the member.

    """
    if not isinstance(value, dict):
        msg = "it is no object"
        raise TypeError(msg)
    table = cast("dict[str, Any]", value)
    for name, kinds in needed.items():
        if name not in table:
            msg = f"{name} is missing"
            raise TypeError(msg)
        _check(name, table[name], kinds)
    for name, kinds in (others or {}).items():
        if name in table:
            _check(name, table[name], kinds)
    return table


def check_tables(
    name: str, value: Any, needed: Mapping[str, Kinds], others: Mapping[str, Kinds] | None = None
) -> list[dict[str, Any]]:
    """Return ``value``, a list of such tables; None is an empty one.

    Raises:
        TypeError: It is none.

    """
    _check(name, value, MAYBE_LIST)
    return [check_table(each, needed, others) for each in value or ()]


def check_texts(name: str, value: Any) -> list[str]:
    """Return ``value``, a list of texts; None is an empty one.

    Raises:
        TypeError: It is none.

    """
    _check(name, value, MAYBE_LIST)
    for each in value or ():
        _check(name, each, str)
    return value or []


def _check(name: str, value: Any, kinds: Kinds) -> None:
    known = kinds if isinstance(kinds, tuple) else (kinds,)
    fits = type(value) in known
    if not fits or (isinstance(value, int) and abs(value) > MOST):
        msg = f"{name} has another type"
        raise TypeError(msg)

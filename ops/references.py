"""References inside a step's args: finding them, and putting values in their place.  Pure.

A reference is a whole table with exactly the keys ``param``, or ``from`` and perhaps ``path``,
all text.  Any other table is data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ops.errors import ActivityFailed
from ops.model import OutputRef, ParamRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Reference: TypeAlias = ParamRef | OutputRef


def as_reference(value: object) -> Reference | None:
    """Return the reference that ``value`` is, None for data."""
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, object]", value)
    if not all(isinstance(item, str) for item in table.values()):
        return None
    texts = cast("dict[str, str]", table)
    if table.keys() == {"param"}:
        return ParamRef(texts["param"])
    if table.keys() in ({"from"}, {"from", "path"}):
        return OutputRef(texts["from"], texts.get("path", ""))
    return None


def references(value: object) -> Iterator[Reference]:
    """Yield every reference inside ``value``, in written order."""
    if found := as_reference(value):
        yield found
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from references(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from references(item)


def resolve(value: Any, params: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """Return ``value`` with every reference replaced.

    Raises:
        ActivityFailed: What a reference names is not there.

    """
    match as_reference(value):
        case ParamRef(name):
            return _param(name, params)
        case OutputRef(step_id, path):
            return _output(step_id, path, outputs)
        case None:
            pass
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {key: resolve(item, params, outputs) for key, item in table.items()}
    if isinstance(value, list | tuple):
        return [resolve(item, params, outputs) for item in cast("list[Any]", value)]
    return value


def look_up(output: Any, path: str) -> Any:
    """Return the piece of ``output`` at a dotted ``path``; digits index a list.

    Raises:
        KeyError: There is nothing at that path.

    """
    for key in path.split(".") if path else ():
        if isinstance(output, dict):
            output = cast("dict[str, Any]", output)[key]
        elif isinstance(output, list | tuple) and key.isdecimal():
            items = cast("list[Any]", output)
            if int(key) >= len(items):
                raise KeyError(key)
            output = items[int(key)]
        else:
            raise KeyError(key)
    return output


def _param(name: str, params: Mapping[str, Any]) -> Any:
    if params.get(name) is None:
        msg = f"parameter {name!r} has no value"
        raise ActivityFailed(msg)
    return params[name]


def _output(step_id: str, path: str, outputs: Mapping[str, Any]) -> Any:
    if step_id not in outputs:
        msg = f"step {step_id!r} has no output: it did not end well before this step"
        raise ActivityFailed(msg)
    try:
        return look_up(outputs[step_id], path)
    except KeyError as error:
        msg = f"the output of step {step_id!r} has nothing at {path!r}"
        raise ActivityFailed(msg) from error

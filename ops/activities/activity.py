"""What an activity is: a name, the args it takes, and how its work is prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ops.durations import parse_duration
from ops.errors import ActivityFailed, unknown
from ops.params import param_text
from ops.references import as_reference
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.work import ActivityContext, Work

    Prepare: TypeAlias = Callable[[Mapping[str, Any], ActivityContext], Work]

ArgType: TypeAlias = Literal[
    "text", "whole", "number", "flag", "duration", "texts", "text_map", "command", "table", "any"
]

WANTED: Mapping[ArgType, str] = {
    "text": "text",
    "whole": "a whole number of at least 0",
    "number": "a number of at least 0",
    "flag": "true or false",
    "duration": "a duration like 10s",
    "texts": "a list of texts",
    "text_map": "a table of texts",
    "command": "text for a shell, or a list of texts",
    "table": "a table",
    "any": "anything",
}


@frozen
class Arg:
    """One arg: its type, whether it must be there, and what it is for."""

    name: str
    type: ArgType
    summary: str
    required: bool = False


@frozen
class Activity:
    """A thing that a step can do.  ``module`` holds ``prepare(args, context)``."""

    name: str
    summary: str
    args: tuple[Arg, ...]
    module: str
    output: str = ""
    """What its output holds beside ``stdout``."""
    one_of: tuple[str, ...] = ()
    """Args of which exactly one must be given."""
    call: str = ""
    """The project's ``module:function``, which gets the args; empty for ours."""
    open: bool = False
    """Takes further args, of any name."""

    def problems(self, args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield (arg, reason) for what is wrong with ``args``; references may be anything."""
        known = {arg.name: arg for arg in self.args}
        for name, value in args.items():
            if name not in known:
                if not self.open:
                    yield name, unknown(f"arg of {self.name}", name, known)
            elif not as_reference(value) and not _fits(known[name].type, value):
                yield name, f"{name} must be {WANTED[known[name].type]}, not {value!r}"
        for arg in self.args:
            if arg.required and arg.name not in args:
                yield "", f"{self.name} needs {arg.name}: {arg.summary}"
        if self.one_of and len(args.keys() & set(self.one_of)) != 1:
            yield "", f"{self.name} needs exactly one of {', '.join(self.one_of)}"

    def prepare(self, args: Mapping[str, Any], context: ActivityContext) -> Work:
        """Return the work for resolved ``args``.  Starts and touches nothing.

        Where text is wanted, a number or a boolean that a reference brought is written as text.

        Raises:
            ActivityFailed: The args don't fit, now that references have values.

        """
        import importlib

        known: dict[str, ArgType] = {arg.name: arg.type for arg in self.args}
        args = {name: _written(known.get(name), value) for name, value in args.items()}
        for _name, reason in self.problems(args):
            raise ActivityFailed(reason)
        prepare = cast("Prepare", importlib.import_module(self.module).prepare)
        return prepare({"call": self.call, "args": args} if self.call else args, context)


def _fits(kind: ArgType, value: Any) -> bool:
    match kind:
        case "text":
            return _is_text(value)
        case "flag":
            return isinstance(value, bool)
        case "whole":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        case "duration":
            return isinstance(value, str) and _is_duration(value)
        case "texts":
            return isinstance(value, list) and _are_texts(cast("list[object]", value))
        case "text_map":
            return isinstance(value, dict) and _are_variables(cast("dict[str, Any]", value))
        case "command":
            return _is_text(value) or _fits("texts", value)
        case "table":
            return isinstance(value, dict)
        case "any":
            return True


def _written(kind: ArgType | None, value: Any) -> Any:
    match kind:
        case "text":
            return _as_text(value)
        case "texts" | "command" if isinstance(value, list):
            return [_as_text(item) for item in cast("list[object]", value)]
        case "text_map" if isinstance(value, dict):
            table = cast("dict[str, object]", value)
            return {name: _as_text(item) for name, item in table.items()}
        case _:
            return value


def _as_text(value: object) -> object:
    return param_text(value) if isinstance(value, int | float) else value


def _is_text(value: object) -> bool:
    # No program can be given a NUL, and no file name has one.
    return isinstance(value, str) and "\0" not in value


def _are_texts(items: list[object]) -> bool:
    return bool(items) and all(as_reference(item) or _is_text(item) for item in items)


def _are_variables(table: dict[str, Any]) -> bool:
    names = all(name and not {"=", "\0"} & set(name) for name in table)
    return names and all(as_reference(item) or _is_text(item) for item in table.values())


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True

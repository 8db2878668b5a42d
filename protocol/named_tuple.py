"""`NamedTuple`: what `typing.NamedTuple` is, declared in a tenth of the time.

`typing` compiles each annotation and `collections` a constructor, used or not: 0.1 ms a class, for
which a client waits before its first answer.  Here the constructor is made with the second
object of a class (`protocol.constructors`).  Checkers are shown the original.  Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.constructors import checked, compiled, constructor, place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - checkers know it by this name
else:
    try:
        from _collections import _tuplegetter
    except ImportError:  # as `collections` does where there is no such thing

        def _tuplegetter(index: int, doc: str) -> property:
            return property(lambda self: self[index], doc=doc)


_new: Any = vars(tuple)["__new__"]
_ABSENT = object()
_TEMPLATES: dict[int, CodeType] = {}


def _template(size: int) -> CodeType:
    """Compile ``__new__`` for classes with ``size`` members."""
    known = _TEMPLATES.get(size)
    if known is not None:
        return known
    members = "".join(f"{place(at)}, " for at in range(size))
    template = compiled(f"lambda _cls, {members}: _new(_cls, ({members}))")
    return _TEMPLATES.setdefault(size, template)


class _Named(tuple[Any, ...]):
    """What all named tuples share."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: dict[str, Any] = {}  # noqa: RUF012 - as the original has it
    __made__ = False
    """An object of the class has been made."""

    def __new__(cls, /, *given: Any, **named: Any) -> Any:
        """Make the first object of a class; the second call makes what makes the next ones."""
        # One that is made of the class that has the members may have a ``__new__`` of its own.
        owner: Any = next(each for each in cls.__mro__ if "_fields" in vars(each))
        first = not owner.__made__
        owner.__made__ = True
        by_place = dict(zip(cls._fields, given, strict=False))
        values = {**cls._field_defaults, **by_place, **named}
        twice = len(by_place) < len(given) or by_place.keys() & named.keys()
        if first and not twice and values.keys() == set(cls._fields):
            return _new(cls, [values[name] for name in cls._fields])
        _set_constructor(owner)
        return owner.__new__(cls, *given, **named)

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = _new(cls, values)
        if len(made) != len(cls._fields):
            message = f"expected {len(cls._fields)} members, got {len(made)}"
            raise TypeError(message)
        return made

    def _replace(self, /, **named: Any) -> Any:
        values = self._asdict()
        if unknown := named.keys() - values.keys():
            message = f"no members: {', '.join(sorted(unknown))}"
            raise TypeError(message)
        return self._make((values | named).values())

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Copy and pickle by making it again."""
        return tuple(self)


def _set_constructor(cls: Any) -> None:
    """Set ``__new__`` as `collections` writes it: nothing that loops comes near."""
    given = [cls._field_defaults.get(name, _ABSENT) for name in cls._fields]
    template = _template(len(cls._fields))
    defaults = checked(cls, given, _ABSENT)
    qualname = f"{cls.__qualname__}.__new__"
    made = constructor(template, cls._fields, qualname, {"_new": _new}, defaults)
    cls.__new__ = staticmethod(made)


if not TYPE_CHECKING:
    _Named.__annotations__.clear()  # who asks for those of a class is told its members only

    class _Maker(type):
        """Turns the body of a class into a named tuple, which is a class like any other."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            """Make `NamedTuple` itself, or what is derived from it."""
            if not bases:
                return super().__new__(cls, name, bases, body)
            names = tuple(body.get("__annotations__", ()))
            body["_field_defaults"] = {each: body.pop(each) for each in names if each in body}
            body["_fields"] = body["__match_args__"] = names
            body["__slots__"] = ()
            for index, each in enumerate(names):
                body[each] = _tuplegetter(index, "")
            return type(name, (_Named,), body)

    class NamedTuple(metaclass=_Maker):
        """The base to write; see `typing.NamedTuple`."""

"""`frozen` and `slotted`: what dataclasses with slots are, declared in a thirtieth of the time.

`dataclass` writes six methods for each class and compiles them at import, used or not: 0.27 ms a
class, while a client waits for its first answer.  Here a class shares all of them with the others
but ``__init__``, which is made with its second object (`protocol.constructors`): many a class has
but one, and a loop fills that sooner.  Pure.
"""

from __future__ import annotations

from copy import copy
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, dataclass_transform

from protocol.constructors import checked, compiled, constructor, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class of values, as ``dataclass(frozen=True, slots=True)`` would; checkers agree.

    `dataclasses.replace` and `dataclasses.fields` work on it.  Of ``field`` only ``default`` and
    ``default_factory`` count.  ``super()`` and class variables are not for values, nor are
    annotations that are no text (``from __future__ import annotations``).

    Raises:
        TypeError: The class has a base or ``__post_init__``.

    """
    return _made(cls, _Frozen)


@dataclass_transform(field_specifiers=(field,))
def slotted(cls: type[T]) -> type[T]:
    """Make a class whose objects change, as ``dataclass(slots=True)`` would; else as `frozen`."""
    return _made(cls, _Slotted)


def _made(cls: type[T], base: type[_Slotted]) -> type[T]:
    if cls.__bases__ != (object,) or "__post_init__" in vars(cls):
        message = f"{cls.__qualname__} has a base or __post_init__: make it a dataclass"
        raise TypeError(message)
    names = tuple(vars(cls).get("__annotations__", ()))
    namespace = {name: member for name, member in vars(cls).items() if name not in _LEFT_OUT}
    namespace["__value_defaults__"] = {name: namespace.pop(name, MISSING) for name in names}
    namespace["__annotations__"] = vars(cls).get("__annotations__", {})
    namespace["__slots__"] = namespace["__match_args__"] = names
    namespace["__qualname__"] = cls.__qualname__
    made: type[Any] = type(cls.__name__, (base,), namespace)
    return made


_ABSENT = object()
"""Stands for a default that is made anew for each object."""
_TEMPLATES: dict[tuple[str, bool], CodeType] = {}
_DOCUMENTED = {"__doc__": "A class without one would have `dataclass` import `inspect`."}
_LEFT_OUT = frozenset({"__dict__", "__weakref__"})
"""What a class without slots has, and one with slots may not be given."""


class _Fields:
    """``__dataclass_fields__``: made for the few classes that somebody asks for it."""

    def __init__(self) -> None:
        self._known: dict[type, dict[str, Field[Any]]] = {}
        self._model: Field[Any] | None = None

    def __get__(self, _: _Slotted | None, owner: type[_Slotted]) -> dict[str, Field[Any]]:
        """Return the fields of a class by name."""
        if owner not in self._known:
            self._known[owner] = dict(self._fields(owner))
        return self._known[owner]

    def _fields(self, owner: type[_Slotted]) -> Iterator[tuple[str, Field[Any]]]:
        for name, found in _defaults_of(owner):
            # Only `dataclass` itself can make fields that `replace` and `fields` take for real.
            made = copy(self._sample())
            made.name, made.type = name, owner.__annotations__[name]
            made.default, made.default_factory = found.default, found.default_factory
            yield name, made

    def _sample(self) -> Field[Any]:
        if self._model is None:
            (self._model,) = fields(make_dataclass("_Sample", ["sample"], namespace=_DOCUMENTED))
        return self._model


class _Slotted:  # noqa: PLW1641 - what changes has no hash
    """What may change, and is no key of anything."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    __dataclass_fields__ = _Fields()
    __value_defaults__: ClassVar[dict[str, Any]] = {}
    __value_made__: ClassVar[bool] = False
    """An object of the class has been made."""

    def __init__(self, /, *given: Any, **named: Any) -> None:
        """Make the first object of a class; the second call makes what makes the next ones."""
        cls: Any = next(each for each in type(self).__mro__ if "__value_defaults__" in vars(each))
        if cls.__value_made__ or not _fill(self, given, named):
            cls.__init__ = _initializer(cls)
            cls.__init__(self, *given, **named)
        cls.__value_made__ = True

    def __eq__(self, other: object) -> bool:
        """Compare with another one of the same class, member by member."""
        if type(other) is not type(self):
            return NotImplemented
        return _members(self) == _members(other)

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({', '.join(shown)})"


class _Frozen(_Slotted):
    """What never changes."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(_members(self))

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")  # noqa: EM102, TRY003

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")  # noqa: EM102, TRY003

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by making it again: nothing can be assigned."""
        return type(self), _members(self)


def _members(one: Any) -> tuple[Any, ...]:
    return tuple([getattr(one, name) for name in one.__match_args__])


def _fill(one: _Slotted, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set all members as ``__init__`` would; False, and nothing set: the call is wrong."""
    values = dict(zip(one.__match_args__, given, strict=False))
    if len(values) < len(given) or not values.keys().isdisjoint(named):
        return False
    values.update(named)
    for name, found in _defaults_of(type(one)):
        if name not in values:
            default, factory = found.default, found.default_factory
            if default is MISSING and factory is MISSING:
                return False
            values[name] = default if factory is MISSING else factory()
    if len(values) > len(one.__match_args__):
        return False
    for name, value in values.items():
        object.__setattr__(one, name, value)
    return True


def _initializer(cls: type[_Slotted]) -> Any:
    """Make ``__init__`` of a class as `dataclass` would write it, which no loop comes near."""
    members = [found for _, found in _defaults_of(cls)]
    made_anew = "".join("-+"[each.default_factory is not MISSING] for each in members)
    changeless = issubclass(cls, _Frozen)
    scope: dict[str, Any] = {"_absent": _ABSENT}
    defaults: list[Any] = []
    for at, each in enumerate(members):
        if changeless:  # a slot's own way in: `object.__setattr__` would look for it, twice as long
            scope[f"_set{place(at)}"] = vars(cls)[cls.__match_args__[at]].__set__
        if each.default_factory is not MISSING:
            scope[f"_make{place(at)}"] = each.default_factory
            defaults.append(_ABSENT)
        else:
            defaults.append(each.default)
    template = _template(made_anew, frozen=changeless)
    given = checked(cls, defaults, MISSING)
    return constructor(template, cls.__match_args__, f"{cls.__qualname__}.__init__", scope, given)


def _template(made_anew: str, *, frozen: bool) -> CodeType:
    """Compile ``__init__`` for all classes with such members, ``+`` where one is made anew."""
    known = _TEMPLATES.get((made_anew, frozen))
    if known is not None:
        return known
    setting = "_set{name}(_self, {given})" if frozen else "_self.{name} = {given}"
    parameters, body = ["_self", "/"], ["pass"]
    for at, kind in enumerate(made_anew):
        name = place(at)
        given = f"_make{name}() if {name} is _absent else {name}" if kind == "+" else name
        parameters.append(name)
        body.append(setting.format(name=name, given=given))
    lines = "\n ".join(body)
    template = compiled(f"def __init__({', '.join(parameters)}):\n {lines}")
    return _TEMPLATES.setdefault((made_anew, frozen), template)


def _defaults_of(cls: type[_Slotted]) -> Iterator[tuple[str, Field[Any]]]:
    """Yield each member with a field that has its default; `dataclasses` knows no more of it."""
    for name, default in cls.__value_defaults__.items():
        yield name, default if isinstance(default, Field) else field(default=default)

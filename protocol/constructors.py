"""Constructors of many classes from the code of one: names are put in, nothing is compiled again.

Compiling takes 0.1 ms or more for each class, while somebody waits for an answer; a copy of code
that was compiled for another class with as many members takes a tenth of that.  Pure.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def place(at: int) -> str:
    """Return what stands in a template for the name of the member number ``at``, from 0."""
    return f"_{at}"


def compiled(source: str) -> CodeType:
    """Compile the ``def`` or ``lambda`` in ``source`` to a template; see `constructor`."""
    (code,) = (
        each
        for each in compile(source, f"<{__name__}>", "exec").co_consts
        if isinstance(each, CodeType)
    )
    return code


def constructor(
    template: CodeType,
    names: Sequence[str],
    qualname: str,
    scope: dict[str, Any],
    defaults: Sequence[Any],
) -> Callable[..., Any]:
    """Return ``template`` with the members of a class in the places for them.

    ``qualname`` is the constructor's; ``scope`` holds what the code calls; ``defaults`` are those
    of the last members.
    """
    members = {place(at): name for at, name in enumerate(names)}

    def put_in(found: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([members.get(each, each) for each in found])

    method = qualname.rpartition(".")[2]
    code = template.replace(
        co_varnames=put_in(template.co_varnames),
        co_names=put_in(template.co_names),
        co_consts=put_in(template.co_consts),
        co_name=method,
        co_qualname=qualname,
    )
    return FunctionType(code, scope, method, tuple(defaults))


def checked(cls: type, defaults: Sequence[Any], absent: object) -> list[Any]:
    """Return the defaults of a class, one for each of its last members.

    Raises:
        TypeError: A member without one (``absent``) comes after a member that has one.

    """
    given = [default for default in defaults if default is not absent]
    if any(default is absent for default in defaults[len(defaults) - len(given) :]):
        message = f"{cls.__qualname__}: a member without a default comes after one that has one"
        raise TypeError(message)
    return given

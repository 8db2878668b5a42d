"""Finds where code waits, writes or starts something, and whether a fault can be put there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = frozenset(
    {"wait", "poll", "recv", "recvmsg", "send", "sendall", "sendmsg", "accept", "communicate"}
    | {"flock", "lockf", "spawn", "join", "fsync", "get"}
)
"""Methods that wait, write or start something, whosever they are."""

FUNCTIONS = frozenset(
    f"os.{name}"
    for name in (
        "write", "read", "readv", "writev", "fsync", "fdatasync", "replace", "rename", "fork",
        "posix_spawn", "execve", "wait", "wait3", "waitid", "waitpid", "kill", "killpg",
    )
) | {"subprocess.run", "subprocess.Popen", "subprocess.check_output", "select.select"}  # fmt: skip
"""The same as functions of modules."""

BY_PLATFORM = "the platform's own point"


class Place(NamedTuple):
    """A call in a function; ``covered`` names how a fault gets there, None: not at all."""

    function: str
    line: int
    call: str
    covered: str | None


def places(source: str) -> Iterator[Place]:
    """Yield every call of one module that waits, writes or starts something."""
    tree = ast.parse(source)
    conditions = _conditions(tree)
    for function, name in _functions(tree, ""):
        consults = any(_is_consulting(node) for node in ast.walk(function))
        for node in _own_nodes(function):
            call = _call(node)
            if call is None:
                continue
            covered = "a point in the function" if consults else None
            if _by_platform(call, conditions):
                covered = BY_PLATFORM
            yield Place(name, node.lineno, ast.unparse(call.func), covered)


def _functions(
    tree: ast.AST, prefix: str
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, f"{prefix}{node.name}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def _own_nodes(function: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls of a function, without those of functions inside it."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from _own_nodes(node)


def _call(node: ast.Call) -> ast.Call | None:
    if not isinstance(node.func, ast.Attribute):
        return None
    if ast.unparse(node.func) in FUNCTIONS:
        return node
    name = node.func.attr
    if name not in METHODS or isinstance(node.func.value, ast.Constant):
        return None
    if name == "get" and not _is_queue_get(node):
        return None
    return None if name == "join" and _is_path_or_text(node.func.value) else node


def _is_queue_get(node: ast.Call) -> bool:
    """Tell ``queue.get()`` and ``queue.get(timeout=…)`` from ``dict.get(key)``."""
    return not node.args


def _is_path_or_text(value: ast.expr) -> bool:
    text = ast.unparse(value)
    return text in {"os.path", "path", "shlex"} or text.isupper()


def _is_consulting(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="at", value=faults)):
            return ast.unparse(faults).endswith("faults")
        case ast.Call(func=ast.Name(id="at")):
            return True
        case _:
            return False


def _conditions(tree: ast.AST) -> set[str]:
    """Return what a module makes by ``platform.condition()``."""
    return {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith("platform.condition")
    }


def _by_platform(call: ast.Call, conditions: set[str]) -> bool:
    assert isinstance(call.func, ast.Attribute)
    receiver = ast.unparse(call.func.value)
    if call.func.attr == "spawn":
        return receiver.endswith("platform")
    return call.func.attr == "wait" and receiver in conditions

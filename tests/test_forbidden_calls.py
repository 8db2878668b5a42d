"""Actors tell, and wait only where a cancel can reach them: some calls may not occur at all."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def forbidden_calls(source: str) -> Iterator[str]:
    """Find ``.ask(…)``, ``.proxy(…)``, ``time.sleep``, ``sleep`` from time, and ``print``."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="ask" | "proxy" as name)):
                yield f"line {node.lineno}: .{name}("
            case ast.Call(func=ast.Name(id="print")):
                yield f"line {node.lineno}: print("
            case ast.Attribute(value=ast.Name(id="time"), attr="sleep"):
                yield f"line {node.lineno}: time.sleep"
            case ast.ImportFrom(module="time") if "sleep" in {alias.name for alias in node.names}:
                yield f"line {node.lineno}: sleep from time"
            case _:
                pass


def _modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", _modules("actors"), ids=lambda path: path.stem)
def test_actors_never_ask_sleep_or_print(path: Path) -> None:
    assert list(forbidden_calls(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("ref.ask(m, timeout=1)", "line 1: .ask("),
        ("self.child.proxy().run()", "line 1: .proxy("),
        ("import time\ntime.sleep(1)", "line 2: time.sleep"),
        ("wait = time.sleep", "line 1: time.sleep"),
        ("from time import sleep", "line 1: sleep from time"),
        ("print('x')", "line 1: print("),
    ],
)
def test_the_search_finds_each_of_them(source: str, found: str) -> None:
    assert list(forbidden_calls(source)) == [found]


def test_the_search_leaves_text_and_other_names_alone() -> None:
    source = '"""Never .ask( or print( or time.sleep."""\nself.ask_client(q)\nmachine.ask = 1\n'

    assert list(forbidden_calls(source)) == []

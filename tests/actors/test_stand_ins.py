"""What stands in for a module lets a library start sooner, and nobody notices afterwards."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys

import pytest

from actors.stand_ins import Later, standing_in
from tests.shared import ROOT

IMPORTED = (
    "from actors.stand_ins import import_libraries, until_trouble, without_signatures\n"
    "import_libraries()"
)
SPARED = ("ast", "dis", "inspect", "linecache", "logging", "platform", "string", "textwrap",
          "tokenize", "traceback")  # fmt: skip


def said(code: str) -> str:
    """Run code in a fresh interpreter in which the libraries were imported."""
    begin = "import sys; BEFORE = set(sys.modules)"  # some of it is there, from Python 3.13 on
    words = [sys.executable, "-c", f"{begin}\n{IMPORTED}\n{code}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False, timeout=60, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_libraries_are_imported_without_what_they_need_in_trouble() -> None:
    loaded = set(said("print(*sys.modules.keys() - BEFORE)").split())

    assert {"orjson", "pykka", "dataclasses", "uuid"} <= loaded
    assert loaded.isdisjoint(SPARED)


def test_who_imports_them_later_gets_the_real_ones() -> None:
    code = (
        "import inspect, traceback, platform, dataclasses, logging\n"
        "print(inspect.isfunction(print), platform.python_version_tuple()[0], platform.system())\n"
        "print(dataclasses.inspect.signature is inspect.signature)\n"
        "print(logging.traceback.format_exc is traceback.format_exc)"
    )

    assert said(code).split() == ["False", "3", os.uname().sysname, "True", "True"]


def test_an_error_is_logged_with_its_traceback() -> None:
    code = "import logging\ntry: 1/0\nexcept ZeroDivisionError: logging.exception('told')"

    text = said(code)
    assert "told\nTraceback (most recent call last):" in text
    assert "ZeroDivisionError: division by zero" in text


LOGGED = """
import pykka, pykka._actor, pykka._registry
actor, registry = pykka._actor.logger, pykka._registry.logger
actor.debug("lost %s", 1)
actor.info("lost")
print(actor.name, actor.isEnabledFor(10), "logging" in sys.modules)
"""


def test_what_a_library_logs_is_lost_while_nobody_has_said_where_it_goes() -> None:
    code = "actor.warning('nobody asked')\nregistry.error('nor here')\nprint(*sys.modules)"

    name, wanted, imported, *loaded = said(LOGGED + code).split()
    assert (name, wanted, imported) == ("pykka", "False", "False")
    assert "logging" in loaded
    assert not {"nobody", "nor"} & set(loaded)


def test_what_a_library_logs_is_told_by_those_who_ask_for_it() -> None:
    code = (
        "import logging\n"
        "form = '%(levelname)s %(name)s %(funcName)s %(message)s|'\n"
        "logging.basicConfig(level='DEBUG', format=form)\n"
        "def here(): actor.debug('low %s', 1); registry.warning('high')\n"
        "here()\n"
        "print(len(logging.getLogger('pykka').handlers), actor.isEnabledFor(10))"
    )

    told = said(LOGGED + code)
    assert "DEBUG pykka here low 1|\nWARNING pykka here high|" in told
    assert told.split()[2:5] == ["False", "1", "True"]


def test_a_handler_that_a_library_brings_is_there_at_once() -> None:
    code = (
        "with until_trouble(): import logging as theirs\n"
        "theirs.getLogger('some').addHandler(theirs.StreamHandler())\n"
        "theirs.getLogger('some').warning('told')\n"
        "import logging\n"
        "print(len(logging.getLogger('some').handlers), theirs.getLogger() is theirs, end='')"
    )

    assert said(code) == "1 Falsetold\n"


def test_messages_of_pykka_are_named_tuples_as_ever() -> None:
    code = (
        "import pykka, typing\n"
        "from pykka.messages import ProxyCall, ProxySetAttr, _ActorStop\n"
        "call = ProxyCall(attr_path=('a',), args=(), kwargs={})\n"
        "print(call, ProxySetAttr(('b',), 2).value, _ActorStop() == (), call._fields)\n"
        "class Mine(typing.NamedTuple): x: int\n"
        "print(Mine.__orig_bases__ == (typing.NamedTuple,), type(typing).__name__)\n"
        "class Told(pykka.ThreadingActor):\n"
        "    word = 'hello'\n"
        "    def shout(self): return self.word.upper()\n"
        "actor = Told.start()\n"
        "mine = actor.proxy()\n"
        "print(mine.shout().get(timeout=5), mine.word.get(timeout=5), actor.stop(timeout=5))"
    )

    assert said(code).splitlines() == [
        "ProxyCall(attr_path=('a',), args=(), kwargs={}) 2 True ('attr_path', 'args', 'kwargs')",
        "True module",
        "HELLO hello True",
    ]


def test_a_package_that_finds_its_files_is_imported_without_what_finds_them() -> None:
    code = (
        "with until_trouble(): import tree_sitter_bash\n"
        "print(*{'importlib.resources', 'pathlib', 'tempfile'} & sys.modules.keys() - BEFORE)\n"
        "print(tree_sitter_bash.HIGHLIGHTS_QUERY.lstrip()[:1], end='')\n"
        "from importlib.resources import files\n"
        "print(type(sys.modules['importlib.resources']).__name__, files.__module__[:19])"
    )

    assert said(code).splitlines() == ["", "[module importlib.resources"]


@pytest.mark.parametrize("text", ["", "one", "  one\ttwo  ", "one\n\n    two\n      three\n"])
def test_texts_are_cleaned_as_ever(text: str) -> None:
    code = (
        "with until_trouble(): import inspect as theirs\n"
        f"cleaned = theirs.cleandoc({text!r})\n"
        "loaded = 'inspect' in sys.modules\n"
        "import inspect\n"
        f"print(cleaned == inspect.cleandoc({text!r}), loaded)"
    )

    assert said(code).split() == ["True", str("\n" in text)]


def test_members_of_a_class_are_told_as_ever() -> None:
    code = (
        "with until_trouble(): import inspect as theirs\n"
        "class Some: x: int; y: 'str' = ''\n"
        "class More(Some): pass\n"
        "def some(x: int): pass\n"
        "told = [theirs.get_annotations(each) for each in (Some, More)]\n"
        "loaded = 'inspect' in sys.modules\n"
        "told += [theirs.get_annotations(some), theirs.get_annotations(Some, eval_str=True)]\n"
        "print(told, loaded)"
    )

    told = [{"x": int, "y": "str"}, {}, {"x": int}, {"x": int, "y": str}]
    assert said(code).strip() == f"{told} {sys.version_info >= (3, 14)}"


def test_a_class_without_a_docstring_shows_its_signature_but_not_inside() -> None:
    code = (
        "from dataclasses import make_dataclass\n"
        "with without_signatures(): inside = make_dataclass('Inside', ['x'])\n"
        "loaded = 'inspect' in sys.modules\n"
        "print(repr(inside.__doc__), loaded, repr(make_dataclass('After', ['x']).__doc__))"
    )

    assert said(code).strip() == "'Inside' False \"After(x: 'typing.Any')\""


def test_uuids_are_made_as_ever() -> None:
    assert len(said("import uuid; print(uuid.uuid4(), end='')")) == 36


def test_a_module_that_is_there_is_not_replaced() -> None:
    before = sys.modules["subprocess"]
    with standing_in({"subprocess": Later("subprocess")}):
        assert sys.modules["subprocess"] is before
    assert sys.modules["subprocess"] is before


def test_a_module_that_is_there_is_replaced_where_that_is_asked_for() -> None:
    instead = Later("subprocess")
    with standing_in({"subprocess": instead}, always={"subprocess"}):
        assert _imported("subprocess") is instead
    assert _imported("subprocess") is sys.modules["subprocess"]


def test_what_stood_in_goes_even_after_an_error() -> None:
    def fail() -> None:
        with standing_in({"no_such_module": Later("no_such_module")}):
            assert isinstance(_imported("no_such_module"), Later)
            raise RuntimeError

    before = builtins.__import__
    with pytest.raises(RuntimeError):
        fail()
    assert builtins.__import__ is before
    with pytest.raises(ModuleNotFoundError):
        _imported("no_such_module")


def test_what_there_is_not_says_so_as_ever() -> None:
    with (
        standing_in({"shelve": None}),
        pytest.raises(ModuleNotFoundError, match=r"^No module named 'shelve'$") as caught,
    ):
        _imported("shelve")
    assert caught.value.name == "shelve"


def test_another_thread_finds_the_real_one_at_the_same_time() -> None:
    code = (
        "import threading\n"
        "from actors.stand_ins import Later, standing_in\n"
        "def look():\n"
        "    import shelve, importlib.metadata\n"
        "    from importlib.metadata import entry_points\n"
        "    __import__('shelve', globals={}, locals={}, fromlist=['Shelf'])\n"
        "    print(type(shelve).__name__, type(importlib.metadata).__name__)\n"
        "names = ('shelve', 'importlib.metadata')\n"
        "with standing_in({name: Later(name) for name in names}):\n"
        "    before = [type(each).__name__ for each in (__import__(names[0]),)]\n"
        "    (one := threading.Thread(target=look)).start()\n"
        "    one.join()\n"
        "print(*before)"
    )

    assert said(code).split() == ["module", "module", "Later"]


def test_one_who_came_before_us_meanwhile_stays_and_is_not_misled() -> None:
    code = (
        "import builtins\n"
        "from actors.stand_ins import Later, standing_in\n"
        "with standing_in({'shelve': Later('shelve')}):\n"
        "    ours = builtins.__import__\n"
        "    def theirs(*words): return ours(*words)\n"
        "    builtins.__import__ = theirs\n"
        "import shelve\n"
        "print(builtins.__import__ is theirs, type(shelve).__name__)"
    )

    assert said(code).split() == ["True", "module"]


def test_a_use_inside_already_gets_the_real_one() -> None:
    code = (
        "from actors.stand_ins import Later, standing_in\n"
        "with standing_in({'shelve': Later('shelve')}):\n"
        "    from shelve import Shelf\n"
        "    import shelve\n"
        "print(Shelf.__module__, shelve.Shelf is Shelf, sys.modules['shelve'] is shelve)"
    )

    assert said(code).split() == ["shelve", "True", "True"]


def test_what_is_not_in_the_real_one_is_missing() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = Later("shlex").no_such_thing
    with pytest.raises(ModuleNotFoundError):
        _ = Later("no_such_module").anything


def _imported(name: str) -> object:
    """Import as a statement does."""
    return __import__(name)

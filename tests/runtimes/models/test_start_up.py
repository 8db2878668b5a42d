"""What the first call needs is not imported before it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("asyncio", "genai_prices", "h11", "httpcore2", "http", "pydantic", "ssl", "urllib.request")


def loaded_by(code: str) -> set[str]:
    report = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(*sys.modules)"
    words = [sys.executable, "-I", "-c", report]
    done = subprocess.run(words, capture_output=True, check=True, timeout=60, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import runtimes.models.calling",
        "import runtimes.models.providers",
        "import runtimes.models.pricing",
        "import runtimes.models.wire_provider",
        (
            "from runtimes.models.registry import make_provider as m;"
            "from runtimes.models.config import ProviderConfig as C;"
            "from runtimes.models.secrets import Secrets as S;"
            "[m(C('x', k, 'https://x/v1'), S({})) for k in"
            " ('openai-compatible', 'openai', 'anthropic', 'gemini')]"
        ),
    ],
)
def test_nothing_heavy_is_imported_before_a_call(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


def test_an_address_is_read_without_what_only_brackets_need() -> None:
    code = (
        "from runtimes.models.config_table import provider_config as p;"
        "p('x', {'kind': 'openai-compatible', 'base_url': 'http://x/v1'}, 'x')"
    )

    loaded = loaded_by(code)
    assert "urllib.parse" in loaded
    assert "ipaddress" not in loaded


def test_an_address_in_brackets_is_judged_as_ever() -> None:
    code = (
        "from runtimes.models.config_table import provider_config as p;"
        "print(p('x', {'kind': 'openai', 'base_url': 'http://[::1]:8/v1'}, 'x').base_url);"
        "import urllib.parse as u; print(u.ipaddress.__name__, u.urlsplit('http://[::1]/').hostname)"
    )

    assert {"ipaddress", "::1", "http://[::1]:8/v1"} <= loaded_by(code)


def test_warming_up_imports_what_a_call_needs() -> None:
    code = "from runtimes.models.http_stream import HttpClient as H; H({}).warm_up('http://x/v1')"

    loaded = loaded_by(code)
    assert {"httpcore2", "runtimes.models.network"} <= loaded
    assert loaded.isdisjoint({"anyio.streams.tls", "asyncio", "importlib.metadata", "logging"})
    assert loaded.isdisjoint({"ssl", "truststore"})


def test_what_others_have_installed_is_not_imported_for_a_call(tmp_path: Path) -> None:
    names = ("anyio", "h2", "trio")
    for name in names:
        tmp_path.joinpath(f"{name}.py").touch()
    code = f"sys.path.insert(0, {str(tmp_path)!r});"
    code += "from runtimes.models.http_engine import load_engine; load_engine()"

    assert loaded_by(code).isdisjoint(names)


def test_warming_up_for_an_encrypted_connection_imports_the_tls_library() -> None:
    code = "from runtimes.models.http_stream import HttpClient as H; H({}).warm_up('https://x/v1')"

    assert {"httpcore2", "ssl"} <= loaded_by(code)


def test_what_stood_in_while_the_engine_was_imported_is_gone() -> None:
    code = (
        "from runtimes.models.http_engine import load_engine as l; l();"
        "import httpcore2, importlib.metadata as m; m.version('httpcore2')"
    )

    assert "importlib.metadata" in loaded_by(code)


MEANWHILE = """
import threading
from runtimes.models import http_engine

def look():
    from importlib.metadata import PackageNotFoundError, entry_points, version
    import ssl
    import genai_prices
    seen.append((type(ssl).__name__, version("httpcore2") != "", genai_prices.__version__ != ""))

def import_slowly(name):
    one = threading.Thread(target=look)
    one.start()
    one.join()
    return import_module(name)

seen = []
import_module, http_engine.import_module = http_engine.import_module, import_slowly
http_engine.load_engine()
assert seen == [("module", True, True)], seen
"""


def test_another_thread_is_not_misled_while_the_engine_is_imported() -> None:
    assert "httpcore2" in loaded_by(f"exec({MEANWHILE!r})")

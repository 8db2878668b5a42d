"""Threads share heaps, however many there are."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from actors.memory import give_memory_back
from tests.shared import ROOT

if TYPE_CHECKING:
    import pytest

HEAPS = """
import sys, threading
from actors.memory import give_memory_back
give_memory_back()
print("ctypes" in sys.modules, flush=True)
here = threading.Barrier(8)
def allocate():
    held = bytearray(100_000)
    here.wait(20)
threads = [threading.Thread(target=allocate) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
import ctypes
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fdopen(1, b"w")))
libc.fflush(None)
"""


def test_many_threads_share_two_heaps() -> None:
    words = [sys.executable, "-c", HEAPS]

    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=True, timeout=60, text=True)

    assert done.stdout.split()[0] == "False"
    assert re.findall(r'<heap nr="(\d+)">', done.stdout) == ["0", "1"]


def test_a_library_without_such_options_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_ctypes", None)

    give_memory_back()

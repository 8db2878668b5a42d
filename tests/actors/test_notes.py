"""Signals reach the main thread, however many come at once and wherever the kernel puts them."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.shared import ROOT

WAITS_FOR_ONE_OF_TWO = """
import os, select, threading
from actors import signals
from actors.notes import SignalNotes

notes = SignalNotes()
signals.note(notes.put)
reader, writer = os.pipe()

def doze():
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    poll.poll()

for _ in range(10):  # each a place where the kernel may put a signal
    threading.Thread(target=doze, daemon=True).start()
os.write(1, b"ready")
os._exit(notes.get())
"""


def test_of_two_signals_at_once_at_least_one_is_seen() -> None:
    # With a SimpleQueue a quarter of such processes never woke up.
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS_FOR_ONE_OF_TWO], stdout=subprocess.PIPE, cwd=ROOT
        )
        with process:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"ready"
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)

            assert process.wait(20) in {signal.SIGTERM, signal.SIGINT}


def test_notes_come_in_order_and_an_empty_box_says_so() -> None:
    code = (
        "import queue\nfrom actors.notes import SignalNotes\nnotes = SignalNotes()\n"
        "notes.put(1); notes.put(2)\nassert (notes.get(), notes.get(timeout=1)) == (1, 2)\n"
        "for wait in ({'timeout': 0.001}, {'block': False}):\n"
        "    try:\n        notes.get(**wait)\n    except queue.Empty:\n        continue\n"
        "    raise AssertionError\n"
    )

    # In a process of its own: the wake-up descriptor is the interpreter's only one.
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)

"""A prompt with many images is one line of up to 64 MiB: it must cost little more than itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.shared import ROOT

LINE_BYTES = 60 * 1024 * 1024
SCRIPT = f"""
from protocol.framing import LineSplitter
from protocol.jsonrpc import Request, decode

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

splitter, frames, before = LineSplitter(), [], resident()
frames += splitter.feed(b'{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"text":"')
for _ in range({LINE_BYTES} // 65536):
    frames += splitter.feed(b"a" * 65536)
frames += splitter.feed(b'"}}}}\\n')
held = resident() - before
message = decode(frames[0].data)
assert isinstance(message, Request)
assert len(message.params["text"]) == {LINE_BYTES}
print(held, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_60_mib_line_in_small_chunks_costs_one_copy_and_its_decoding_one_more() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    held, decoded = map(int, done.stdout.split())

    assert held < 1.25 * LINE_BYTES
    assert decoded < 2.5 * LINE_BYTES

"""A client waits for `initialize`, so `radian acp` loads little before its answer."""

from __future__ import annotations

import subprocess
import sys

from tests.shared import ROOT

SCRIPT = """
import os, sys
sys.argv = ["radian", "acp", "--provider", "play", "--workspace", "/", "--profile", "workspace"]
write = os.write

def spy(fd, data):
    if b'"protocolVersion"' in bytes(data):
        write(2, " ".join(sys.modules).encode())
        os._exit(0)
    return write(fd, data)

os.write = spy
from runtimes.radian.entry import main
main()
"""
HELLO = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
HEAVY = {"asyncio", "click", "decimal", "http", "httpcore2", "httpx2", "loguru", "pykka.debug",
         "ssl", "subprocess", "tempfile", "tomllib", "tree_sitter", "urllib"}  # fmt: skip
OURS = {"acp_flags", "entry", "flags", "ids", "options", "runtime", "serving", "session_errors"}


def test_the_answer_to_initialize_waits_for_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, input=HELLO, capture_output=True, check=True
    )

    loaded = set(done.stderr.decode().split())
    assert loaded & HEAVY == set()
    assert not any(name.startswith(("ops", "runtimes.models")) for name in loaded)
    parts = {name.removeprefix("runtimes.radian.") for name in loaded if ".radian." in name}
    assert parts == OURS

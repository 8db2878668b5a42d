"""The console script ``chant``.

A client that spawns ``chant acp`` waits for our first answer, so that line is recognized before
click, the verbs and the Ops are imported.
"""

from __future__ import annotations

import gc
import os
import sys

from actors.signals import end_at_once
from actors.stand_ins import import_libraries, until_trouble
from runtimes.chant.acp_flags import read_quickly


def main() -> None:
    """Run the command line and exit with its code."""
    end_at_once()
    flags = read_quickly(sys.argv[1:])
    # Nothing that start-up makes is garbage, and looking for some takes a tenth of it.
    gc.disable()
    if flags is not None:  # serving turns the collector on again
        import_libraries()
        from runtimes.chant.serving import serve_acp

        # Everything is ended in order by then; tearing the interpreter down would take 10 ms more.
        os._exit(serve_acp(flags))
    from actors.closed_streams import print_leavable, print_utf8, stand_in_for_closed_streams

    stand_in_for_closed_streams()
    print_utf8()
    with until_trouble():
        from runtimes.chant.straight import perform_straight
    gc.freeze()
    gc.enable()

    def perform() -> int:
        code = perform_straight(sys.argv[1:])
        if code is None:
            with until_trouble():
                from runtimes.chant.cli import run_command_line

            code = run_command_line(sys.argv[1:])
        return code

    sys.exit(print_leavable("chant", perform))

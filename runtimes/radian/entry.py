"""The console script ``radian``: the words decide what is imported."""

from __future__ import annotations

import gc
import os
import sys

from actors.closed_streams import print_leavable, print_utf8, stand_in_for_closed_streams
from actors.signals import end_at_once
from actors.stand_ins import import_libraries, until_trouble

COMPLETING = "_RADIAN_COMPLETE"
"""Set by a shell that completes; the words are not to be carried out then."""
HELP = frozenset({"-h", "--help"})


def main() -> None:
    """Run the command line and exit with its code."""
    end_at_once()
    argv = sys.argv[1:]
    # Nothing that start-up makes is garbage, and looking for some takes a tenth of it.
    gc.disable()
    if argv[:1] == ["exec"] and not HELP.intersection(argv) and COMPLETING not in os.environ:
        # A turn runs with the collector on again.
        stand_in_for_closed_streams()
        print_utf8()
        import_libraries()
        from runtimes.radian.exec_run import run_exec

        _end(run_exec(argv[1:], os.environ))
    if argv[:1] == ["acp"] and not HELP.intersection(argv) and COMPLETING not in os.environ:
        # Serving turns the collector on again.
        import_libraries()
        from runtimes.radian.serving import serve_acp

        # Everything is ended in order by then; tearing the interpreter down would take longer.
        os._exit(serve_acp(argv[1:], os.environ))
    stand_in_for_closed_streams()
    print_utf8()
    with until_trouble():
        from runtimes.radian.cli import radian
    gc.freeze()
    gc.enable()

    sys.exit(print_leavable("radian", lambda: radian(prog_name="radian")))


def _end(code: int) -> None:
    """Exit at once, with what was printed; nobody may be there to read it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)

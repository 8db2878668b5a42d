"""The console script ``chant``.

A client that spawns ``chant acp`` waits for our first answer, so that line is recognized before
click, the verbs and the Ops are imported.
"""

from __future__ import annotations

import sys

from runtimes.chant.acp_flags import read_quickly


def main() -> None:
    """Run the command line and exit with its code."""
    flags = read_quickly(sys.argv[1:])
    if flags is not None:
        from runtimes.chant.serving import serve_acp

        sys.exit(serve_acp(flags))
    from runtimes.chant.cli import run_command_line

    sys.exit(run_command_line(sys.argv[1:]))

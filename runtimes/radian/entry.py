"""The console script ``radian``."""

from __future__ import annotations


def main() -> None:
    """Hand the command line to click, which exits with the command's code."""
    from runtimes.radian.cli import radian

    radian(prog_name="radian")

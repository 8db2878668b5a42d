"""The command line of bubblewrap: what a sandboxed command sees, may write, and can't reach."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.radian.tools.sandbox import View

KEPT_OF_RUN = ("/run/current-system", "/run/wrappers", "/run/opengl-driver")
"""Programs of some systems; the rest of /run are sockets of other people's servers."""


def bubblewrap_argv(program: str, argv: Sequence[str], cwd: str, view: View) -> tuple[str, ...]:
    """Return the command line.  Later options lie over earlier ones, so the order counts.

    Its own PID namespace ends with it, whatever escapes from a process group; a new session keeps
    it from typing into the terminal.
    """
    return (
        program,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        *("--cap-drop", "ALL"),  # root's would undo every mount that follows
        *("--ro-bind", "/", "/"),
        *("--dev", "/dev"),
        *("--proc", "/proc"),
        *_run(),
        *_hidden(view),
        *_open(view),
        *("--chdir", cwd),
        "--",
        *argv,
    )


def _run() -> Iterator[str]:
    if os.path.isdir("/run"):
        yield from ("--tmpfs", "/run")
        for path in KEPT_OF_RUN:
            yield from ("--ro-bind-try", path, path)


def _hidden(view: View) -> Iterator[str]:
    """Put something empty over each secret, and what is private over ``/tmp``."""
    if view.private_tmp == "/" or not view.writable:
        yield from ("--tmpfs", "/tmp")  # noqa: S108 - inside of the sandbox
    else:
        yield from ("--bind", view.private_tmp, "/tmp")  # noqa: S108 - inside of the sandbox
    for path in view.secret:
        yield from _over(path)


def _over(path: str) -> Iterator[str]:
    # A link is covered by what it leads to, which is in the set too.
    if os.path.islink(path):
        return
    if os.path.isdir(path):
        yield from ("--tmpfs", path)
    elif os.path.exists(path):
        yield from ("--ro-bind", "/dev/null", path)


def _open(view: View) -> Iterator[str]:
    """Show the workspace again, wherever it lies, then shut what is protected or secret in it."""
    if view.workspace == "/":
        return
    yield from ("--bind" if view.writable else "--ro-bind", view.workspace, view.workspace)
    for path in view.protected:
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)
    for path in view.secret:
        if path.startswith(view.workspace + "/"):
            yield from _over(path)

"""Which sandbox is found, and what its command line is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from actors.faults import NoFaults
from runtimes.radian.tools.bubblewrap import bubblewrap_argv
from runtimes.radian.tools.landlock_main import open_paths, read_options
from runtimes.radian.tools.sandbox import (
    LAUNCHER,
    NoSandbox,
    Sandbox,
    Sandboxes,
    View,
    landlock_argv,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_what_does_not_work_is_told_and_tried_once(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho x >> {tmp_path}/runs; echo no namespaces >&2; exit 1\n")
    program.chmod(0o755)
    sandboxes = Sandboxes(NoFaults(), kinds=("bubblewrap",), bubblewrap=str(program))

    found = [sandboxes.found(), sandboxes.found()]

    assert found == [NoSandbox("no sandbox works here: bubblewrap: no namespaces")] * 2
    assert (tmp_path / "runs").read_text() == "x\n"


def test_landlock_takes_the_place_of_a_broken_bubblewrap() -> None:
    found = Sandboxes(NoFaults(), bubblewrap="/bin/false").found()

    assert isinstance(found, NoSandbox) or (found.kind, bool(found.limits)) == ("landlock", True)


def test_a_sandbox_that_is_not_installed_is_said_to_be_so() -> None:
    found = Sandboxes(NoFaults(), kinds=("bubblewrap",), bubblewrap="/nowhere/bwrap").found()

    assert found == NoSandbox("no sandbox works here: bubblewrap: No such file or directory")


def test_bubblewrap_shuts_secrets_after_it_has_opened_what_is_around_them(tmp_path: Path) -> None:
    workspace = tmp_path / "home"
    (workspace / ".ssh").mkdir(parents=True)
    (workspace / ".git").mkdir()
    (workspace / ".netrc").touch()
    view = View(
        str(workspace),
        writable=True,
        protected=(f"{workspace}/.git", f"{workspace}/.radian"),
        secret=(f"{workspace}/.ssh", f"{workspace}/.netrc", "/nowhere"),
        private_tmp="/out/tmp",
    )

    argv = " ".join(bubblewrap_argv("bwrap", ("true",), str(workspace), view))

    assert argv.startswith("bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL")
    opened = argv.index(f"--bind {workspace} {workspace}")
    assert argv.index("--bind /out/tmp /tmp") < opened
    assert argv.index(f"--ro-bind {workspace}/.git {workspace}/.git") > opened
    assert argv.rindex(f"--tmpfs {workspace}/.ssh") > opened
    assert argv.rindex(f"--ro-bind /dev/null {workspace}/.netrc") > opened
    assert argv.endswith(f"--chdir {workspace} -- true")
    assert ".radian" not in argv


def test_landlock_gives_rights_around_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/x", "a/key", "b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/key")
    top = str(tmp_path)

    assert open_paths(top, (f"{top}/a/key", "/elsewhere")) == [f"{top}/a/x", f"{top}/b"]
    assert open_paths(top, ()) == [top]


def test_the_launcher_reads_what_is_written_for_it() -> None:
    view = View("/ws", writable=True, protected=(), secret=("/home/.ssh",), private_tmp="/out/tmp")
    argv = landlock_argv(sys.executable, ("sh", "-c", "--read=x"), view)

    assert argv[:4] == (sys.executable, "-I", "-S", LAUNCHER)
    options = read_options(list(argv[4:]))
    assert options.read == ("/", "/ws", "/out/tmp")
    assert options.write == ("/ws", "/out/tmp")
    assert options.hide == ("/home/.ssh", "/tmp", "/run/user")
    assert options.argv == ("sh", "-c", "--read=x")


def test_a_sandbox_without_limits_says_nothing() -> None:
    assert Sandbox("bubblewrap", "bwrap").limits == ""

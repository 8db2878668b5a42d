"""Each reader: what is there, what is not, and what nobody can know."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import os
import select
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ops.resources.hashing import Limit, sha256_of
from ops.resources.reader import ABSENT, Look, Observation, present, unobserved
from ops.resources.table import READERS
from tests.ops.projects import git, repository
from tests.ops.resources.looks import Cancel, look

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_has_a_size_a_digest_and_a_mode(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    (tmp_path / "a.txt").chmod(0o640)

    assert look(tmp_path, "file", path="a.txt") == present(
        bytes=4, sha256=sha(b"one\n"), mode="0640"
    )
    assert look(tmp_path, "file", path="b.txt") == ABSENT
    assert look(tmp_path, "file", path="a.txt/inside") == ABSENT
    assert look(tmp_path, "file", path=".") == unobserved(". is not a regular file")


def test_a_file_that_never_ends_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert look(tmp_path, "file", path="pipe").state == "unobserved"


def test_a_file_whose_content_is_still_to_come_is_not_waited_for(tmp_path: Path) -> None:
    """Such as /proc/kmsg, which calls itself a regular file; the look never ended."""
    os.mkfifo(tmp_path / "pipe")
    both = os.open(tmp_path / "pipe", os.O_RDWR)

    with pytest.raises(ValueError, match="can't be read without waiting"):
        sha256_of(str(tmp_path / "pipe"), Limit(Look("", {}, Cancel(), timeout_s=10.0)))

    os.close(both)


def test_a_tree_of_folders_alone_ends_with_the_time_of_the_look(tmp_path: Path) -> None:
    (tmp_path / "d/sub/sub").mkdir(parents=True)

    seen = look(tmp_path, "directory", path="d", timeout_s=-1.0)

    assert seen == unobserved(f"{tmp_path}/d was not read within -1 s")


def test_the_files_of_a_directory_share_the_time_of_the_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each had a time of its own: 20,000 files, 10 s each."""
    (tmp_path / "d").mkdir()
    for name in "abc":
        (tmp_path / "d" / name).write_text(name)
    now_s = iter(range(100))
    monkeypatch.setattr("ops.resources.hashing.time.monotonic", lambda: float(next(now_s)))

    seen = look(tmp_path, "directory", path="d", timeout_s=3.0)

    assert seen == unobserved(f"{tmp_path}/d/c was not read within 3 s")


def test_a_directory_changes_with_names_and_contents_and_not_with_what_is_ignored(
    tmp_path: Path,
) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "d/a").write_text("1")
    (tmp_path / "d/sub/b").write_text("22")
    (tmp_path / "d/link").symlink_to("sub")

    def seen() -> Observation:
        return look(tmp_path, "directory", path="d", ignore=["*.pyc"])

    first = seen()
    assert (first.facts["files"], first.state) == (3, "present")
    (tmp_path / "d/x.pyc").write_text("cache")
    assert seen() == first
    (tmp_path / "d/a").write_text("2")
    assert seen().facts["sha256"] != first.facts["sha256"]
    assert look(tmp_path, "directory", path="none") == ABSENT
    assert look(tmp_path, "directory", path="d/a").reason == "d/a is not a folder"


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(int(self.path.strip("/")))
        self.end_headers()
        self.wfile.write(b"all is well")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        del format, args


@pytest.fixture
def site() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_http_tells_the_status_and_what_was_asked_for(tmp_path: Path, site: str) -> None:
    assert look(tmp_path, "http", url=f"{site}/200") == present(status=200)
    assert look(tmp_path, "http", url=f"{site}/500", digest=True, contains="well") == present(
        status=500, sha256=sha(b"all is well"), contains=True
    )
    assert look(tmp_path, "http", url=f"{site}/404") == ABSENT
    assert look(tmp_path, "http", url=f"{site}/410") == ABSENT


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_server_that_sends_a_byte_at_a_time_has_the_time_of_the_look_and_no_more(
    tmp_path: Path, head: bytes
) -> None:
    """Each byte once gave it that time anew, so a look never ended."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle() -> None:
            client, _ = listener.accept()
            with client, contextlib.suppress(OSError):
                client.sendall(head)
                gone = select.poll()
                gone.register(client, select.POLLRDHUP)
                while not gone.poll(20):
                    client.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        seen = look(
            tmp_path,
            "http",
            url=f"http://127.0.0.1:{listener.getsockname()[1]}/",
            digest=True,
            timeout_s=1.0,
        )
        thread.join(60)

    assert seen == unobserved("no answer within 1 s")


def test_a_cancel_cuts_off_a_body_that_ends_with_its_connection(tmp_path: Path) -> None:
    """The connection is nobody's any more by then, and what waited for the body waited on."""
    cancel = Cancel()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def begin() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(1000)
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                cancel.set()
                client.recv(1)

        thread = threading.Thread(target=begin)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        look(tmp_path, "http", url=url, cancel=cancel, timeout_s=600.0)
        thread.join(60)

    assert not thread.is_alive()


def test_a_server_that_does_not_answer_is_unobserved_and_not_absent(tmp_path: Path) -> None:
    with _deaf_port() as port:
        seen = look(tmp_path, "http", url=f"http://127.0.0.1:{port}/")

    assert (seen.state, seen.reason) == ("unobserved", "no answer: Connection refused")
    assert look(tmp_path, "http", url="ftp://x").state == "unobserved"


@contextlib.contextmanager
def _deaf_port() -> Generator[int]:
    """Hold a port on which nobody listens, so that nobody else gets it meanwhile."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def test_a_command_tells_what_it_prints(tmp_path: Path) -> None:
    assert look(tmp_path, "command", command="echo ' 7 '") == present(stdout="7")
    assert look(tmp_path, "command", command=["echo", "$HOME"]) == present(stdout="$HOME")
    assert look(tmp_path, "command", command="echo '{\"n\": 7}'", json=True) == present(n=7)
    long = look(tmp_path, "command", command="yes | head -c 10000")
    assert len(long.facts["stdout"]) == 4096
    assert len(long.facts["sha256"]) == 64


def test_a_command_that_fails_says_nothing_unless_its_code_means_absent(tmp_path: Path) -> None:
    failing = "echo looking >&2; echo not here >&2; exit 3"

    assert look(tmp_path, "command", command=failing) == unobserved("exit code 3: not here")
    assert look(tmp_path, "command", command=failing, absent_codes=[3, 4]) == ABSENT
    assert look(tmp_path, "command", command=["no-such-program"]) == unobserved(
        "there is no program 'no-such-program'"
    )
    assert look(tmp_path, "command", command="echo [1]", json=True).reason == (
        "what it printed is JSON, but no object"
    )
    assert "no JSON" in look(tmp_path, "command", command="echo {", json=True).reason


def test_a_command_is_killed_with_its_children_when_its_time_is_over(tmp_path: Path) -> None:
    command = f"sleep 600 & echo $! > {tmp_path}/child; wait"

    seen = look(tmp_path, "command", command=command, timeout_s=2.0)

    assert seen == unobserved("/bin/sh did not end within 2 s")
    child = int((tmp_path / "child").read_text())
    assert _is_gone(child)


def _is_gone(pid: int) -> bool:
    """Wait for the kernel to take a killed process away, or show it as a zombie of its parent."""
    descriptor = -1
    try:
        descriptor = os.pidfd_open(pid)
        import select

        return bool(select.select([descriptor], [], [], 10)[0])
    except ProcessLookupError:
        return True
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def test_a_cancel_ends_a_command_at_once(tmp_path: Path) -> None:
    cancel = Cancel()
    os.mkfifo(tmp_path / "started")
    seen: list[Observation] = []
    command = f"echo > {tmp_path}/started; sleep 600"
    reader = threading.Thread(
        target=lambda: seen.append(
            look(tmp_path, "command", command=command, cancel=cancel, timeout_s=300)
        )
    )
    reader.start()
    (tmp_path / "started").read_text()

    cancel.set()
    reader.join(30)

    assert seen == [unobserved("stopped while it was looked at")]
    assert look(tmp_path, "file", path="x", cancel=cancel).reason.startswith("stopped before")


def test_the_output_of_a_command_is_bounded(tmp_path: Path) -> None:
    seen = look(tmp_path, "command", command="head -c 50000000 /dev/zero | tr '\\0' x")

    assert seen.state == "present"
    assert len(seen.facts["stdout"]) == 4096


def test_a_python_package_has_a_version(tmp_path: Path) -> None:
    seen = look(tmp_path, "python-package", package="pytest", python=sys.executable)

    assert seen == present(version=pytest.__version__)
    assert look(tmp_path, "python-package", package="no-such", python=sys.executable) == ABSENT
    assert look(tmp_path, "python-package", package="x", python="./none").state == "unobserved"


def test_a_git_ref_has_a_commit_here_and_at_a_remote(tmp_path: Path) -> None:
    work = repository(tmp_path / "work")
    git(work, "tag", "v1")
    commit = git(work, "rev-parse", "HEAD")

    assert look(work, "git-ref", ref="main") == present(commit=commit)
    assert look(work, "git-ref", ref="refs/tags/v1") == present(commit=commit)
    assert look(tmp_path, "git-ref", ref="v1", repository="work") == present(commit=commit)
    assert look(work, "git-ref", ref="gone") == ABSENT
    assert look(work, "git-ref", ref="main", remote=str(work)) == present(commit=commit)
    assert look(work, "git-ref", ref="gone", remote=str(work)) == ABSENT
    assert look(work, "git-ref", ref="main", remote=str(tmp_path / "x")).state == "unobserved"
    assert look(tmp_path, "git-ref", ref="main").state == "unobserved"
    assert look(work, "git-ref", ref="--all").state == "unobserved"


def test_a_port_is_listened_on_or_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert look(tmp_path, "port", port=server.getsockname()[1]) == present(listening=True)

    with _deaf_port() as port:
        assert look(tmp_path, "port", port=port) == ABSENT
    assert look(tmp_path, "port", port=1, host="host.invalid").state == "unobserved"
    assert look(tmp_path, "port", port=123456).state == "unobserved"


def test_processes_are_counted_by_their_command_line(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-{tmp_path.name}"
    argv = ["sh", "-c", "echo up; read line", mark]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        # The kernel closes what closes on exec a moment before it shows the new command line.
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        assert look(tmp_path, "process", match=mark) == present(count=1)
        (tmp_path / "pid").write_text(f"{child.pid}\n")
        assert look(tmp_path, "process", pid_file="pid") == present(count=1)
        child.communicate(b"\n")

    assert look(tmp_path, "process", match=mark) == ABSENT
    assert look(tmp_path, "process", pid_file="pid") == ABSENT
    assert look(tmp_path, "process", pid_file="none") == ABSENT
    assert "regular expression" in look(tmp_path, "process", match="(").reason


def test_a_variable_is_set_or_not_and_its_value_is_nowhere(tmp_path: Path) -> None:
    environ = {"TOKEN": "s3cret", "EMPTY": ""}

    seen = look(tmp_path, "env-var", variable="TOKEN", environ=environ)

    assert seen == present(set=True)
    assert "s3cret" not in repr(seen)
    assert look(tmp_path, "env-var", variable="EMPTY", environ=environ) == ABSENT
    assert look(tmp_path, "env-var", variable="NONE", environ=environ) == ABSENT


KUBECTL = """#!/bin/sh
echo "$@" > asked
case "$3" in
gone) echo 'Error from server (NotFound): deployments "gone" not found' >&2; exit 1;;
far) echo 'Unable to connect to the server' >&2; exit 1;;
esac
echo '{"metadata": {"generation": 4}, "spec": {"replicas": 3}}'
"""


def test_a_kubernetes_object_is_what_kubectl_says(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kubectl").write_text(KUBECTL)
    (tmp_path / "bin/kubectl").chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def asked(name: str, **keys: Any) -> Observation:
        return look(tmp_path, "kubernetes", environ=environ, kind="deployment", object=name, **keys)

    seen = asked("box", namespace="prod", fields=["spec.replicas", "status.none"])

    assert (tmp_path / "asked").read_text() == (
        "get deployment box -o json --request-timeout=10s --namespace=prod\n"
    )
    assert (seen.facts["generation"], seen.facts["spec.replicas"]) == (4, 3)
    assert (seen.facts["status.none"], len(seen.facts["spec_sha256"])) == (None, 64)
    assert asked("gone") == ABSENT
    assert asked("far") == unobserved("exit code 1: Unable to connect to the server")


def test_without_kubectl_nothing_is_known(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}

    seen = look(tmp_path, "kubernetes", environ=environ, kind="pod", object="x")

    assert seen == unobserved("there is no program 'kubectl'")


def test_every_reader_says_what_its_keys_and_facts_are() -> None:
    for reader in READERS.values():
        assert reader.summary
        assert all(key.summary for key in reader.keys)
        assert all(reader.facts.values())

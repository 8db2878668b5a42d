from __future__ import annotations

import os
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from ops.activities import ACTIVITIES, activity
from ops.errors import ActivityFailed
from ops.work import ActivityContext
from tests.ops.works import Context, Token, process, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.work import ProcessWork


def carry_out(work: ProcessWork) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        work.argv, cwd=work.cwd, env=dict(work.env), capture_output=True, text=True, check=False
    )


def test_every_activity_says_what_it_needs_before_anything_is_touched(tmp_path: Path) -> None:
    needy = [
        name
        for name, each in ACTIVITIES.items()
        if each.one_of or any(arg.required for arg in each.args)
    ]
    assert len(needy) > 10
    for name in needy:
        with pytest.raises(ActivityFailed, match=f"{name} needs"):
            activity(name).prepare({}, ActivityContext(str(tmp_path), {}))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_activity_lists_the_known_ones() -> None:
    with pytest.raises(
        ActivityFailed, match=r"unknown fn 'shel' \(did you mean shell\?\); known: build, copy"
    ):
        activity("shel")


def test_shell_gets_values_as_variables_and_never_as_text(tmp_path: Path) -> None:
    work = process("shell", tmp_path, cmd='echo "$EVIL"', env={"EVIL": "$(touch pwned); `x`"})

    assert work.argv == ("/bin/sh", "-c", 'echo "$EVIL"')
    assert carry_out(work).stdout == "$(touch pwned); `x`\n"
    assert list(tmp_path.iterdir()) == []


def test_a_number_or_boolean_that_a_reference_brought_is_text_where_text_is_wanted(
    tmp_path: Path,
) -> None:
    words = ["sh", "-c", 'echo "$@" $N $B', "sh", 2, 2.5, True]

    work = process("exec", tmp_path, argv=words, env={"N": 7, "B": False})

    assert carry_out(work).stdout == "2 2.5 true 7 false\n"


def test_a_number_that_stands_where_text_is_wanted_is_refused_before_any_run() -> None:
    found = list(activity("exec").problems({"argv": ["sh", 2], "env": {"A": 3}}))

    assert found == [
        ("argv", "argv must be a list of texts, not ['sh', 2]"),
        ("env", "env must be a table of texts, not {'A': 3}"),
    ]


def test_nothing_else_becomes_text(tmp_path: Path) -> None:
    for wrong in ([["a"]], [None], [{"a": 1}]):
        with pytest.raises(ActivityFailed, match="argv must be a list of texts"):
            process("exec", tmp_path, argv=["sh", *wrong])


def test_exec_passes_its_words_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    work = process("exec", tmp_path, argv=["echo", "a  b", "$HOME"], cwd="sub")

    assert (work.argv, work.cwd) == (("echo", "a  b", "$HOME"), str(tmp_path / "sub"))


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"": "x"}, {"A": "x\0"}, {"A": ["x"]}])
def test_variables_that_no_program_can_have_are_refused(
    tmp_path: Path, env: dict[str, Any]
) -> None:
    with pytest.raises(ActivityFailed, match="env must be a table of texts"):
        process("shell", tmp_path, cmd="true", env=env)


def test_sleep_ends_at_once_when_it_is_aborted(tmp_path: Path) -> None:
    context = Context()
    context.cancel.set()

    assert run("sleep", tmp_path, context, duration="1h") == {}


def test_copy_puts_a_file_into_a_folder_or_under_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("hello")
    (tmp_path / "a.sh").chmod(0o750)

    into = run("copy", tmp_path, src="a.sh", dest="out/")
    under = run("copy", tmp_path, src="a.sh", dest="deep/er/b.sh")

    assert into == {"dest": str(tmp_path / "out/a.sh"), "files": 1, "bytes": 5}
    assert under["dest"] == str(tmp_path / "deep/er/b.sh")
    assert (tmp_path / "out/a.sh").stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(tmp_path / "out")) == ["a.sh"]


def test_copy_takes_a_folder_with_its_links_and_empty_folders(tmp_path: Path) -> None:
    source = tmp_path / "src"
    (source / "empty").mkdir(parents=True)
    (source / "sub").mkdir()
    (source / "sub" / "f").write_text("x")
    (source / "link").symlink_to("sub/f")
    (source / "to_folder").symlink_to("sub")

    done = run("copy", tmp_path, src="src", dest="new")

    assert done["files"] == 3
    assert (tmp_path / "new/empty").is_dir()
    assert (tmp_path / "new/sub/f").read_text() == "x"
    assert (tmp_path / "new/link").readlink().as_posix() == "sub/f"
    assert (tmp_path / "new/to_folder").is_symlink()


def test_copy_of_a_folder_into_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/f").write_text("x")

    run("copy", tmp_path, src="src", dest="src/copy")

    assert (tmp_path / "src/copy/f").read_text() == "x"


@pytest.mark.parametrize(
    ("src", "message"),
    [("nothing", "No such file"), ("same", "are the same file"), ("pipe", "neither a file")],
)  # fmt: skip
def test_copy_names_what_it_can_not_do(tmp_path: Path, src: str, message: str) -> None:
    (tmp_path / "same").write_text("x")
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ActivityFailed, match=message):
        run("copy", tmp_path, src=src, dest="same")


def test_an_aborted_copy_leaves_the_old_file_whole(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"n" * 100)
    (tmp_path / "old").write_text("old")
    context = Context()
    context.cancel.set()

    with pytest.raises(ActivityFailed, match="stopped while copying"):
        run("copy", tmp_path, context, src="big", dest="old")

    assert (tmp_path / "old").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["big", "old"]


def test_render_fills_places_and_says_whether_anything_changed(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("v=${version} n=$count cost=$$5\n")
    values = {"version": "1.2", "count": 3}

    first, second = (
        run("render", tmp_path, template="t", dest="out/c.conf", values=values) for _ in range(2)
    )

    assert (tmp_path / "out/c.conf").read_text() == "v=1.2 n=3 cost=$5\n"
    assert (first["changed"], second["changed"]) == (True, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [("${nope}", "names 'nope', which has no value; values: a"), ("5 $", "lone")],
)
def test_render_leaves_no_file_behind_when_it_fails(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ActivityFailed, match=message):
        run("render", tmp_path, text=text, dest="out", values={"a": "1"})

    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def server() -> Iterator[str]:
    """Answers 503 to the first two requests of /slow-start, 200 to anything else."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            starting = self.path == "/slow-start" and asked.count(self.path) <= 2
            body = self.headers.get("X-Echo", "all is well").encode()
            self.send_response(503 if starting else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join(5)


def test_http_check_compares_status_and_text(tmp_path: Path, server: str) -> None:
    done = run("http_check", tmp_path, url=server, contains="hi", headers={"X-Echo": "oh hi"})

    assert done == {"status": 200, "tries": 1}
    with pytest.raises(ActivityFailed, match="does not contain 'bad'"):
        run("http_check", tmp_path, url=server, contains="bad")
    with pytest.raises(ActivityFailed, match="status 200, not 404"):
        run("http_check", tmp_path, url=server, status=404)


def test_http_check_tries_again_and_says_why(tmp_path: Path, server: str) -> None:
    context = Context()
    url = f"{server}/slow-start"

    done = run("http_check", tmp_path, context, url=url, retries=2, interval="1ms")

    assert done == {"status": 200, "tries": 3}
    assert context.said[0] == ("stderr", f"{url}: status 503, not 200\n")
    assert len(context.said) == 2


def test_http_check_names_a_server_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"

        with pytest.raises(ActivityFailed, match="Connection refused"):
            run("http_check", tmp_path, url=url)


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "http://x:99999/", "http://a b/", "x"])
def test_http_check_refuses_what_is_no_url(tmp_path: Path, url: str) -> None:
    with pytest.raises(ActivityFailed, match="is not an http or https URL"):
        run("http_check", tmp_path, url=url)


def test_an_abort_wakes_a_check_that_waits_for_a_silent_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        context = Context()
        outcome: list[str] = []

        def check() -> None:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            with pytest.raises(ActivityFailed) as raised:
                run("http_check", tmp_path, context, url=url, timeout="1h", retries=3)
            outcome.append(str(raised.value))

        thread = threading.Thread(target=check)
        thread.start()
        connection, _ = silent.accept()
        connection.recv(1)
        context.cancel.set()
        thread.join(20)
        connection.close()

    assert len(outcome) == 1
    assert "stopped while no answer" in outcome[0]


def test_wait_for_sees_a_file_that_comes_later(tmp_path: Path) -> None:
    context = Context(on_emit=(tmp_path / "ready").touch)

    done = run("wait_for", tmp_path, context, file="ready", interval="1ms")

    assert done == {"tries": 2}


def test_wait_for_sees_a_port_and_a_url(tmp_path: Path, server: str) -> None:
    port = int(server.rpartition(":")[2])

    assert run("wait_for", tmp_path, port=port) == {"tries": 1}
    assert run("wait_for", tmp_path, url=f"{server}/slow-start", interval="1ms") == {"tries": 3}


def test_wait_for_gives_up_after_its_time(tmp_path: Path) -> None:
    with pytest.raises(ActivityFailed, match="never: not there"):
        run("wait_for", tmp_path, file="never", timeout="5ms", interval="1ms")


def test_wait_for_a_command_is_a_program_whose_children_are_its_own(tmp_path: Path) -> None:
    ready = process(
        "wait_for", tmp_path, command="echo x >> n; test $(wc -l < n) -ge 3", interval="1ms"
    )
    assert carry_out(ready).returncode == 0
    assert (tmp_path / "n").read_text() == "x\nx\nx\n"

    words = process("wait_for", tmp_path, command=["test", "-e", "a b"])
    (tmp_path / "a b").touch()
    assert carry_out(words).returncode == 0


def test_a_token_of_the_fakes_calls_late_callbacks_at_once() -> None:
    token, called = Token(), []
    token.set()

    token.on_cancel(lambda: called.append(1))

    assert called == [1]

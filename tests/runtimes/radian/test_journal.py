"""Writing journals on real files: crashes, full disks, second writers, strangers."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.faults import NoFaults
from runtimes.models.base import Kept, Text
from runtimes.radian.journal import create_journal, open_journal
from runtimes.radian.journal_read import read_journal
from runtimes.radian.records import ToolCall, ToolResult, UserMessage
from runtimes.radian.session_errors import (
    JournalDamaged,
    JournalError,
    JournalNewer,
    SessionForeign,
    SessionInUse,
    SessionMissing,
    SessionTaken,
)
from tests.runtimes.radian.journals import (
    NOW,
    TS,
    asked,
    at,
    called,
    created,
    entries,
    lines,
    make_session,
    open_new,
    turn,
)
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from actors.faults import Verdict
    from runtimes.radian.journal_read import Loaded


class FailAt(NoFaults):
    """Fails whenever it is at one point."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.on = True

    def at(self, name: str, who: str = "") -> Verdict:
        if self.on and name == self.name:
            raise OSError(28, os.strerror(28))
        return super().at(name, who)


class HearSync(NoFaults):
    """Notes what is forced to the disk."""

    def __init__(self) -> None:
        self.forced: list[str] = []

    def at(self, name: str, who: str = "") -> Verdict:
        if name == "journal.sync":
            self.forced.append(who)
        return super().at(name, who)


def child(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start Python code that speaks by lines."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_records_are_numbered_and_dated_and_come_back(tmp_path: Path) -> None:
    journal, first = open_new(tmp_path / "s1.jsonl", created())

    written = journal.append(turn(1, "hi", "hello"), sync=True)
    journal.close()

    assert [first, *written] == entries(created(), *turn(1, "hi", "hello"))
    assert (tmp_path / "s1.jsonl").read_bytes() == lines([created(), *turn(1, "hi", "hello")])


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    path = make_session(tmp_path / "new" / "sessions")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_journal_is_continued(tmp_path: Path) -> None:
    path = make_session(tmp_path, *turn(1, "hi", "hello"))

    journal, loaded = open_journal(str(path), "s1", now=lambda: NOW)
    more = journal.append(turn(2, "more", "yes"), sync=False)
    journal.close()

    assert loaded.last_turn == 1
    assert [each.seq for each in more] == [6, 7, 8, 9]
    assert read_journal(str(path)).entries == (*loaded.entries, *more)


WHOLE = lines([created(), *turn(1, "hi", "hello")])
LAST_LINE = WHOLE.rindex(b"\n", 0, -1) + 1


@settings(max_examples=40)
@given(cut=st.integers(LAST_LINE + 1, len(WHOLE) - 1))
def test_a_torn_last_line_is_cut_off_and_kept_before_anything_is_written(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("torn") / "s1.jsonl"
    path.write_bytes(WHOLE[:cut])

    journal, loaded = open_journal(str(path), "s1", now=lambda: NOW)
    journal.append(turn(2, "more", "yes"), sync=False)
    journal.close()

    assert len(loaded.warnings) == 1
    assert f"{path}:5: " in loaded.warnings[0]
    again = read_journal(str(path))
    assert again.warnings == ()
    assert again.entries[-4:] == tuple(
        (loaded.last_seq + number, TS, each)
        for number, each in enumerate(turn(2, "more", "yes"), 1)
    )
    kept = list(path.parent.glob("*.torn-*"))
    if loaded.unended:
        assert (cut, kept) == (len(WHOLE) - 1, [])
    else:
        assert [each.read_bytes() for each in kept] == [WHOLE[LAST_LINE:cut]]
        assert stat.S_IMODE(kept[0].stat().st_mode) == 0o600


def test_a_second_writer_is_refused_at_once(tmp_path: Path) -> None:
    path = make_session(tmp_path)
    journal, _ = open_journal(str(path), "s1")

    with pytest.raises(SessionInUse, match="session s1 is in use"):
        open_journal(str(path), "s1")

    journal.close()
    open_journal(str(path), "s1")[0].close()


HOLD = """
    import sys
    from runtimes.radian.journal import open_journal
    from runtimes.radian.session_errors import SessionInUse
    try:
        journal, _ = open_journal(sys.argv[1], "s1")
    except SessionInUse:
        print("refused", flush=True)
    else:
        print("open", flush=True)
    sys.stdin.readline()
"""


def test_of_two_processes_one_writes_until_its_death(tmp_path: Path) -> None:
    path = make_session(tmp_path)
    with child(HOLD, path) as one, child(HOLD, path) as other:
        assert one.stdout is not None
        assert other.stdout is not None
        said = {one.stdout.readline(): one, other.stdout.readline(): other}
        assert set(said) == {"open\n", "refused\n"}
        with pytest.raises(SessionInUse):
            open_journal(str(path), "s1")
        for process in said.values():
            process.kill()

    open_journal(str(path), "s1")[0].close()


WRITE_ON = """
    import sys
    from runtimes.models.base import Text
    from runtimes.radian.journal import open_journal
    from runtimes.radian.records import UserMessage
    journal, _ = open_journal(sys.argv[1], "s1")
    record = UserMessage(1, (Text("x" * 10_000),))
    for number in range(1_000_000):
        journal.append([record, record], sync=False)
        if number == 20:
            print("going", flush=True)
"""


def test_a_writer_that_is_killed_leaves_whole_records_and_maybe_one_torn(tmp_path: Path) -> None:
    path = make_session(tmp_path)
    with child(WRITE_ON, path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "going\n"
        writer.send_signal(signal.SIGKILL)

    journal, loaded = open_journal(str(path), "s1")
    journal.append([asked(1, "after")], sync=True)
    journal.close()

    assert loaded.last_seq >= 41
    again = read_journal(str(path))
    assert [each.seq for each in again.entries] == list(range(1, loaded.last_seq + 2))
    assert again.warnings == ()


FULL = """
    import resource, sys
    from runtimes.models.base import Text
    from runtimes.radian.journal import open_journal
    from runtimes.radian.records import UserMessage
    from runtimes.radian.session_errors import JournalError
    journal, _ = open_journal(sys.argv[1], "s1")
    record = UserMessage(1, (Text("x" * 1000),))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
    journal.append([record], sync=False)
    for _ in range(2):
        try:
            journal.append([record], sync=False)
        except JournalError as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    journal.append([UserMessage(1, (Text("room again"),))], sync=True)
"""


def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path: Path) -> None:
    path = make_session(tmp_path)

    with child(FULL, path) as writer:
        out, _ = writer.communicate(timeout=60)

    assert out.count("can't be written: the disk is full\n") == 2
    loaded = read_journal(str(path))
    assert loaded.warnings == ()
    assert [each.seq for each in loaded.entries] == [1, 2, 3]
    assert at(loaded.entries, 3) == asked(1, "room again")


@pytest.mark.parametrize("name", ["journal.write", "journal.sync"])
def test_a_failed_write_is_told_and_the_next_one_may_work(tmp_path: Path, name: str) -> None:
    faults = FailAt(name)
    faults.on = False
    journal, _ = create_journal(str(tmp_path / "s1.jsonl"), created(), faults=faults)
    faults.on = True

    with pytest.raises(JournalError, match="No space left"):
        journal.append([asked(1, "a")], sync=True)
    faults.on = False
    journal.append([asked(1, "b")], sync=True)
    journal.close()

    loaded = read_journal(journal.path)
    assert loaded.warnings == ()
    # What could not be forced to the disk is in the file all the same, under its number.
    assert len(loaded.entries) == (3 if name == "journal.sync" else 2)


@pytest.mark.parametrize("name", ["journal.lock", "journal.write"])
def test_a_journal_that_can_not_be_made_is_told_and_the_id_is_free(
    tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / "s1.jsonl")

    with pytest.raises(JournalError):
        create_journal(path, created(), faults=FailAt(name))

    create_journal(path, created())[0].close()


def test_the_name_of_a_journal_is_forced_to_the_disk_with_the_first_turn_of_each_process(
    tmp_path: Path,
) -> None:
    """The one before may have died between the first turn's end and the name."""
    heard = HearSync()
    path = tmp_path / "s1.jsonl"
    create_journal(str(path), created(), faults=heard)[0].close()
    assert heard.forced == []

    journal, _ = open_journal(str(path), "s1", faults=heard)
    journal.append(turn(1, "hi", "hello"), sync=True)
    journal.append(turn(2, "more", "yes"), sync=True)
    journal.close()
    assert heard.forced == ["s1.jsonl", str(tmp_path), "s1.jsonl"]

    journal, _ = open_journal(str(path), "s1", faults=heard)
    journal.append(turn(3, "more", "yes"), sync=True)
    journal.close()
    assert heard.forced[3:] == ["s1.jsonl", str(tmp_path)]


def test_a_journal_that_can_not_be_repaired_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(WHOLE[:-5])

    with pytest.raises(JournalError, match="repaired"):
        open_journal(str(path), "s1", faults=FailAt("journal.repair"))

    assert path.read_bytes() == WHOLE[:-5]


def test_what_a_stranger_did_to_the_file_is_told(tmp_path: Path) -> None:
    path = make_session(tmp_path)
    journal, _ = open_journal(str(path), "s1")

    with path.open("ab") as stream:
        stream.write(b"{}\n")
    with pytest.raises(JournalError, match="another program has changed it"):
        journal.append([asked(1, "x")], sync=False)
    path.unlink()
    with pytest.raises(JournalError, match="it was removed"):
        journal.append([asked(1, "x")], sync=False)
    journal.close()


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    journal, _ = open_new(tmp_path / "s1.jsonl", created())
    journal.close()
    journal.close()

    with pytest.raises(JournalError, match="closed"):
        journal.append([asked(1, "x")], sync=False)


def test_an_id_is_given_once(tmp_path: Path) -> None:
    path = make_session(tmp_path)

    with pytest.raises(SessionTaken, match="session id s1 is taken"):
        create_journal(str(path), created())


@pytest.mark.parametrize("left", [b"", b'{"v":1,"seq":1,"ty'])
def test_what_a_crash_left_of_a_first_record_does_not_take_the_id(
    tmp_path: Path, left: bytes
) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(left)

    create_journal(str(path), created())[0].close()

    assert read_journal(str(path)).session == created()


@pytest.mark.parametrize("left", [None, b""])
def test_a_session_that_is_not_there_is_told(tmp_path: Path, left: bytes | None) -> None:
    path = tmp_path / "s1.jsonl"
    if left is not None:
        path.write_bytes(left)

    with pytest.raises(SessionMissing, match="no session s1"):
        open_journal(str(path), "s1")


def _foreign(loaded: Loaded) -> None:
    raise SessionForeign(loaded.session.session_id, loaded.session.workspace, "/here")


NEWER = b'{"v":2,"seq":6,"type":"X"}\n'


@pytest.mark.parametrize(
    ("data", "check", "error"),
    [
        (WHOLE + NEWER + b"torn", lambda _: None, JournalNewer),
        (b"bad\n" + WHOLE + b"torn", lambda _: None, JournalDamaged),
        (WHOLE + b"torn", _foreign, SessionForeign),
    ],
)
def test_nothing_is_written_to_a_journal_that_is_refused(
    tmp_path: Path, data: bytes, check: Callable[[Loaded], None], error: type[Exception]
) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(data)

    with pytest.raises(error):
        open_journal(str(path), "s1", check=check)

    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["s1.jsonl"]


def test_text_that_is_no_utf_8_and_large_numbers_can_be_kept(tmp_path: Path) -> None:
    journal, _ = open_new(tmp_path / "s1.jsonl", created())

    journal.append([asked(1, "a\ud800b"), called(1, "c", model_ms=1)], sync=False)
    big = ToolCall("c", "read", {"n": 2**70})
    journal.append([UserMessage(1, (Text("x"),)), _with(big)], sync=False)
    journal.close()

    loaded = read_journal(journal.path)
    assert loaded.warnings == ()
    assert len(loaded.entries) == 5


def _with(call: ToolCall) -> Any:
    message = called(1, "c")
    return type(message)(1, 1, (call,), "tools")


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    journal, _ = open_new(tmp_path / "s1.jsonl", created())
    deep: Any = []
    for _ in range(3000):
        deep = [deep]

    with pytest.raises(JournalError, match="nested too deeply"):
        journal.append([_with(ToolCall("c", "read", {"x": deep}))], sync=False)
    journal.append([asked(1, "x")], sync=False)
    journal.close()

    assert [each.seq for each in read_journal(journal.path).entries] == [1, 2]


def test_secrets_are_taken_out_of_texts_and_of_nothing_else(tmp_path: Path) -> None:
    journal, _ = open_new(tmp_path / "s1.jsonl", created())
    journal.mask = lambda text: text.replace("completed", "[secret]")
    deep: Any = "completed"
    for _ in range(200):
        deep = [deep]
    signed = Kept({"from": "completed"})
    parts = (
        Text("completed!"),
        signed,
        ToolCall("completed", "read", {"completed": ["completed"]}),
    )
    said = type(called(1, "c"))(1, 1, parts, "tools")
    result = ToolResult(1, "completed", "completed", "it is completed")

    journal.append([said, result, _with(ToolCall("c", "read", {"x": deep}))], sync=False)
    journal.close()

    _, told, ended, nested = [each.record for each in read_journal(journal.path).entries]
    call = ToolCall("completed", "read", {"[secret]": ["[secret]"]})
    assert told == type(said)(1, 1, (Text("[secret]!"), signed, call), "tools")
    assert ended == ToolResult(1, "completed", "completed", "it is [secret]")
    assert "completed" not in repr(nested)

"""Forks: a copy up to the end of a turn, under a new id."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import orjson
import pytest

from actors.faults import NoFaults
from runtimes.models.base import Text
from runtimes.radian.journal_read import read_journal
from runtimes.radian.record_json import to_table
from runtimes.radian.records import (
    Compacted,
    Parent,
    SessionCreated,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.session_errors import (
    JournalError,
    NoSuchTurnEnd,
    SessionForeign,
    SessionMissing,
    SessionTaken,
)
from runtimes.radian.session_fork import fork_session
from runtimes.radian.sessions import Sessions
from tests.runtimes.radian.journals import (
    TS,
    asked,
    called,
    entries,
    make_session,
    said,
    turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from actors.faults import Verdict
    from runtimes.radian.records import Record


def fork(sessions: Sessions, workspace: Path, at: str | None = None) -> None:
    fork_session(sessions, "s1", "s2", workspace=str(workspace), version="0.2.0", ts=TS, at=at)


def test_a_fork_holds_the_records_up_to_the_cut_and_where_it_comes_from(tmp_path: Path) -> None:
    path = make_session(tmp_path, *turn(1, "a", "b"), *turn(2, "c", "d"), workspace=tmp_path)
    before = path.read_bytes()

    fork(Sessions(str(tmp_path)), tmp_path, "1")

    first = SessionCreated("s2", str(tmp_path), "0.2.0", Parent("s1", 5))
    forked = tmp_path / "s2.jsonl"
    assert read_journal(str(forked)).entries == tuple(entries(first, *turn(1, "a", "b")))
    assert stat.S_IMODE(forked.stat().st_mode) == 0o600
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["s1.jsonl", "s2.jsonl"]


def test_numbers_are_without_gaps_and_what_points_at_them_follows(tmp_path: Path) -> None:
    path = make_session(tmp_path, workspace=tmp_path)
    rest: list[Record] = [
        TurnStarted(1, "prompt"),
        asked(1, "x"),
        Compacted(1, "short", first_kept_seq=30),
        said(1, "ok"),
        TurnEnded(1, "Completed"),
    ]
    numbered = zip(range(20, 70, 10), entries(*rest), strict=True)
    tables = [{**to_table(each), "seq": seq} for seq, each in numbered]
    tables.insert(2, {"v": 1, "seq": 35, "ts": TS, "type": "Sang", "song": "la"})
    with path.open("ab") as stream:
        stream.write(b"".join(orjson.dumps(table) + b"\n" for table in tables))

    fork(Sessions(str(tmp_path)), tmp_path)

    forked = [orjson.loads(line) for line in (tmp_path / "s2.jsonl").read_bytes().splitlines()]
    assert [each["seq"] for each in forked] == [1, 2, 3, 4, 5, 6, 7]
    assert forked[3]["song"] == "la"
    assert forked[4]["first_kept_seq"] == 3
    assert forked[0]["parent"] == {"session_id": "s1", "seq": 60}


def test_side_files_are_linked(tmp_path: Path) -> None:
    sessions = Sessions(str(tmp_path))
    files = sessions.side_files("s1")
    image = files.keep_image(b"picture", "image/png")
    late = files.keep_image(b"later", "image/png")
    files.keep("out-1.txt", b"long output")
    make_session(
        tmp_path,
        TurnStarted(1, "prompt"),
        UserMessage(1, (image, Text("look"))),
        called(1, "c"),
        ToolResult(1, "c", "completed", "long…", full_output_file="out-1.txt"),
        TurnEnded(1, "Completed"),
        TurnStarted(2, "prompt"),
        UserMessage(2, (late,)),
        TurnEnded(2, "Completed"),
        workspace=tmp_path,
    )

    fork(sessions, tmp_path, "1")

    forked = sessions.side_files("s2")
    assert sorted(os.listdir(forked.folder)) == sorted([f"{image.digest}.png", "out-1.txt"])
    assert os.path.samefile(forked.path("out-1.txt"), files.path("out-1.txt"))
    assert forked.load_image(image) is not None


def test_a_fork_of_a_torn_journal_warns(tmp_path: Path) -> None:
    path = make_session(tmp_path, *turn(1, "a", "b"), workspace=tmp_path)
    path.write_bytes(path.read_bytes() + b'{"torn')

    warnings = fork_session(
        Sessions(str(tmp_path)), "s1", "s2", workspace=str(tmp_path), version="1", ts=TS
    )

    assert len(warnings) == 1
    assert read_journal(str(tmp_path / "s2.jsonl")).warnings == ()


def test_what_can_not_be_forked_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    sessions = Sessions(str(tmp_path / "sessions"))
    folder = tmp_path / "sessions"
    with pytest.raises(SessionMissing):
        fork(sessions, tmp_path)
    make_session(folder, *turn(1, "a", "b"), workspace=tmp_path)
    with pytest.raises(SessionForeign):
        fork(sessions, folder)
    with pytest.raises(NoSuchTurnEnd):
        fork(sessions, tmp_path, "2")
    assert os.listdir(folder) == ["s1.jsonl"]

    make_session(folder, workspace=tmp_path, session_id="s2")
    with pytest.raises(SessionTaken):
        fork(sessions, tmp_path)
    with pytest.raises(SessionTaken, match="differs by case"):
        fork_session(sessions, "s1", "S2", workspace=str(tmp_path), version="1", ts=TS)


class _NoRoom(NoFaults):
    def at(self, name: str, who: str = "") -> Verdict:
        if name == "journal.fork":
            raise OSError(28, os.strerror(28))
        return super().at(name, who)


def test_a_full_disk_leaves_no_fork(tmp_path: Path) -> None:
    make_session(tmp_path, *turn(1, "a", "b"), workspace=tmp_path)

    with pytest.raises(JournalError, match="No space left"):
        fork(Sessions(str(tmp_path), _NoRoom()), tmp_path)

    assert os.listdir(tmp_path) == ["s1.jsonl"]

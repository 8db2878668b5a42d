"""Finding, opening and listing sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from runtimes.models.base import Text
from runtimes.radian.records import (
    AssistantMessage,
    ImageFile,
    RunStarted,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.session_cut import cut_at, turn_ends
from runtimes.radian.session_errors import (
    BadSessionId,
    NoSuchTurnEnd,
    SessionForeign,
    SessionMissing,
    SessionTaken,
)
from runtimes.radian.session_lists import session_list
from runtimes.radian.sessions import GLANCES, Sessions, Summary, one_line, same_directory
from tests.runtimes.radian.journals import (
    NOW,
    TS,
    asked,
    created,
    entries,
    lines,
    make_session,
    turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runtimes.radian.records import Record


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def test_a_session_is_made_and_opened_by_its_id(folder: Path, workspace: Path) -> None:
    sessions = Sessions(str(folder))
    journal, _ = sessions.create(created(workspace), now=lambda: NOW)
    journal.close()

    again, loaded = sessions.open("s1", str(workspace))
    again.close()

    assert loaded.entries == tuple(entries(created(workspace)))
    assert sessions.ids() == ["s1"]


def test_an_id_that_differs_by_case_only_is_refused(folder: Path) -> None:
    make_session(folder, session_id="Abc")

    with pytest.raises(SessionTaken, match="session id aBC is taken: Abc differs by case only"):
        Sessions(str(folder)).create(created(session_id="aBC"))
    with pytest.raises(SessionTaken):
        Sessions(str(folder)).create(created(session_id="Abc"))


def test_an_id_never_leads_out_of_the_folder(folder: Path) -> None:
    with pytest.raises(BadSessionId):
        Sessions(str(folder)).open("../s1", "/")


def test_a_session_of_another_workspace_is_refused_by_name(
    folder: Path, workspace: Path, tmp_path: Path
) -> None:
    path = make_session(folder, workspace=workspace)
    before = path.read_bytes()
    sessions = Sessions(str(folder))

    for opening in (sessions.open, sessions.read):
        with pytest.raises(SessionForeign, match=f"session s1 belongs to workspace {workspace}"):
            opening("s1", str(tmp_path))

    assert path.read_bytes() == before


def test_a_workspace_is_a_directory_however_it_is_spelt(
    folder: Path, workspace: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace)
    make_session(folder, workspace=link, session_id="by-link")
    make_session(folder, workspace=workspace, session_id="by-path")
    sessions = Sessions(str(folder))

    for spelling in (workspace, link, workspace / ".." / "workspace"):
        sessions.read("by-link", str(spelling))
        sessions.read("by-path", str(spelling))
        assert len(sessions.list(str(spelling))) == 2


def test_a_workspace_that_is_gone_is_like_no_other(workspace: Path) -> None:
    assert not same_directory("/no/such/folder", "/no/such/folder")
    assert not same_directory(str(workspace), "nul\0byte")


@pytest.mark.parametrize("left", [None, b""])
def test_a_session_that_is_not_there_is_told(
    folder: Path, workspace: Path, left: bytes | None
) -> None:
    if left is not None:
        folder.mkdir()
        (folder / "s1.jsonl").write_bytes(left)

    with pytest.raises(SessionMissing):
        Sessions(str(folder)).read("s1", str(workspace))


# --- lists


def test_a_list_shows_this_workspaces_sessions_newest_first(
    folder: Path, workspace: Path, tmp_path: Path
) -> None:
    run = RunStarted("play", "m1", "workspace", trusted=False)
    make_session(folder, run, *turn(1, "older", "yes"), workspace=workspace, session_id="old")
    path = make_session(folder, workspace=workspace, session_id="new")
    later = lines([created(workspace, "new"), TurnStarted(1, "prompt"), asked(1, "x\n\x1b[2Jy")])
    path.write_bytes(later.replace(b"2026-11-30", b"2026-12-01"))
    make_session(folder, workspace=tmp_path, session_id="elsewhere")

    listed = Sessions(str(folder)).list(str(workspace))

    assert listed == [
        Summary("new", str(workspace), f"2026-12-01{TS[10:]}", f"2026-12-01{TS[10:]}", 1, "x [2Jy"),
        Summary("old", str(workspace), TS, TS, 1, "older", "play", "m1", "Completed"),
    ]


def test_a_list_passes_over_what_it_can_not_read(folder: Path, workspace: Path) -> None:
    path = make_session(folder, *turn(1, "hi", "hello"), workspace=workspace)
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(head + b"\nbroken\n" + rest[:-5])
    for name, content in (
        ("empty.jsonl", b""),
        ("strange.jsonl", b"{}\n[]\n"),
        ("binary.jsonl", b"\0\xff"),
        ("notes.txt", b"hi"),
        (".hidden.jsonl", path.read_bytes()),
        ("s1.jsonl.torn-7", path.read_bytes()),
    ):
        (folder / name).write_bytes(content)
    (folder / "folder.jsonl").mkdir()

    listed = Sessions(str(folder)).list(str(workspace))

    assert [(each.session_id, each.title, each.last_end) for each in listed] == [("s1", "hi", None)]


def test_without_a_folder_the_list_is_empty(folder: Path, workspace: Path) -> None:
    assert Sessions(str(folder)).list(str(workspace)) == []


def test_a_long_journal_is_listed_by_its_ends(folder: Path, workspace: Path) -> None:
    filler: list[Record] = [AssistantMessage(1, 1, (Text("x" * 10_000),), "stop")] * 20
    prompt = UserMessage(1, (ImageFile("a" * 64, "image/png"), Text("look " * 50)))
    records: list[Record] = [TurnStarted(1, "prompt"), prompt, *filler, *turn(2, "b", "c")]
    path = make_session(folder, *records, workspace=workspace)
    assert path.stat().st_size > 3 * GLANCES[0]

    (summary,) = Sessions(str(folder)).list(str(workspace))

    assert (summary.turns, summary.last_end) == (2, "Completed")
    assert summary.title == "look " * 15 + "look…"


def test_lines_longer_than_a_glance_are_looked_at_more_closely(
    folder: Path, workspace: Path
) -> None:
    long = AssistantMessage(1, 1, (Text("x" * 2 * GLANCES[0]),), "stop")
    records: list[Record] = [TurnStarted(1, "prompt"), asked(1, "y" * 2 * GLANCES[0]), long]
    make_session(folder, *records, workspace=workspace)

    (summary,) = Sessions(str(folder)).list(str(workspace))

    assert (summary.turns, len(summary.title)) == (1, 80)


def test_a_list_is_text_or_json(workspace: Path) -> None:
    one = Summary("s1", str(workspace), TS, TS, 1, "hi", "play", "m", "Completed")
    two = Summary("s2", str(workspace), TS, TS, 2, "")

    assert session_list([one, two], "text") == (
        "s1  2026-11-30 10:15Z  1 turn   hi\ns2  2026-11-30 10:15Z  2 turns\n"
    )
    as_lines = [orjson.loads(line) for line in session_list([one, two], "jsonl").splitlines()]
    whole = orjson.loads(session_list([one, two], "json"))
    assert whole == {"type": "SessionList", "schema": 1, "sessions": as_lines}
    assert as_lines[1] == {
        "type": "Session",
        "session_id": "s2",
        "workspace": str(workspace),
        "created": TS,
        "updated": TS,
        "turns": 2,
    }
    assert session_list([], "text") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb\tc", "a b c"), ("\x1b]0;x\x07y", "]0;x y"), ("x" * 9, "xxxx…"), ("", "")],
)
def test_a_line_holds_no_control_characters(text: str, line: str) -> None:
    assert one_line(text, 5 if len(line) == 5 and "…" in line else 80) == line


# --- where to cut


def test_turns_end_where_they_say_or_where_the_next_one_begins() -> None:
    journal = entries(
        *turn(1, "a", "b"), TurnStarted(2, "prompt"), asked(2, "x"), *turn(3, "c", "d"),
        TurnStarted(4, "prompt"), asked(4, "running"),
    )  # fmt: skip

    assert turn_ends(journal) == {1: 4, 2: 6, 3: 10}


@pytest.mark.parametrize(("at", "seq"), [(None, 8), ("2", 8), ("1", 4), ("seq:4", 4), ("seq:8", 8)])
def test_a_cut_is_at_the_end_of_a_turn(at: str | None, seq: int) -> None:
    assert cut_at(entries(*turn(1, "a", "b"), *turn(2, "c", "d")), at) == seq


@pytest.mark.parametrize("at", ["0", "3", "-1", "seq:3", "seq:", "seq:x", "", "1.0", "²"])
def test_anything_else_is_refused_and_says_where_turns_end(at: str) -> None:
    with pytest.raises(NoSuchTurnEnd, match=r"is not the end of a turn; .* 1 \(seq:4\)"):
        cut_at(entries(*turn(1, "a", "b")), at)


def test_a_session_without_a_turn_that_is_over_can_not_be_cut() -> None:
    with pytest.raises(NoSuchTurnEnd, match="no turn of the session is over"):
        cut_at(entries(created(), TurnStarted(1, "prompt")), None)

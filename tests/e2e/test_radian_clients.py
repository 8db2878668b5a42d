"""Clients that others wrote, on `radian acp`: the official Python SDK, and acpx from npm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import acp
import pytest

from tests.e2e import test_acpx
from tests.e2e.agents import RADIAN
from tests.e2e.test_acpx import PROGRAM, Acpx
from tests.e2e.test_python_sdk import connected, run

if TYPE_CHECKING:
    from pathlib import Path


def test_python_sdk_a_prompt_an_error_and_a_load_in_a_new_process(tmp_path: Path) -> None:
    async def steps() -> None:
        words = acp.text_block("hello")
        async with connected(RADIAN) as (connection, recorder, _):
            session = await connection.new_session(cwd=str(tmp_path))
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"
            assert answer.field_meta["radian"]["text"] == "ok"
            await recorder.until("ok")
            with pytest.raises(acp.RequestError) as refused:
                await connection.new_session(cwd=str(tmp_path))
            assert refused.value.code == -32600
        async with connected(RADIAN) as (connection, recorder, _):
            await connection.load_session(session_id=session.session_id, cwd=str(tmp_path))
            await recorder.until("ok")
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"
            await recorder.until("okok")

    run(steps())


@pytest.mark.slow
def test_acpx_a_session_of_several_turns_each_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not PROGRAM.is_file():
        pytest.skip("NOT TESTED: acpx is not installed (make acpx brings it)")
    monkeypatch.setattr(test_acpx, "CHANT", RADIAN)
    folder, home = tmp_path / "box", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    client = Acpx(folder, home)

    first, second = client.turn("hello"), client.turn("and again")

    for turn in (first, second):
        assert turn.result["stopReason"] == "end_turn"
        assert turn.result["_meta"]["radian"]["text"] == "ok"
        (loaded,) = turn.sent("session/load")
        assert loaded["params"]["sessionId"] == client.session
        assert turn.sent("session/new") == []
    assert len(set(client.pids)) == 3

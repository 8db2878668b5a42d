"""Decisions of the page behind `radian`, held where no test nearer to the code holds them.

Sentences of the seed have an index, `runtimes/radian/acp/seed_index.py`; what it does not hold is
here.  The page is `spec/radian.md` of the shared data; its tests lie beside this file, in
`test_radian_flags`, `test_radian_records`, `test_radian_rules` and `test_radian_models`, and begin
with the section that they stand for.  Its other decisions are held by (in `runtimes/radian`, if
nothing else is said):

1.1  same flags and defaults for exec and acp: `acp/test_flags`, `test_flags`; what is refused, and
     with which code: `test_exit_table`; trust for one process: `test_exec_project`; later MCP
     entries win: `test_exec_mcp`; the log: `test_log_flags`
1.2  -p, pipes, --yes: `test_exec`; what does not go together, --out, --force, other workspaces:
     `test_exec_printing`; list, search, export, fork: `test_sessions`, `test_session_search`,
     `test_session_export`, `test_session_fork`; the line prompt: `test_line_prompt`
1.3  every row: `test_exit_table`; several turns: `test_line_prompt_wakes`; a second SIGINT:
     `reported/test_exec`; jobs at the end: `test_exec_jobs`
2.3  values: `test_fold`, `test_subagent_records`
2.4  writing, reading, healing: `test_journal`, `test_journal_read`, `test_transcript`,
     `reported/test_sessions`; each type and key: `test_record_json`, `test_journal_guide`
3    `test_fold`, `acp/test_meta`, `acp/test_wakes`, `test_exec_compaction`
4.1  `test_permissions`, `test_wrapped_commands`, `test_shell_words`, `acp/test_questions`
4.3  `tools/test_sandbox`, `tools/test_shell`
4.4  `test_trust`, `test_hook_traps`, `test_project_config`
4.5  `test_exec_hooks`, `test_hook_answers`, `test_hook_run`
5.1  `test_unused_config`, `../models/test_config_table`, `../models/test_credentials`, the script:
     `../models/test_scripted`
5.2  `../models/test_streams`, `../models/test_recordings`
5.3  `../models/test_usage`, `../models/test_pricing`
5.4  `../models/test_provider_faults`, `../models/test_calling`, `acp/test_turns`
5.5  `test_turn_state`, `acp/test_meta`
5.6  `tools/`, `test_tool_round`, `acp/test_shown`
6    `acp/test_start_up`, `../models/test_start_up`, `bench/`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.radian_page import PRICED, talker
from tests.e2e.talk import HELLO
from tests.e2e.wire import line
from tests.runtimes.radian.acp.client import ONE, Client, call, new, refusal
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return talker(tmp_path)


NOT_SERVED = {
    "authenticate",
    "logout",
    "session/resume",
    "session/list",
    "session/delete",
    "session/close",
    "session/set_mode",
    "session/set_config_option",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
}
"""The requests of ACP v1 that the page does not name."""


def test_seed_exactly_the_methods_of_the_page_are_served(box: Box) -> None:
    unstable = {"session/set_model", "session/fork", "session/inject", "_radian/anything", ""}
    with Client(box) as client:
        client.open()
        params = {"sessionId": client.session, "cwd": str(box.workspace), "mcpServers": []}
        codes = {
            name: client.call(name, params).get("error", {}).get("code")
            for name in sorted(NOT_SERVED | unstable)
        }

        assert set(codes.values()) == {-32601}, codes
        assert client.turn("still there?").stop_reason == "end_turn"


def test_seed_the_short_form_of_the_prompts_flag_is_absent_too(box: Box) -> None:
    run = box.run("acp", "-p", "-")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("radian acp: no such flag: -p")


def test_seed_of_requests_that_come_at_once_one_opens_the_session(box: Box) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    params = {"cwd": str(box.workspace), "mcpServers": []}
    with Client(box) as client:
        client.initialize()
        ids = [
            client.request("session/new", {**params, "cwd": "/no/such/place"}),
            client.request("session/new", params),
            client.request("session/new", params),
            client.request("session/load", {**params, "sessionId": "s1"}),
        ]
        answers = client.answers_to(*ids)
        bad, first, second, load = (answers[each] for each in ids)

        assert refusal(bad)[0] == -32602
        assert set(first["result"]) == {"sessionId"}
        assert [ONE in refusal(each)[1] for each in (second, load)] == [True, True]
    assert len(list(box.home.glob("sessions/*.jsonl"))) == 2


def kept(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all that lies in a folder, with sizes and times of change."""
    found = {str(path): path.stat() for path in folder.rglob("*")}
    return {path: (each.st_size, each.st_mtime_ns) for path, each in found.items()}


@pytest.mark.parametrize("flags", [(), ("--resume", "s1")], ids=["load", "new and load"])
def test_seed_a_session_of_another_workspace_is_refused_and_nothing_at_all_is_written(
    box: Box, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = kept(tmp_path)
    with Client(box, *flags) as client:
        refused = [client.load("s1", elsewhere).answer]
        refused += [new(client, elsewhere)] if flags else []

        said = f"session s1 belongs to workspace {box.workspace}, not to {elsewhere}"
        assert [refusal(each) for each in refused] == [(-32602, said)] * len(refused)
        assert kept(tmp_path) == before
        assert client.load("s1").answer["result"] == {}


@pytest.mark.parametrize("spent", ["cost", "time"])
def test_seed_a_spent_budget_is_a_refusal_without_an_error(box: Box, spent: str) -> None:
    box.configure(PRICED)
    tokens = {"input_tokens": 900_000, "output_tokens": 200_000}
    costly = {"text": "Look.", "tool_calls": [call("todo", items=[])], "usage": tokens}
    slow = {"text": "slow " * 500, "chunk": 5, "delay_ms": 20}
    flags = {"cost": ("--max-cost", "1"), "time": ("--turn-timeout", "0.5")}[spent]
    box.play(*([costly, costly] if spent == "cost" else [slow]))
    with Client(box, *flags) as client:
        session = client.open()
        turn = client.turn("go")

        assert (turn.stop_reason, box.journal(session)[-1]["reason"]) == ("refusal", spent)
    meta = turn.answer["result"]["_meta"]["radian"]
    assert set(meta) == {"cost", "text", "metrics"}
    assert meta["text"] == "Look." if spent == "cost" else meta["text"].startswith("slow ")


def test_seed_a_missing_key_is_a_refusal_whose_error_says_what_to_do(box: Box) -> None:
    box.configure('\n[providers.far]\nkind = "anthropic"\ndefault_model = "m"\n')
    with Client(box, "--provider", "far") as client:
        client.open()
        turn = client.turn("go")

    assert turn.stop_reason == "refusal"
    error = turn.answer["result"]["_meta"]["radian"]["error"]
    assert error == "no key is stored for far; store one with: radian login far"


def test_seed_the_trust_question_is_not_asked_at_a_terminal_either(box: Box) -> None:
    box.home.joinpath("trust.json").unlink()
    box.workspace.joinpath("AGENTS.md").write_text("Be brief.")
    hello = {"id": 1, "method": "initialize", "params": HELLO}
    params = {"cwd": str(box.workspace), "mcpServers": []}
    with at_terminal(box, command="acp") as terminal:
        terminal.type(line(**hello).decode())
        terminal.wait_for('"agentCapabilities"')
        terminal.type(line(id=2, method="session/new", params=params).decode())
        shown = terminal.wait_for('"result":{"sessionId"')
        terminal.type("\x04")
        assert terminal.exit_code() == 0

    assert "is not trusted" in shown
    assert "[y/N]" not in shown
    assert not box.home.joinpath("trust.json").exists()


@pytest.mark.parametrize("other", [{}, {"multiple": True}], ids=["text", "several"])
def test_seed_no_question_is_put_where_another_of_the_call_can_not_be(
    box: Box, other: dict[str, Any]
) -> None:
    options = [{"label": "red"}, {"label": "blue"}]
    last = {"question": "Why?", **other, **({"options": options} if other else {})}
    questions = [{"question": "Which colour?", "options": options}, last]
    box.play({"tool_calls": [call("ask_user", questions=questions)]}, {"text": "Then not."})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("go")

    # Nobody was asked: no answer that a person gives is lost with the call.
    assert (turn.stop_reason, turn.text) == ("end_turn", "Then not.")
    (result,) = [each for each in box.journal(session) if each["type"] == "ToolResult"]
    assert result["status"] == "failed"

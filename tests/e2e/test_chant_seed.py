"""Every sentence of the page that `chant acp` was made from has a test, and those that had none."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents import CHANT, run_op
from tests.e2e.chant_seed import SENTENCES
from tests.e2e.talk import Talk, chunk_text
from tests.seed import sentences
from tests.shared import ROOT, shared_path

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [(heading, key) for heading, rows in SENTENCES.items() for key in rows]


def test_every_sentence_has_a_row_and_every_row_a_sentence() -> None:
    page = shared_path("spec", "chant-acp.seed.txt").read_text(encoding="utf-8")
    asked = {(each.heading, each.fingerprint): each.text for each in sentences(page)}

    assert {key: text for key, text in asked.items() if key not in ROWS} == {}
    assert set(ROWS) - asked.keys() == set()


@pytest.mark.parametrize(("heading", "key"), ROWS)
def test_every_test_that_a_row_names_exists(heading: str, key: str) -> None:
    row = SENTENCES[heading][key]
    for name in () if isinstance(row, str) else row:
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), name


def test_no_host_is_known_by_its_name() -> None:
    for folder in ("actors", "ops", "protocol", "runtimes"):
        for path in (ROOT / folder).rglob("*.py"):
            assert "fountain" not in path.read_text(encoding="utf-8").lower(), path


def test_serve_is_the_same_thing_spelled_out(tmp_path: Path) -> None:
    CHANT.prepare(tmp_path)
    said: list[object] = []
    for command in (CHANT.command, (*CHANT.command, "serve")):
        with Talk(CHANT, tmp_path, command=command) as talk:
            said.append(talk.initialize())
            talk.new_session()
            assert "hi" in talk.turn(run_op("sh", "echo hi")).text

    assert said[0] == said[1]


@pytest.mark.parametrize(
    "words", ["chant run sh --env local --param script=true", "chant lifecycle diff --live",
              "chant build"],
)  # fmt: skip
def test_lines_of_a_terminal_are_prompts(chant: Talk, words: str) -> None:
    chant.open()
    turn = chant.turn(words)
    typed = subprocess.run(
        [CHANT.command[0], *words.split()[1:]], cwd=chant.folder, capture_output=True, check=False
    )

    assert turn.stop_reason == "end_turn", turn.text
    assert (typed.returncode, typed.stderr) == (0, b"")


def test_prompts_take_the_verbs_that_help_shows(chant: Talk) -> None:
    chant.initialize()
    params = {"cwd": str(chant.folder), "mcpServers": []}
    chant.session = chant.call("session/new", params)["result"]["sessionId"]
    commands = chant.next()["params"]["update"]["availableCommands"]
    shown = subprocess.run(
        [CHANT.command[0], "--help"], capture_output=True, text=True, check=True
    ).stdout

    # A verb is one to three words in front of two spaces, or of what it takes.
    verbs = set(re.findall(r"^  ([a-z]+(?: [a-z]+)*)(?: [A-Z\[]|  )", shown, re.MULTILINE))
    assert {"run", "run list", "workspace points answer", "acp serve"} <= verbs
    assert {command["name"] for command in commands} <= verbs
    # Each of them is known to a prompt, and no other word is.
    refused = chant.turn("no-such-verb").text
    known = refused.partition("known: ")[2].splitlines()[0].split(";")[0].split(", ")
    assert known == sorted({verb.split()[0] for verb in verbs})
    for verb in sorted(verbs):
        assert "is not a verb" not in chant.turn(f"{verb} --help").text


def test_a_run_is_shown_step_by_step_and_its_record_comes_last(chant: Talk) -> None:
    chant.open()
    turn = chant.turn(run_op("sh", "echo out; echo err >&2"))

    (call,) = turn.updates("tool_call")
    assert (call["kind"], call["title"], call["status"]) == ("execute", "Work / shell", "pending")
    assert call["rawInput"] == {"cmd": {"param": "script"}}
    states = [each["status"] for each in turn.updates("tool_call_update") if "status" in each]
    assert states == ["in_progress", "completed"]
    *streamed, last = turn.updates("agent_message_chunk")
    text = "".join(each["content"]["text"] for each in streamed)
    assert ("out" in text, "err" in text) == (True, True)
    assert json.loads(last["content"]["text"])["status"] == "ok"
    assert chunk_text(turn.messages[-1]), "nothing follows the record"


def test_what_a_step_prints_comes_as_it_is_and_the_ledgers_own_line_comes_last(chant: Talk) -> None:
    odd = "a\\tb\\r\\n\\033[31mred\\033[0m\\000\\007 token=sk-0123456789abcdef é\\n"
    chant.open()
    turn = chant.turn(run_op("sh", f"printf '{odd}'"))
    words = ["git", "-C", str(chant.folder), "show", "chant/lifecycle:local/runs/sh.jsonl"]
    kept = subprocess.run(words, capture_output=True, check=True).stdout.decode()

    *streamed, last = turn.updates("agent_message_chunk")
    text = "".join(each["content"]["text"] for each in streamed)
    assert text == "a\tb\r\n\x1b[31mred\x1b[0m\0\a token=sk-0123456789abcdef é\n"
    assert last["content"]["text"] == kept.splitlines(keepends=True)[-1]


PLANNED = """\
name = "planned"

[[phases]]
name = "One"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "true" }
  [[phases.steps]]
  fn = "exec"
  args = { argv = ["true"] }

[[phases]]
name = "Two"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "exit 4" }
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "touch never" }

[[phases]]
name = "Three"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "touch never" }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "true" }
"""


def test_a_plan_comes_first_and_every_entry_ends_b102(chant: Talk) -> None:
    (chant.folder / "ops" / "planned.op.toml").write_text(PLANNED, encoding="utf-8")
    chant.open()
    turn = chant.turn("run planned")

    calls = turn.updates("tool_call")
    assert [(each["title"], each["kind"], each["status"]) for each in calls] == [
        ("One / shell", "execute", "pending"),
        ("One / exec", "execute", "pending"),
        ("Two / shell", "execute", "pending"),
        ("Two / shell", "execute", "pending"),
        ("Three / shell", "execute", "pending"),
        ("Undo / shell", "execute", "in_progress"),
    ]
    inputs = [{"cmd": "true"}, {"argv": ["true"]}, {"cmd": "exit 4"}, {"cmd": "touch never"}]
    assert [each["rawInput"] for each in calls] == [
        *inputs,
        {"cmd": "touch never"},
        {"cmd": "true"},
    ]
    # The plan before anything starts; what is none of it opens its call once the run has failed.
    kinds = [each["params"]["update"]["sessionUpdate"] for each in turn.messages]
    assert kinds[:6] == ["tool_call"] * 5 + ["tool_call_update"]
    ends = {each["toolCallId"]: [""] for each in calls}
    for each in turn.updates("tool_call_update"):
        ends[each["toolCallId"]].append(each["status"])
    assert [each[-1] for each in ends.values()] == [
        "completed", "completed", "failed", "completed", "completed", "completed",
    ]  # fmt: skip
    undo = calls[-1]["toolCallId"]
    ids = [each["params"]["update"].get("toolCallId") for each in turn.messages]
    assert all(ids.index(undo) > ids.index(each["toolCallId"]) for each in calls[:-1])
    assert [at for at, each in enumerate(ids) if each][-2:] == [
        ids.index(undo),
        ids.index(undo) + 1,
    ]
    assert json.loads(chunk_text(turn.messages[-1]))["status"] == "fail"
    assert not (chant.folder / "never").exists()


def test_another_verb_streams_json(chant: Talk) -> None:
    chant.open()
    turn = chant.turn("list")
    typed = subprocess.run(
        [CHANT.command[0], "list", "--json"],
        cwd=chant.folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert json.loads(turn.text) == json.loads(typed)

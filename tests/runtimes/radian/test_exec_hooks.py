"""Hooks through the real command: what they are given, and what their answers change."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.box import Box, make_box, objects
from tests.runtimes.radian.hooking import Hooks, answer

if TYPE_CHECKING:
    from pathlib import Path

WRITE = {"tool_calls": [{"name": "write", "input": {"path": "a.txt", "content": "one\n"}}]}
SAYS = ("exec", "-p", "go", "--session-id", "s1", "--output", "jsonl")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "ok"}, then="repeat-last")
    return box


@pytest.fixture
def hooks(box: Box, tmp_path: Path) -> Hooks:
    return Hooks(box.home, tmp_path / "notes.jsonl")


def of_type(stdout: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in objects(stdout) if each["type"] == kind]


def from_hooks(box: Box) -> list[str]:
    messages = [each for each in box.journal("s1") if each["type"] == "UserMessage"]
    told = [each for each in messages if each.get("source") == "hook"]
    return [part["text"] for each in told for part in each["content"]]


def test_every_event_of_a_turn_runs_its_hooks_in_order_with_its_facts(
    box: Box, hooks: Hooks
) -> None:
    box.play(WRITE, {"text": "done"})
    events = ("session_start", "user_prompt", "before_tool", "after_tool", "before_stop")
    for event in (*events, "session_end"):
        box.configure(hooks.add(event))

    run = box.run(*SAYS)

    notes = hooks.noted()
    assert run.returncode == 0, run.stderr
    assert [note["event"] for note in notes] == [*events, "session_end"]
    start, prompt, before, after, stop, end = notes
    assert (start["schema"], start["session_id"], start["resumed"]) == (1, "s1", False)
    assert prompt["prompt"] == "go"
    assert (before["tool"], before["input"]) == ("write", {"path": "a.txt", "content": "one\n"})
    assert (after["call_id"], after["status"]) == (before["call_id"], "completed")
    assert "a.txt" in after["output"]
    assert (stop["text"], stop["sent_on"]) == ("done", 0)
    assert "turn" not in end
    assert {note["cwd"] for note in notes} == {os.path.realpath(box.workspace)}


def test_a_veto_is_a_denied_call_whatever_else_allows_it(box: Box, hooks: Hooks) -> None:
    box.play(WRITE, {"text": "done"})
    box.configure(
        hooks.add(
            "before_tool",
            "print('no writing today', file=sys.stderr); sys.exit(2)",
        )
    )

    run = box.run(*SAYS, "--yes", "--allow", "write(**)", "--profile", "full")

    (permission,) = of_type(run.stdout, "Permission")
    assert (permission["decision"], permission["source"]) == ("deny", "hook")
    assert "no writing today" in permission["reason"]
    assert not (box.workspace / "a.txt").exists()
    assert of_type(run.stdout, "Result")[0]["run_metrics"]["tool_denials"] == 1


def test_a_rewritten_input_is_what_runs_and_the_model_is_told(box: Box, hooks: Hooks) -> None:
    box.play(WRITE, {"text": "done"})
    box.configure(
        hooks.add(
            "before_tool", answer(decision="allow", input={"path": "b.txt", "content": "two"})
        )
    )

    run = box.run(*SAYS)

    assert (run.returncode, (box.workspace / "b.txt").read_text()) == (0, "two")
    assert not (box.workspace / "a.txt").exists()
    assert of_type(run.stdout, "ToolCall")[0]["input"]["path"] == "b.txt"
    (told,) = from_hooks(box)
    assert '"path":"b.txt"' in told


def test_a_rewritten_input_is_checked_like_the_models(box: Box, hooks: Hooks) -> None:
    box.play(WRITE, {"text": "done"})
    box.configure(hooks.add("before_tool", answer(decision="allow", input={"path": 7})))

    run = box.run(*SAYS)

    (result,) = of_type(run.stdout, "ToolResult")
    assert (result["status"], result["reason"]) == ("failed", "invalid arguments")
    assert not (box.workspace / "a.txt").exists()


def test_a_persons_hook_judges_what_the_projects_hook_made_of_a_call(
    box: Box, hooks: Hooks
) -> None:
    box.play(WRITE, {"text": "done"})
    box.configure(hooks.add("before_tool", name="mine"))
    folder = box.workspace / ".radian"
    folder.mkdir()
    theirs = Hooks(folder, hooks.notes)
    table = theirs.add(
        "before_tool", answer(decision="allow", input={"path": "evil", "content": ""}), name="its"
    )
    (folder / "config.toml").write_text(table)

    run = box.run(*SAYS)

    assert run.returncode == 0, run.stderr
    first, second = hooks.noted()
    assert (first["name"], second["name"]) == ("its", "mine")
    assert (first["input"]["path"], second["input"]["path"]) == ("a.txt", "evil")


def test_context_reaches_the_model_and_a_message_reaches_people(box: Box, hooks: Hooks) -> None:
    box.configure(
        hooks.add(
            "user_prompt", answer(decision="allow", context="It is Monday.", message="told it")
        )
    )

    run = box.run(*SAYS)

    assert from_hooks(box) == ["It is Monday."]
    (warning,) = of_type(run.stdout, "Warning")
    assert warning["message"].endswith("user_prompt.py: told it")


def test_a_withheld_result_is_failed_and_its_output_is_nowhere(box: Box, hooks: Hooks) -> None:
    (box.workspace / "a.txt").write_text("the launch code is 0000\n")
    box.play({"tool_calls": [{"name": "read", "input": {"path": "a.txt"}}]}, {"text": "done"})
    box.configure(hooks.add("after_tool", answer(decision="deny", reason="it holds a code")))

    run = box.run(*SAYS)

    (result,) = of_type(run.stdout, "ToolResult")
    assert (result["status"], result["reason"]) == ("failed", "withheld")
    assert "it holds a code" in result["output"]
    assert "0000" not in run.stdout + str(box.journal("s1"))


def test_a_denied_prompt_ends_the_turn_before_anything_is_recorded_or_called(
    box: Box, hooks: Hooks
) -> None:
    box.configure(hooks.add("user_prompt", answer(decision="deny", reason="no such words")))

    run = box.run("exec", "-p", "secret words", "--session-id", "s1", "--output", "jsonl")

    (result,) = of_type(run.stdout, "Result")
    assert (run.returncode, result["status"], result["stop_reason"]) == (5, "failed", "refusal")
    assert "no such words" in result["error"]
    assert box.journal("s1")[-1]["origin"] == "hook"
    assert "secret words" not in str(box.journal("s1"))
    assert result["run_metrics"]["model_calls"] == 0


@pytest.mark.parametrize("event", ["session_start", "user_prompt", "before_stop"])
@pytest.mark.parametrize(
    "fails",
    ["sys.exit(1)", "print('hello')", answer(decision="perhaps"), answer(verdict="allow")],
    ids=["exit code", "stray print", "unknown decision", "unknown key"],
)
def test_a_required_hook_that_fails_ends_the_turn(
    box: Box, hooks: Hooks, event: str, fails: str
) -> None:
    box.configure(hooks.add(event, fails, required=True))

    run = box.run(*SAYS)

    (result,) = of_type(run.stdout, "Result")
    assert (run.returncode, result["status"]) == (5, "failed")
    assert f"the required hook {event}.py failed" in result["error"]
    assert box.journal("s1")[-1]["origin"] == "hook"


def test_a_required_hook_that_fails_denies_a_call_and_withholds_a_result(
    box: Box, hooks: Hooks
) -> None:
    box.play(WRITE, {"tool_calls": [{"name": "glob", "input": {"pattern": "*"}}]}, {"text": "done"})
    judge = "sys.exit(9) if given['tool'] == 'write' else None"
    box.configure(hooks.add("before_tool", judge, required=True))
    box.configure(hooks.add("after_tool", "os.kill(os.getpid(), 9)", required=True))

    run = box.run(*SAYS)

    denied, withheld = of_type(run.stdout, "ToolResult")
    assert (run.returncode, denied["reason"], withheld["reason"]) == (0, "denied", "withheld")
    assert "exit code 9" in denied["output"]
    assert "exit code 137" in withheld["output"]
    assert not (box.workspace / "a.txt").exists()


def test_other_hooks_that_fail_are_warned_of_and_passed_over(box: Box, hooks: Hooks) -> None:
    box.play(WRITE, {"text": "done"})
    for event in ("session_start", "user_prompt", "before_tool", "after_tool", "before_stop"):
        box.configure(hooks.add(event, "print('hello'); sys.exit(3)"))
    box.configure('[[hooks]]\nevent = "user_prompt"\ncommand = ["no-such-program"]\n')

    run = box.run(*SAYS)

    warnings = [each["message"] for each in of_type(run.stdout, "Warning")]
    assert (run.returncode, len(warnings)) == (0, 6)
    assert sum("exit code 3" in each for each in warnings) == 5
    assert sum("program not found" in each for each in warnings) == 1
    assert (box.workspace / "a.txt").exists()


def test_a_hook_that_takes_too_long_is_ended_with_all_it_started(box: Box, hooks: Hooks) -> None:
    stuck = "import subprocess; subprocess.run(['sleep', '600'])"
    box.configure(hooks.add("user_prompt", stuck, required=True, timeout="300ms"))

    run = box.run(*SAYS)

    assert run.returncode == 5
    assert "timed out" in of_type(run.stdout, "Result")[0]["error"]


def test_before_stop_sends_a_turn_on_three_times_and_no_more(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("before_stop", answer(decision="deny", reason="run the tests first")))

    run = box.run(*SAYS)

    (result,) = of_type(run.stdout, "Result")
    assert (run.returncode, result["run_metrics"]["model_calls"]) == (0, 4)
    assert [note["sent_on"] for note in hooks.noted()] == [0, 1, 2, 3]
    assert len(from_hooks(box)) == 3
    assert "3 times" in of_type(run.stdout, "Warning")[0]["message"]


def test_a_required_before_stop_that_never_agrees_fails_the_turn(box: Box, hooks: Hooks) -> None:
    box.configure(
        hooks.add("before_stop", answer(decision="deny", reason="tests are red"), required=True)
    )

    run = box.run(*SAYS)

    (result,) = of_type(run.stdout, "Result")
    assert (run.returncode, "tests are red" in result["error"]) == (5, True)
    assert result["text"] == "ok"


def test_sending_on_spends_the_turns_own_calls(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("before_stop", answer(decision="deny", reason="more")))

    run = box.run(*SAYS, "--max-model-calls", "2")

    (result,) = of_type(run.stdout, "Result")
    assert (run.returncode, result["reason"]) == (4, "model_calls")


def test_hooks_get_no_secrets(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("user_prompt"))
    environ = {"OPENAI_API_KEY": "sk-0123456789abcdef", "PLAIN": "word"}

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        box.run(*SAYS)

    (note,) = hooks.noted()
    assert note["env"]["PLAIN"] == "word"
    assert "sk-0123456789abcdef" not in str(note)


def test_what_a_hook_prints_of_a_secret_is_masked(box: Box, hooks: Hooks) -> None:
    spilled = "print('sk-0123456789abcdef', file=sys.stderr); sys.exit(2)"
    box.configure('credential_env = "SOME_WORD"\n' + hooks.add("user_prompt", spilled))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_WORD", "sk-0123456789abcdef")
        run = box.run(*SAYS)

    assert run.returncode == 5
    assert "sk-0123456789abcdef" not in run.stdout + run.stderr + str(box.journal("s1"))


def test_a_cancel_ends_a_hook_and_the_turn(box: Box, hooks: Hooks) -> None:
    running = box.home.parent / "running"
    wait = f"open({str(running)!r}, 'w').close(); import time; time.sleep(600)"
    os.mkfifo(running)
    box.configure(hooks.add("user_prompt", wait))

    process = box.start(*SAYS)
    with open(running):  # until the hook is there
        process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)

    assert process.returncode == 130
    assert of_type(stdout, "Result")[0]["status"] == "interrupted"
    assert of_type(stdout, "Warning") == []


def test_the_last_hooks_speak_on_stderr_after_the_result(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("session_end", answer(decision="allow", message="swept")))

    run = box.run(*SAYS)

    assert objects(run.stdout)[-1]["type"] == "Result"
    assert "session_end.py: swept" in run.stderr


def test_a_session_starts_once_a_process_and_says_that_it_goes_on(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("session_start"))

    box.run(*SAYS)
    box.run("exec", "-p", "more", "--resume", "s1")

    assert [note["resumed"] for note in hooks.noted()] == [False, True]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('event = "before_tol"\ncommand = ["x"]', "event must be one of"),
        ('event = "before_tool"\ncommand = "x"', "command must be a list of words"),
        ('event = "before_tool"\ncommand = ["x"]\ntime_out = "1s"', "did you mean 'timeout'"),
        ('event = "before_tool"\ncommand = ["x"]\ntimeout = "soon"', "timeout"),
        ('event = "session_end"\ncommand = ["x"]\nrequired = true', "can't be required"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(box: Box, table: str, says: str) -> None:
    box.configure(f"[[hooks]]\n{table}\n")

    run = box.run("exec", "-p", "x")

    assert (run.returncode, says in run.stderr) == (2, True), run.stderr
    assert "config.toml: hooks[0]" in run.stderr


def test_the_calls_of_a_subagent_are_judged_like_the_turns_own(box: Box, hooks: Hooks) -> None:
    task = {"tool_calls": [{"name": "subagent", "input": {"prompt": "write it"}}]}
    box.play(task, WRITE, {"text": "it did not work"}, {"text": "done"})
    denies = "print('not by you', file=sys.stderr); sys.exit(2 if given['tool'] == 'write' else 0)"
    box.configure(hooks.add("before_tool", denies) + hooks.add("after_tool"))

    run = box.run(*SAYS)

    assert (run.returncode, of_type(run.stdout, "Result")[0]["text"]) == (0, "done"), run.stderr
    assert [note["tool"] for note in hooks.noted("before_tool")] == ["subagent", "write"]
    (after,) = hooks.noted("after_tool")
    assert (after["tool"], "it did not work" in after["output"]) == ("subagent", True)
    assert not (box.workspace / "a.txt").exists()

"""MCP servers of `radian exec`: from the configuration, the flags and a trusted project."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.actors.stepping import MARK, survivors, wait_gone
from tests.runtimes.radian.box import Box, make_box, objects
from tests.runtimes.radian.mcp.serving import STUB, log_of
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid4().hex
    yield name
    wait_gone(name)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def table(mark: str, mode: str = "good", server: str = "db", more: str = "") -> str:
    return f"""
[mcp_servers.{server}]
command = {json.dumps(sys.executable)}
args = [{json.dumps(STUB)}, "{mode}"]
env = {{ {MARK} = "{mark}" }}
{more}
"""


def flag(mark: str, mode: str = "good", server: str = "db", **env: str) -> str:
    entry = {"command": sys.executable, "args": [STUB, mode], "env": {MARK: mark, **env}}
    return json.dumps({"mcpServers": {server: entry}})


def results(stdout: str) -> list[tuple[str, str]]:
    said = objects(stdout)
    return [(each["status"], each["output"]) for each in said if each["type"] == "ToolResult"]


def test_the_model_calls_a_tool_of_a_configured_server(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play({"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."})

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    said = objects(run.stdout)
    assert (run.returncode, run.stderr) == (0, "")
    assert said[0]["mcp_servers"] == ["db"]
    (shown,) = [each for each in said if each["type"] == "ToolCall"]
    assert (shown["title"], shown["kind"]) == ("db: Say it again", "other")
    assert results(run.stdout) == [("completed", "hi")]
    assert survivors(mark) == []


def test_without_servers_nothing_of_it_is_told(box: Box) -> None:
    box.play({"text": "Done."})

    run = box.run("exec", "-p", "go", "--output", "jsonl")

    assert "mcp_servers" not in objects(run.stdout)[0]


def test_a_flag_wins_over_the_configuration_with_one_warning(box: Box, mark: str) -> None:
    box.configure(table(mark, "exit"))
    box.play({"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."})

    run = box.run("exec", "-p", "go", "--profile", "full", "--mcp-config", flag(mark))

    assert run.returncode == 0
    assert run.stderr.splitlines()[0] == (
        "warning: MCP server 'db' is configured more than once; the entry of --mcp-config is used"
    )
    assert run.stderr.count("warning") == 1


def test_nobody_there_denies_and_a_rule_allows(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play(
        {"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."}, then="repeat-last"
    )

    denied = box.run("exec", "-p", "go", "--output", "jsonl")
    box.play(
        {"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."}, then="repeat-last"
    )
    allowed = box.run("exec", "-p", "go", "--output", "jsonl", "--allow", "mcp(db/*)")
    box.play(
        {"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."}, then="repeat-last"
    )
    forbidden = box.run("exec", "-p", "go", "--output", "jsonl", "--yes", "--deny", "mcp(db/echo)")

    assert "needs a person's consent" in results(denied.stdout)[0][1]
    assert results(allowed.stdout) == [("completed", "hi")]
    assert "denied by the flag rule 'mcp(db/echo)'" in results(forbidden.stdout)[0][1]


def test_what_a_tool_answers_is_bounded_and_all_of_it_is_in_a_file(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play(
        {"tool_calls": [call("mcp__db__big"), call("mcp__db__fail"), call("mcp__db__structured")]},
        {"text": "Done."},
    )

    run = box.run(
        "exec", "-p", "go", "--output", "jsonl", "--profile", "full", "--session-id", "s1"
    )

    big, failed, structured = results(run.stdout)
    assert big[0] == "completed"
    assert "bytes left out; all of it is in " in big[1]
    (kept,) = (box.home / "sessions" / "s1.files").glob("*.txt")
    assert kept.read_text() == "x" * 100_000
    assert failed == ("failed", "it did not work")
    assert json.loads(structured[1]) == {"rows": [1, 2]}


def test_a_secret_of_an_entry_is_shown_nowhere(box: Box, mark: str) -> None:
    box.play({"tool_calls": [call("mcp__db__env")]}, {"text": "Done."})

    run = box.run(
        "exec", "-p", "go", "--output", "jsonl", "--profile", "full", "--session-id", "s1",
        "--mcp-config", flag(mark, DB_PASSWORD="hunter2hunter2", DB_NAME="box"),
    )  # fmt: skip

    (result,) = results(run.stdout)
    assert '"DB_PASSWORD": "[secret]"' in result[1]
    assert '"DB_NAME": "box"' in result[1]
    assert "RADIAN_HOME" in result[1]
    assert "hunter2" not in run.stdout + run.stderr
    assert "hunter2" not in (box.home / "sessions" / "s1.jsonl").read_text()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_server_runs_where_an_untrusted_project_can_not_slip_it_something(
    box: Box, mark: str, *, trusted: bool
) -> None:
    box.trust(trusted=trusted)
    (box.workspace / "json.py").write_text("open('trapped', 'w')")
    entry = {"command": sys.executable, "args": ["-c", "import json"], "env": {MARK: mark}}
    trap = json.dumps({"mcpServers": {"trap": entry}})
    box.play({"tool_calls": [call("mcp__db__env")]}, {"text": "Done."})

    run = box.run(
        "exec", "-p", "go", "--output", "jsonl", "--profile", "full", "--session-id", "s1",
        "--mcp-config", flag(mark), "--mcp-config", trap,
    )  # fmt: skip

    (result,) = results(run.stdout)
    folder = box.workspace if trusted else box.home / "sessions" / "s1.files"
    assert f'"cwd": "{folder}"' in result[1]
    assert (box.workspace / "trapped").exists() is trusted


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_starts_servers_only_where_it_is_trusted(
    box: Box, mark: str, *, trusted: bool
) -> None:
    box.trust(trusted=trusted)
    log = box.home / "log"
    (box.workspace / ".radian").mkdir()
    more = f'[mcp_servers.db.env]\n{MARK} = "{mark}"\nSTUB_LOG = {json.dumps(str(log))}'
    text = table(mark, more=more).replace(f'env = {{ {MARK} = "{mark}" }}\n', "")
    (box.workspace / ".radian" / "config.toml").write_text(text)
    box.play({"tool_calls": [call("mcp__db__echo", text="hi")]}, {"text": "Done."})

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    assert run.returncode == 0
    assert log.exists() is trusted
    status, output = results(run.stdout)[0]
    assert (status, output == "hi") == (("completed", True) if trusted else ("failed", False))


def test_a_server_that_does_not_start_is_told_of_and_the_turn_goes_on(box: Box, mark: str) -> None:
    box.configure(table(mark, "exit", "bad") + table(mark, server="good"))
    box.play({"tool_calls": [call("mcp__good__echo", text="hi")]}, {"text": "Done."})

    run = box.run("exec", "-p", "go", "--profile", "full")

    assert (run.returncode, run.stdout) == (0, "Done.\n")
    assert "MCP server 'bad' did not start: it exited with code 3: no database here" in run.stderr


def test_a_server_that_dies_fails_its_call_and_comes_back(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play(
        {"tool_calls": [call("mcp__db__die")]},
        {"tool_calls": [call("mcp__db__echo", text="back")]},
        {"text": "Done."},
    )

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    died, back = results(run.stdout)
    assert died[0] == "failed"
    assert "it exited with code 7; whether the call had effects is unknown" in died[1]
    assert back == ("completed", "back")


def test_a_call_has_a_limit_and_the_server_hears_of_it(box: Box, mark: str) -> None:
    log = box.home / "log"
    text = table(mark, more='timeout = "300ms"').replace(
        "env = {", f"env = {{ STUB_LOG = {json.dumps(str(log))},"
    )
    box.configure(text)
    box.play({"tool_calls": [call("mcp__db__hang")]}, {"text": "Done."})

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    assert results(run.stdout) == [("failed", "tools/call: no answer within 0.3 s")]
    methods = [each["method"] for each in log_of(log)]
    assert methods[-2:] == ["tools/call", "notifications/cancelled"]


def test_a_tool_that_appears_later_is_there_at_the_next_call(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play(
        {"tool_calls": [call("mcp__db__more")]},
        {"tool_calls": [call("mcp__db__echo")]},
        {"tool_calls": [call("mcp__db__extra")]},
        {"text": "Done."},
    )

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    assert "no tool extra" in results(run.stdout)[-1][1]  # the server's own words


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--mcp-config", "{"), "--mcp-config is not JSON"),
        (("--mcp-config", "nowhere.json"), "nowhere.json can't be read"),
        (("--mcp-config",), "--mcp-config needs a value"),
    ],
)
def test_a_flag_that_can_not_be_read_starts_nothing(
    box: Box, words: tuple[str, ...], why: str
) -> None:
    box.play({"text": "Done."})

    run = box.run("exec", "-p", "go", *words)

    assert (run.returncode, run.stdout) == (2, "")
    assert why in run.stderr
    assert not (box.home / "sessions").exists()


def test_a_configuration_that_is_wrong_is_named(box: Box) -> None:
    box.configure('[mcp_servers.db]\ncomand = "x"\n')
    box.play({"text": "Done."})

    run = box.run("exec", "-p", "go")

    assert run.returncode == 2
    assert "did you mean 'command'?" in run.stderr


def test_an_interrupt_ends_a_call_and_the_servers(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play({"tool_calls": [call("mcp__db__hang")]}, {"text": "Done."})
    agent = box.start("exec", "-p", "go", "--output", "jsonl", "--profile", "full")
    assert agent.stdout is not None
    for line in agent.stdout:
        if '"Permission"' in line:
            break

    agent.send_signal(signal.SIGINT)
    rest, _ = agent.communicate(timeout=30)

    assert agent.returncode == 130
    assert objects(rest)[-1]["status"] == "interrupted"
    assert survivors(mark) == []


def test_a_killed_agent_leaves_no_server_behind(box: Box, mark: str) -> None:
    box.configure(table(mark, "child"))
    box.play({"tool_calls": [call("mcp__db__hang")]}, {"text": "Done."})
    agent = box.start("exec", "-p", "go", "--output", "jsonl", "--profile", "full")
    assert agent.stdout is not None
    for line in agent.stdout:
        if '"ToolCall"' in line:
            break
    assert survivors(mark)

    os.kill(agent.pid, signal.SIGKILL)

    agent.communicate()
    wait_gone(mark)


def test_a_subagent_has_the_tools_of_servers_too(box: Box, mark: str) -> None:
    box.configure(table(mark))
    box.play(
        {"tool_calls": [call("subagent", prompt="say hi")]},
        {"tool_calls": [call("mcp__db__echo", text="hi")]},
        {"tool_calls": [call("mcp__db__die")]},
        {"tool_calls": [call("mcp__db__echo", text="again")]},
        {"text": "It said hi."},
        {"text": "Done."},
    )

    run = box.run(
        "exec", "-p", "go", "--output", "jsonl", "--profile", "full", "--session-id", "s1"
    )

    assert run.returncode == 0
    records = [each for each in box.journal("s1") if each["type"] == "ToolResult"]
    assert [each["output"] for each in records][::2] == ["hi", "again"]
    assert results(run.stdout)[-1] == ("completed", "It said hi.")
    warnings = [each for each in objects(run.stdout) if each["type"] == "Warning"]
    assert "'db' ended: it exited with code 7" in warnings[0]["message"]


def test_a_hermetic_run_starts_no_configured_server(box: Box, mark: str) -> None:
    log = box.home / "log"
    box.configure(table(mark).replace("env = {", f"env = {{ STUB_LOG = {json.dumps(str(log))},"))
    (box.workspace / "AGENTS.md").write_text("")

    run = box.run("exec", "-p", "x", "--no-user-config", "--provider", "anthropic", "--model", "m")

    assert run.returncode == 11  # no key: the turn went as far as its call
    assert not log.exists()


def test_nothing_of_it_is_imported_without_servers(box: Box) -> None:
    box.play({"text": "Done."})
    script = (
        "import os, sys; leave = os._exit\n"
        "os._exit = lambda code: (os.write(2, ' '.join(sys.modules).encode()), leave(code))\n"
        "sys.argv = ['radian', 'exec', '-p', 'x']\n"
        "from runtimes.radian.entry import main; main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=box.workspace,
        env={**box.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(run.stderr.split())
    assert "runtimes.radian.session" in loaded
    unwanted = {name for name in loaded if name.startswith("runtimes.radian.mcp")}
    assert unwanted | (loaded & {"actors.piped_program"}) == set()

"""The rows of the table of exits: how each is brought about, and what it must come to."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from tests.runtimes.radian.box import Box

Call = dict[str, Any]
BUSY: Call = {"error": {"status": 503, "message": "busy", "retry_after_s": 999}}
SLOW: Call = {"text": "slow " * 500, "chunk": 5, "delay_ms": 20}
PLAN: Call = {"tool_calls": [{"name": "todo", "input": {"items": []}}]}
PRICES = '\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "1"\n'
NO_KEY = '\n[providers.far]\nkind = "anthropic"\ndefault_model = "m"\n'
FULL = ("--profile", "full")
NEWER = '{"v":2,"seq":99,"ts":"2030-01-01T00:00:00.000Z","type":"Unheard"}\n'


def hook(event: str) -> str:
    """A required hook that fails."""
    command = '["/bin/sh", "-c", "exit 7"]'
    return f'\n[[hooks]]\nevent = "{event}"\ncommand = {command}\nrequired = true\n'


def failing(status: int) -> list[Call]:
    return [{"error": {"status": status, "message": "no"}}]


def shell(command: str) -> Call:
    return {"tool_calls": [{"name": "shell", "input": {"command": command}}]}


class End(NamedTuple):
    """How a turn ends: in the journal, and in the three words of a result."""

    kind: str
    why: str
    """Its reason, or where it failed."""
    exit_code: int
    status: str
    stop_reason: str


class TurnRow(NamedTuple):
    """A turn that ends so."""

    name: str
    end: End
    calls: list[Call]
    flags: tuple[str, ...] = ()
    config: str = ""
    signal: int = 0
    """Sent once the model has begun to answer."""


def incomplete(reason: str, code: int, stop_reason: str = "refusal") -> End:
    return End("Incomplete", reason, code, "incomplete", stop_reason)


def failed(origin: str, code: int) -> End:
    return End("Failed", origin, code, "failed", "refusal")


def interrupted(code: int) -> End:
    return End("Interrupted", "", code, "interrupted", "cancelled")


DONE = End("Completed", "", 0, "completed", "end_turn")
SPENT: Call = {**PLAN, "usage": {"input_tokens": 900_000, "output_tokens": 200_000}}

TURNS = (
    TurnRow("completed", DONE, [{"text": "done"}]),
    TurnRow("SIGINT", interrupted(130), [SLOW], signal=signal.SIGINT),
    TurnRow("SIGTERM", interrupted(143), [SLOW], signal=signal.SIGTERM),
    TurnRow(
        "truncated",
        incomplete("truncated", 3, "max_tokens"),
        [{"text": "a", "finish": "length"}] * 9,
    ),
    TurnRow(
        "model calls spent",
        incomplete("model_calls", 4, "max_turn_requests"),
        [PLAN] * 3,
        ("--max-model-calls", "2"),
    ),
    TurnRow("money spent", incomplete("cost", 4), [SPENT, PLAN], ("--max-cost", "1"), PRICES),
    TurnRow("time spent", incomplete("time", 4), [SLOW], ("--turn-timeout", "0.2")),
    TurnRow("refused", incomplete("refused", 6), [{"text": "no", "finish": "refused"}]),
    TurnRow("unknown finish", incomplete("unfinished", 6), [{"text": "?", "finish": "broken"}]),
    TurnRow("paused for ever", incomplete("unfinished", 6), [{"finish": "pause"}] * 99),
    TurnRow("model failed", failed("model", 5), failing(400)),
    TurnRow("model stayed busy", failed("model", 75), [BUSY]),
    TurnRow("no key", failed("credential", 11), [], ("--provider", "far"), NO_KEY),
    TurnRow("key unknown", failed("credential", 11), failing(401)),
    TurnRow("key without rights", failed("credential", 11), failing(403)),
    TurnRow("hook of the prompt failed", failed("hook", 5), [], config=hook("user_prompt")),
    TurnRow(
        "hook of the end failed", failed("hook", 5), [{"text": "ok"}], config=hook("before_stop")
    ),
    TurnRow("journal gone", failed("internal", 1), [shell("rm {journal}")], FULL),
)


class BareRow(NamedTuple):
    """An end without a turn."""

    name: str
    code: int
    words: tuple[str, ...]
    said: str
    """Part of the one line on stderr."""
    before: Callable[[Box], None] | None = None
    stdout: str = ""
    """A file that takes what is printed; empty: a pipe."""


def one_session(box: Box) -> None:
    box.play({"text": "one"}, then="repeat-last")
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0


def foreign_session(box: Box) -> None:
    elsewhere = box.workspace.parent / "elsewhere"
    elsewhere.mkdir()
    words = ("--workspace", str(elsewhere), "--no-trust", "--session-id", "s1")
    assert box.run("exec", "-p", "x", *words).returncode == 0


def damaged_session(box: Box) -> None:
    one_session(box)
    path = box.home / "sessions" / "s1.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text(first + "no JSON\n" + "".join(rest))


def newer_session(box: Box) -> None:
    one_session(box)
    with (box.home / "sessions" / "s1.jsonl").open("a") as journal:
        journal.write(NEWER)


def no_folder(box: Box) -> None:
    (box.home / "sessions").write_text("no folder")


def existing_file(box: Box) -> None:
    one_session(box)
    (box.workspace / "out.md").write_text("mine")


def bad_config(box: Box) -> None:
    box.configure("\n[providers.play\n")


def unknown_key(box: Box) -> None:
    box.configure('\n[providers.play.models.script]\nprise_input = "1"\n')


def no_picture(box: Box) -> None:
    (box.workspace / "a.png").write_text("no picture")


BARE = (
    BareRow("journal can not be made", 1, ("-p", "x"), "sessions", no_folder),
    BareRow("list not writable", 1, ("--list",), "No space left", one_session, "/dev/full"),
    BareRow("export not writable", 1, ("--export", "s1"), "No space", one_session, "/dev/full"),
    BareRow(
        "--out exists", 1, ("--export", "s1", "--out", "out.md"), "exists already", existing_file
    ),
    BareRow("unknown flag", 2, ("-p", "x", "--promt", "y"), "did you mean --prompt"),
    BareRow("flags that don't go together", 2, ("-p", "x", "--list"), "don't go together"),
    BareRow("value out of range", 2, ("-p", "x", "--max-model-calls", "-1"), "--max-model-calls"),
    BareRow("money without a price", 2, ("-p", "x", "--max-cost", "1"), "needs a price"),
    BareRow("config no TOML", 2, ("-p", "x"), "config.toml", bad_config),
    BareRow("config with an unknown key", 2, ("-p", "x"), "price_input", unknown_key),
    BareRow("no provider", 2, ("-p", "x", "--no-user-config"), ".radian/config.toml"),
    BareRow("unknown provider", 2, ("-p", "x", "--provider", "plya"), "no provider 'plya'"),
    BareRow("unknown profile", 2, ("-p", "x", "--profile", "nope"), "no profile 'nope'"),
    BareRow("rule for no tool", 2, ("-p", "x", "--allow", "sing(*)"), "names no tool"),
    BareRow("workspace is not there", 2, ("-p", "x", "--workspace", "nowhere"), "nowhere"),
    BareRow("bad image", 2, ("-p", "x", "--image", "a.png"), "a.png", no_picture),
    BareRow("image not there", 2, ("-p", "x", "--image", "b.png"), "b.png"),
    BareRow("empty prompt", 2, ("-p", "-"), "the prompt is empty"),
    BareRow("empty pipe", 2, (), "the prompt is empty"),
    BareRow("blank prompt", 2, ("-p", " \n"), "the prompt is empty"),
    BareRow("no session id", 2, ("-p", "x", "--session-id", "../up"), "no session id"),
    BareRow("no turn's end", 2, ("--export", "s1", "--at", "7"), "not the end", one_session),
    BareRow("session missing", 10, ("-p", "x", "--resume", "gone"), "there is no session gone"),
    BareRow("export missing", 10, ("--export", "gone"), "there is no session gone"),
    BareRow("fork missing", 10, ("--fork", "gone"), "there is no session gone"),
    BareRow(
        "session foreign",
        10,
        ("-p", "x", "--resume", "s1"),
        "belongs to workspace",
        foreign_session,
    ),
    BareRow("export foreign", 10, ("--export", "s1"), "belongs to workspace", foreign_session),
    BareRow("id taken", 10, ("-p", "x", "--session-id", "s1"), "s1 is taken", one_session),
    BareRow("fork's id taken", 10, ("--fork", "s1", "--session-id", "s1"), "taken", one_session),
    BareRow("session newer", 10, ("-p", "x", "--resume", "s1"), "newer", newer_session),
    BareRow("session damaged", 10, ("-p", "x", "--resume", "s1"), "s1.jsonl:2", damaged_session),
)


def until(process: subprocess.Popen[str], kind: str) -> None:
    """Read a live stream up to the first event of a kind."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == kind:
            return

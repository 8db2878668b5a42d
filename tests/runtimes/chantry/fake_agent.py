"""An agent that does as its prompt says: for driving a client, with the standard library only.

Run as ``fake_agent.py [FLAG]``; the flags make it misbehave before it has a session.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import Any

Json = dict[str, Any]
SESSION = "s1"


def send(message: Json) -> None:
    """Write one line."""
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def receive() -> Json:
    """Read one message; the end of input ends us."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    message: Json = json.loads(line)
    return message


def update(kind: str, /, **members: Any) -> None:
    """Send one session/update."""
    params = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **members}}
    send({"method": "session/update", "params": params})


def say(text: str, kind: str = "agent_message_chunk") -> None:
    """Stream a text."""
    update(kind, content={"type": "text", "text": text}, messageId="m")


def pause() -> None:
    """Wait for as long as the environment says, for people who look on."""
    select.select([], [], [], float(os.environ.get("FAKE_AGENT_PAUSE_S", "0")))


def plan(request_id: Any) -> str:
    """Three calls up front that fill in, and one that nobody announced."""
    del request_id
    for step in ("a", "b", "c"):
        title = f"Build / {step}"
        update("tool_call", toolCallId=step, title=title, status="pending", kind="execute")
    update("tool_call_update", toolCallId="a", status="in_progress")
    say("compiling\nhalf a ")
    say("line\n")
    pause()
    update("tool_call_update", toolCallId="a", status="completed")
    update("tool_call_update", toolCallId="b", status="in_progress")
    failure = {"status": "fail", "error": "exit code 2\nmore"}
    pause()
    update("tool_call_update", toolCallId="b", status="failed", rawOutput=failure)
    update("tool_call_update", toolCallId="c", status="completed", rawOutput={"status": "skipped"})
    update("tool_call", toolCallId="r", title="Rollback / shell", status="completed")
    return "end_turn"


def strange(request_id: Any) -> str:
    """Everything that a client may not know, and some that is wrong."""
    del request_id
    os.write(1, b"just a print\n[1]\n\n")
    update("hologram_update", beam=1)
    update("agent_message_chunk", content={"type": "image", "data": "", "mimeType": "image/png"})
    update("tool_call_update", toolCallId="never-opened", status="completed")
    send({"method": "session/update", "params": {"sessionId": 7}})
    send({"method": "_own/notification"})
    send({"id": "q", "method": "fs/read_text_file", "params": {"path": "/etc/hosts"}})
    say(json.dumps(receive()["error"]["code"]))
    return "end_turn"


def ask(request_id: Any) -> str:
    """Ask for permission and say what came back."""
    del request_id
    update("tool_call", toolCallId="t", title="Remove the moon", status="pending")
    options = [
        {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": options}
    send({"id": 900, "method": "session/request_permission", "params": params})
    cancelled = False
    while True:
        message = receive()
        cancelled = cancelled or message.get("method") == "session/cancel"
        if message.get("id") == 900:
            say(json.dumps(message["result"]["outcome"], sort_keys=True))
            return "cancelled" if cancelled else "end_turn"


def wait(request_id: Any) -> str:
    """Run until cancelled."""
    del request_id
    update("tool_call", toolCallId="w", title="Waiting", status="in_progress")
    say("ready\n")
    while receive().get("method") != "session/cancel":
        pass
    return "cancelled"


def stubborn(request_id: Any) -> str:
    """Ignore cancels, the end of input and TERM."""
    del request_id
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(f"pid {os.getpid()}\nready\n")
    while True:
        signal.pause()


def die(request_id: Any) -> str:
    """Write something to stderr and end."""
    del request_id
    update("tool_call", toolCallId="d", title="Dying", status="in_progress")
    os.write(2, b"".join(b"line %d\n" % n for n in range(30)) + b"out of \xff luck")
    os._exit(7)


def killed(request_id: Any) -> str:
    """End by a signal."""
    del request_id
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def fail(request_id: Any) -> str:
    """Answer with an error."""
    error = {"code": -32603, "message": "internal error"}
    send({"id": request_id, "error": error})
    return ""


def silent(request_id: Any) -> str:
    """Close stdout and stay."""
    del request_id
    os.close(1)
    sys.stdin.buffer.read()
    os._exit(0)


def flood(request_id: Any) -> str:
    """Stream 20,000 chunks."""
    del request_id
    for number in range(20_000):
        say(f"{number}\n")
    return "end_turn"


ACTS = {
    act.__name__: act
    for act in (plan, strange, ask, wait, stubborn, die, killed, fail, silent, flood)
}


def prompt(request_id: Any, text: str) -> None:
    """Do what the text says; any other text is echoed, ``stop:REASON`` ends with that reason."""
    reason = "end_turn"
    if text in ACTS:
        reason = ACTS[text](request_id)
    elif text.startswith("stop:"):
        reason = text.removeprefix("stop:")
    else:
        say(f"you said {text}")
    if reason:
        send({"id": request_id, "result": {"stopReason": reason}})


def answer(message: Json, flag: str) -> None:
    """Serve one message."""
    match message.get("method"):
        case "initialize" if flag == "--die":
            sys.exit("no key")
        case "initialize":
            version = 2 if flag == "--version-2" else 1
            info = {"name": "fake", "version": "9"}
            result = {"protocolVersion": version, "agentInfo": info, "agentCapabilities": {}}
            send({"id": message["id"], "result": result})
        case "session/new" if flag == "--login":
            error = {"code": -32000, "message": "authentication required"}
            send({"id": message["id"], "error": error})
        case "session/new" if flag == "--nameless":
            send({"id": message["id"], "result": {}})
        case "session/new":
            send({"id": message["id"], "result": {"sessionId": SESSION}})
        case "session/prompt":
            prompt(message["id"], message["params"]["prompt"][0]["text"])
        case _:
            pass


def main() -> None:
    """Serve until the end of input."""
    flag = sys.argv[1] if len(sys.argv) > 1 else ""
    while True:
        answer(receive(), flag)


if __name__ == "__main__":
    main()

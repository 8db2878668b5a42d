"""`wait_for`: until a command succeeds, a URL answers, a port listens or a file is there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.activities.polling import Patience, poll
from ops.durations import format_duration, parse_duration
from ops.work import CallableWork, ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.activities.polling import Probe
    from ops.work import ActivityContext, Work, WorkContext

MAX_PROBE_S = 5.0
"""The limit of one look at a port or a URL."""

BELOW_ERROR = 400
"""A URL is ready when its status is lower."""

# The loop is a program of its own, so that its children die with it like any step's.
LOOP = """\
left=$1 interval=$2; shift 2
end=$(($(date +%s) + left))
until "$@"; do
  if [ "$(date +%s)" -ge "$end" ]; then echo "not ready within $left s" >&2; exit 1; fi
  sleep "$interval"
done
"""


def prepare(args: Mapping[str, Any], context: ActivityContext) -> Work:
    """Return the wait that the one given arg asks for."""
    interval_s = parse_duration(args.get("interval", "1s"))
    timeout_s = parse_duration(args.get("timeout", "1m"))
    if "command" in args:
        return _command(args, context, interval_s, timeout_s)
    what, probe = _probe(args, context)
    patience = Patience(interval_s, timeout_s=timeout_s)

    def run(work: WorkContext) -> dict[str, Any]:
        tries = poll(work, what, probe, patience)
        work.emit("stdout", f"{what}: ready\n")
        return {"tries": tries}

    return CallableWork(f"wait_for {format_duration(timeout_s)}", run)


def _command(
    args: Mapping[str, Any], context: ActivityContext, interval_s: float, timeout_s: float
) -> ProcessWork:
    command = args["command"]
    program = ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
    limits = (f"{max(round(timeout_s), 1)}", f"{interval_s:g}")
    argv = ("/bin/sh", "-c", LOOP, "wait_for", *limits, *program)
    return ProcessWork(argv, working_folder(args, context), variables(args, context))


def _probe(args: Mapping[str, Any], context: ActivityContext) -> tuple[str, Probe]:
    if "file" in args:
        path = os.path.join(working_folder(args, context), args["file"])
        return args["file"], lambda _work: None if os.path.exists(path) else "not there"
    if "port" in args:
        host, port = args.get("host", "127.0.0.1"), args["port"]
        return f"{host}:{port}", lambda _work: _port_closed(host, port)
    url = args["url"]
    return url, lambda work: _url_unready(url, work)


def _port_closed(host: str, port: int) -> str | None:
    import socket

    try:
        socket.create_connection((host, port), timeout=MAX_PROBE_S).close()
    except (OSError, OverflowError) as error:
        return f"not listening: {getattr(error, 'strerror', None) or error}"
    return None


def _url_unready(url: str, work: WorkContext) -> str | None:
    from ops.activities.http_probe import Question, ask

    answer = ask(Question(url, timeout_s=MAX_PROBE_S), work)
    if isinstance(answer, str):
        return answer
    return None if answer.status < BELOW_ERROR else f"status {answer.status}"

"""`shell`: a command in a sandbox, or, if a person agrees, without one; also in the background."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from actors.work import CallableWork, ProcessWork
from runtimes.radian.permissions import GrantKey, Request
from runtimes.radian.profiles import wants_sandbox
from runtimes.radian.shell_words import split_command
from runtimes.radian.tools.base import (
    Prepared,
    ToolFailedError,
    ToolOutcome,
    ToolRun,
    ToolView,
    ended_badly,
    failure,
    returned,
)
from runtimes.radian.tools.full_output import MAX_RESULT_BYTES, FullOutput, shorten
from runtimes.radian.tools.jobs import TooManyJobsError
from runtimes.radian.tools.places import PROTECTED
from runtimes.radian.tools.programs import shell
from runtimes.radian.tools.running import one_line
from runtimes.radian.tools.sandbox import NoSandbox, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import StepEnd, Stream, WorkContext
    from runtimes.radian.permissions import Command
    from runtimes.radian.tools.base import Input, Kind, ToolContext

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 3_600_000
MERGED = 'exec "$0" -c "$1" 2>&1'
"""Both streams into one, so that the model sees them in the order in which they were printed."""


class Shell:
    """Runs a command."""

    name = "shell"
    kind: Kind = "execute"
    read_only = False
    summary = (
        "Run a command in bash. It gets no input and no terminal. It runs in a sandbox where "
        "there is one: no network, and only the workspace (not .git) and /tmp can be written. If "
        "a command can't work so, set unsandboxed and give the reason; a person may be asked. "
        "Set background for servers and long runs; see job."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1},
            "timeout_ms": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_TIMEOUT_MS,
                "description": f"Killed after it; {DEFAULT_TIMEOUT_MS} if absent",
            },
            "cwd": {"type": "string", "minLength": 1, "description": "The workspace if absent"},
            "background": {"type": "boolean", "description": "Return at once"},
            "unsandboxed": {"type": "boolean", "description": "Needs a reason"},
            "reason": {"type": "string", "description": "Why, for the person who is asked"},
        },
        "required": ["command"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Take the command apart and find the sandbox; makes the folder of its ``/tmp``."""
        command = values["command"]
        if "\0" in command:
            message = "a command can't have a NUL in it"
            raise ToolFailedError(message)
        leaves = values.get("unsandboxed") and wants_sandbox(context.profile)
        if leaves and not values.get("reason", "").strip():
            message = "unsandboxed needs a reason: say what does not work in the sandbox"
            raise ToolFailedError(message)
        if values.get("background") and context.jobs is None:
            message = "nothing can run in the background here"
            raise ToolFailedError(message)
        cwd = _folder(values, context)
        request = _request(values, cwd, context)
        if request.sandboxed:
            os.makedirs(_private_tmp(context), mode=0o700, exist_ok=True)
        view = ToolView(one_line(command))
        return Prepared(self.name, {**values, "cwd": cwd}, view, request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the program, or the start of a job."""
        values = prepared.input
        work = _work(prepared, context)
        if values.get("background"):
            return _background(work, values["command"], context)
        kept = FullOutput(
            os.path.join(context.output_folder, f"{_file_name(call_id)}.txt"),
            context.faults,
            spare_bytes=MAX_RESULT_BYTES,
        )
        timeout_ms = values.get("timeout_ms", DEFAULT_TIMEOUT_MS)

        def hear(stream: Stream, text: str) -> None:
            del stream
            kept.write(text)

        def finish(end: StepEnd) -> ToolOutcome:
            return _outcome(end, kept, timeout_ms)

        return ToolRun(work, finish, hear, timeout_ms / 1000)


def _folder(values: Input, context: ToolContext) -> str:
    place = context.places.place(values.get("cwd", "."))
    if place.zone == "secret" or (place.zone == "elsewhere" and wants_sandbox(context.profile)):
        message = f"{place.alias} is not in the workspace {context.places.workspace}"
        raise ToolFailedError(message)
    if not os.path.isdir(place.path):
        message = f"{place.alias} is no folder"
        raise ToolFailedError(message)
    return place.path


def _request(values: Input, cwd: str, context: ToolContext) -> Request:
    command = values["command"].strip()
    notes = [values["reason"].strip()] if values.get("reason") else []
    sandboxed = False
    if wants_sandbox(context.profile) and not values.get("unsandboxed"):
        found = context.sandboxes.found()
        sandboxed = not isinstance(found, NoSandbox)
        notes.append(found.reason if isinstance(found, NoSandbox) else found.limits)
    place = context.places.shown(cwd)
    where = "" if place == "." else f" in {place}"
    how = "" if sandboxed else " without a sandbox"
    return Request(
        "shell",
        "shell",
        command,
        command=_split(command),
        sandboxed=sandboxed,
        background=values.get("background", False),
        grant=GrantKey(
            "shell", f"{command}\0{cwd}\0{sandboxed}", f"exactly this command{where}{how}"
        ),
        note="; ".join(note for note in notes if note),
    )


def _split(command: str) -> Command | None:
    try:
        return split_command(command)
    except ImportError:
        return None  # no parser for this machine: then nothing can be taken apart


def _work(prepared: Prepared, context: ToolContext) -> ProcessWork:
    values = prepared.input
    argv: tuple[str, ...] = ("/bin/sh", "-c", MERGED, shell(), values["command"])
    cwd: str = values["cwd"]
    env = {**context.env, "PWD": cwd}
    if prepared.request.sandboxed:
        found = context.sandboxes.found()
        if isinstance(found, NoSandbox):  # found once a process, so this can't change
            raise ToolFailedError(found.reason)
        view = _view(context)
        argv = found.wrap(argv, cwd, view)
        env |= found.env(view)
    return ProcessWork(argv, cwd, env)


def _view(context: ToolContext) -> View:
    places = context.places
    return View(
        workspace=places.workspace,
        writable=context.profile != "read-only",
        protected=tuple(os.path.join(places.workspace, name) for name in PROTECTED),
        secret=places.secret,
        private_tmp=_private_tmp(context),
    )


def _private_tmp(context: ToolContext) -> str:
    return os.path.join(context.output_folder, "tmp")


def _background(work: ProcessWork, command: str, context: ToolContext) -> ToolRun:
    jobs = context.jobs

    def run(_work: WorkContext) -> ToolOutcome:
        if jobs is None:
            return failure("nothing can run in the background here")
        try:
            job = jobs.start(work, command)
        except TooManyJobsError as error:
            return failure(str(error))
        text = f"{job.job_id} runs; its output goes to {job.output_file}. You are told of its end."
        return ToolOutcome(text)

    return ToolRun(CallableWork("shell-background", run), returned)


def _outcome(end: StepEnd, kept: FullOutput, timeout_ms: int) -> ToolOutcome:
    full = kept.path if kept.exists else None
    text = shorten(end.stdout.text, full=full, whole_bytes=end.stdout.total_bytes)
    if end.stderr.text:  # of the sandbox itself: the command's own went into stdout
        text = f"{text}\n{shorten(end.stderr.text, 4096)}".strip("\n")
    if end.kind == "exited" and end.exit_code == 0:
        return ToolOutcome(text or "[no output]", full_output_file=full)
    if end.kind == "exited":
        why = f"exit code {end.exit_code}"
    elif end.kind == "timed_out":
        why = f"killed after {timeout_ms} ms"
    else:
        why = ended_badly(end)
    return ToolOutcome(f"{text}\n[{why}]".lstrip("\n"), True, why, full)  # noqa: FBT003 - failed


def _file_name(call_id: str) -> str:
    """Return a name for a file; ids come from providers, which owe nobody anything."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in call_id)[
        :100
    ]

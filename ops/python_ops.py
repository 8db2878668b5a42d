"""Ops written in Python, evaluated in a process of their own; here they are only data.

The process gets no stdin, a small environment (so that no secret gets into a declaration, and the
same file declares the same everywhere), and a limit of time; see `ops.op_child`.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ops.findings import Findings, Problem, Table
from ops.json_in import read_json
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from subprocess import Popen

    from ops.toml_lines import KeyPath

LIMIT_S = 60.0
"""All Ops in Python of a project together."""
ANSWER_LIMIT_S = 15.0
"""Who says nothing of a file for so long was stopped by it: it ends one that takes 5 s."""
END_LIMIT_S = 5.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024

CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); import ops.op_child; del sys.path[0];"
    " ops.op_child.main()"
)
"""Our own folder is on the path only while our own modules are imported."""

KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


def read_python_ops(
    root: str, files: Sequence[str], environ: Mapping[str, str] | None = None
) -> dict[str, tuple[Table | None, Findings]]:
    """Evaluate ``files`` (relative to ``root``): what each declares, or no table and the reason."""
    if not files:
        return {}
    paths = {os.path.join(root, file): file for file in files}
    answers: dict[str, Mapping[str, Any]] = {}
    give_up_s = time.monotonic() + LIMIT_S
    left = list(paths)
    while left:
        # A file that ends, or stops, the process that evaluates hides none but itself.
        reader = _Reader(root, os.environ if environ is None else environ, give_up_s)
        for answer in reader.answers(left):
            answers[paths[left.pop(0)]] = answer
        if left:
            missing = {"line": 1, "reason": f"it was not evaluated: {reader.why}"}
            gone = left if reader.gives_up else left[:1]
            answers.update((paths[path], missing) for path in gone)
            left = left[len(gone) :]
    return {file: _read(file, answers[file]) for file in files}


def _read(file: str, answer: Mapping[str, Any]) -> tuple[Table | None, Findings]:
    lines = cast("list[tuple[list[str | int], int]]", answer.get("lines", []))
    index: dict[KeyPath, int] = {tuple(path): line for path, line in lines}
    findings = Findings(file, LineIndex.of(index))
    if "reason" in answer:
        findings.problems.append(Problem(file, answer["line"], _printable(answer["reason"])))
        return None, findings
    return Table(answer["op"], (), "", findings), findings


def _printable(text: str) -> str:
    """Return what a file made somebody say, without what would move a terminal's cursor."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class _Reader:
    """One process that evaluates.  ``why`` says what kept it from answering for every file."""

    def __init__(self, root: str, environ: Mapping[str, str], give_up_s: float) -> None:
        self.why = "the process that evaluates Ops ended"
        self.gives_up = False
        """Another process would do no better."""
        self._give_up_s = give_up_s
        self._root = root
        self._env = {name: environ[name] for name in KEPT_VARIABLES if name in environ}

    def answers(self, paths: list[str]) -> Iterator[dict[str, Any]]:
        """Yield what it says of each file, in their order, as long as there is time."""
        import subprocess

        ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        process = subprocess.Popen(
            # -I: neither the folder nor PYTHONPATH has a say; -B: no file appears in the checkout.
            [sys.executable, "-I", "-B", "-c", CODE, ours],
            cwd=self._root,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            try:
                for line in self._lines(process, json.dumps(paths).encode() + b"\n"):
                    yield read_json(line)
            finally:
                _end(process)

    def _lines(self, process: Popen[bytes], request: bytes) -> Iterator[bytes]:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            return
        with suppress(BrokenPipeError):
            stdin.write(request)
            stdin.flush()
        data, read = b"", 0
        poll = select.poll()
        poll.register(stdout.fileno(), select.POLLIN)
        while read <= MAX_ANSWER_BYTES:
            left_s = self._give_up_s - time.monotonic()
            if not poll.poll(min(max(left_s, 0), ANSWER_LIMIT_S) * 1000):
                self.gives_up = left_s <= ANSWER_LIMIT_S
                self.why = "the process that evaluates Ops says nothing any more"
                if self.gives_up:
                    self.why = f"the Ops in Python took over {LIMIT_S:g} s together"
                return
            piece = os.read(stdout.fileno(), 65536)
            if not piece:
                said = stderr.read(4096).decode(errors="replace").strip().splitlines()
                self.why += f": {said[-1]}" if said else ""
                return
            read += len(piece)
            *lines, data = (data + piece).split(b"\n")
            yield from lines
        self.gives_up = True
        self.why = f"the Ops in Python declare over {MAX_ANSWER_BYTES} bytes together"


def _end(process: Popen[bytes]) -> None:
    """End a process that evaluates, and what it evaluates, also when a file has stopped it."""
    from signal import SIGCONT, SIGKILL
    from subprocess import TimeoutExpired

    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()  # it ends what it evaluates, and then itself
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, SIGCONT)
    try:
        process.wait(END_LIMIT_S)
    except TimeoutExpired:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, SIGKILL)

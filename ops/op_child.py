"""The process that evaluates Ops written in Python: `ops.python_ops` starts it.

It reads one line, a JSON list of files, and prints one JSON line for each, in their order: what
it declares, or why it declares nothing.  Every file is evaluated in a fork of its own, with no
stdin, within limits of time, memory and output, so nothing that it does reaches another file or
the caller.
When the caller goes away, all of it ends.
"""

from __future__ import annotations

import importlib.util
import io
import json
import mmap
import os
import resource
import select
import signal
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, cast

from ops.builders import Op
from ops.declared import MODULE_NAME, Declared
from ops.json_in import read_json
from ops.shapes import check_table
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType
    from typing import NoReturn

FILE_LIMIT_S = 5.0
"""A declaration that takes longer does something else."""
MAX_MEMORY_BYTES = 2 * 1024**3
MAX_OUTPUT_BYTES = 1024 * 1024
"""Of what a file declares, and of what it prints; as much as a TOML file may hold."""
MAX_SAID_CHARS = 300
PR_SET_CHILD_SUBREAPER = 36
KINDS: dict[str, type] = {"op": dict, "lines": list, "line": int, "reason": str}
ANSWERS = frozenset({frozenset({"op", "lines"}), frozenset({"line", "reason"})})
CHILDREN = "/proc/self/task/{0}/children"


class Papers(NamedTuple):
    """What an evaluation leaves behind: files without a name, and its last line."""

    result: IO[bytes]
    out: IO[bytes]
    err: IO[bytes]
    line: mmap.mmap


def main() -> None:
    """Evaluate what stdin asks for."""
    caller = os.dup(0)
    files: list[str] = json.loads(_first_line(caller))
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _adopt_orphans()
    with os.fdopen(answers, "w", encoding="utf-8") as stream:
        for file in files:
            stream.write(json.dumps(_evaluated(file, caller, answers)) + "\n")
            stream.flush()


def _first_line(fd: int) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = os.read(fd, 65536)
        if not piece:
            sys.exit(0)
        data += piece
    return data


def _evaluated(file: str, caller: int, answers: int) -> dict[str, Any]:
    """Fork, wait, and say what came of it."""
    papers = Papers(_paper(), _paper(), _paper(), mmap.mmap(-1, 8))
    over, ending = os.pipe()
    pid = os.fork()
    if pid == 0:
        for fd in (over, caller, answers):
            os.close(fd)
        _be_evaluation(file, papers, ending)
    os.close(ending)
    if hasattr(os, "pidfd_open"):  # the pipe may be held open by what it left behind
        os.close(over)
        over = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(over, select.POLLIN)
    poll.register(caller, 0)  # tells only its end
    ready = dict(poll.poll(FILE_LIMIT_S * 1000))
    status = _end(pid)
    os.close(over)
    if caller in ready:
        sys.exit(1)
    try:
        return _judged(papers, status, in_time=over in ready)
    finally:
        for each in papers:
            each.close()


def _paper() -> IO[bytes]:
    """Return a file in memory where there are such; a full or read-only disk is no matter then."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("chant-op"), "w+b")
    from tempfile import TemporaryFile

    return TemporaryFile()


def _adopt_orphans() -> None:
    """Become the parent of what an evaluation leaves behind, where the system can do that."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end(pid: int) -> int:
    """Kill an evaluation and all that it started; return its status."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    while left := _children():
        for each in left:
            os.kill(each, signal.SIGKILL)
            os.waitpid(each, 0)
    return status


def _children() -> list[int]:
    try:
        with open(CHILDREN.format(os.getpid()), "rb") as stream:
            return [int(each) for each in stream.read().split()]
    except FileNotFoundError:
        return []


def _judged(papers: Papers, status: int, *, in_time: bool) -> dict[str, Any]:
    papers.result.seek(0)
    result = papers.result.read()
    line = int.from_bytes(papers.line[:8], "little") or 1
    said = _said(papers.out)
    if result:
        found = _found(result)
        if found is None:
            return {"line": line, "reason": "it wrote into what it is to declare"}
        if said and "reason" not in found:
            return {"line": line, "reason": _printed(said)}
        return found
    if not in_time:
        return {"line": line, "reason": f"it did not end within {FILE_LIMIT_S:g} s"}
    code = os.waitstatus_to_exitcode(status)
    how = f"exit code {code}" if code >= 0 else f"signal {-code}"
    complaint = _said(papers.err)
    why = f": {complaint}" if complaint else ""
    return {"line": line, "reason": f"its process ended before it had declared an Op ({how}){why}"}


def _found(result: bytes) -> dict[str, Any] | None:
    """Return what an evaluation has left, None if it is not what `_answer` returns."""
    try:
        found = check_table(read_json(result), {}, KINDS)
        for path, line in found.get("lines", ()):
            if not isinstance(path, list) or not isinstance(line, int):
                return None
            hash(tuple(cast("list[object]", path)))
    except (ValueError, TypeError):
        return None
    return found if ANSWERS & {frozenset(found)} else None


def _said(paper: IO[bytes]) -> str:
    """Return the last line of what was printed, shortened."""
    size = paper.seek(0, os.SEEK_END)
    paper.seek(max(size - 4 * MAX_SAID_CHARS, 0))
    lines = paper.read().decode(errors="replace").strip().splitlines()
    return lines[-1][-MAX_SAID_CHARS:] if lines else ""


# The evaluation's own process.


def _be_evaluation(file: str, papers: Papers, ending: int) -> NoReturn:
    try:
        os.setpgid(0, 0)
        os.dup2(papers.out.fileno(), 1)
        os.dup2(papers.err.fileno(), 2)
        _limit()
        papers.result.write(_answer(file, papers.line))
        papers.result.flush()
    finally:
        sys.settrace(None)
        os.write(ending, b".")
        os._exit(0)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
    with suppress(ValueError, OSError):  # the system's own limit is lower
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def _answer(file: str, line: mmap.mmap) -> bytes:
    sys.stdout = Refusing()
    try:
        op = _evaluate(file, line)
        sys.settrace(None)
        lines = [[list(path), number] for path, number in _lines(op, ())]
        data = json.dumps({"op": _table(op), "lines": lines}).encode()
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is wrong with it
        sys.settrace(None)
        return json.dumps({"line": _place(error, file), "reason": _reason(error)}).encode()
    if len(data) > MAX_OUTPUT_BYTES:
        reason = f"what it declares is larger than {MAX_OUTPUT_BYTES} bytes"
        return json.dumps({"line": 1, "reason": reason}).encode()
    return data


def _evaluate(file: str, line: mmap.mmap) -> Op:
    """Execute the file and return its ``op``.

    Raises:
        NoOpError: It has none, or something else of that name.

    """
    spec = importlib.util.spec_from_file_location(MODULE_NAME, file)
    if spec is None or spec.loader is None:
        message = "it can't be loaded as a module"
        raise NoOpError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE_NAME] = module
    sys.path.append(os.path.dirname(file))

    def note(frame: FrameType, _event: str, _arg: object) -> Any:
        """Keep the line, so that it is known even of a file that ends the process."""
        line[:8] = frame.f_lineno.to_bytes(8, "little")
        return note

    def only_here(frame: FrameType, _event: str, _arg: object) -> Any:
        return note if frame.f_code.co_filename == file else None

    sys.settrace(only_here)
    spec.loader.exec_module(module)
    op = getattr(module, "op", None)
    if not isinstance(op, Op):
        found = "nothing" if op is None else f"a {type(op).__name__}"
        message = f"it must say op = Op(...), with Op from ops.builders; op is {found}"
        raise NoOpError(message)
    return op


class NoOpError(Exception):
    """The file declares no Op, or does something else beside; the message is the finding."""


class Refusing(io.StringIO):
    """stdout of an Op that is being read."""

    def write(self, text: str, /) -> int:
        """Refuse: the line that prints is the finding."""
        raise NoOpError(_printed(text))


def _table(declared: Declared) -> Any:
    return {key: _bare(value) for key, value in declared.table.items()}


def _bare(value: Any) -> Any:
    if isinstance(value, Declared):
        return _table(value)
    return [_bare(item) for item in cast("list[Any]", value)] if _is_list(value) else value


def _lines(declared: Declared, path: tuple[str | int, ...]) -> Iterator[tuple[Any, int]]:
    """Yield the line of each table that has one."""
    if declared.line:
        yield path, declared.line
    for key, value in declared.table.items():
        if _is_list(value):
            for index, item in enumerate(cast("list[Any]", value)):
                if isinstance(item, Declared):
                    yield from _lines(item, (*path, key, index))


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _place(error: BaseException, file: str) -> int:
    """Return the deepest line of the file that led to ``error``."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 1
    line, trace = 1, error.__traceback__
    while trace is not None:
        line = _line_in(trace, file) or line
        trace = trace.tb_next
    return line


def _line_in(trace: TracebackType, file: str) -> int:
    return trace.tb_lineno if trace.tb_frame.f_code.co_filename == file else 0


def _printed(text: str) -> str:
    return f"an Op must not print anything; it printed {text[:MAX_SAID_CHARS]!r}"


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}"
    if isinstance(error, NoOpError):
        return str(error)
    text = str(error)[:1000]
    if isinstance(error, SystemExit):
        return f"it ends the process (SystemExit: {text})"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

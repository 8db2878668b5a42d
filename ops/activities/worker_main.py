"""The process that calls a project's function: ``worker_main.py FOLDER MODULE:FUNCTION JSON...``.

A script of its own and not part of our packages, which it must not get in the project's way with
(``ops`` is a good name for a folder of theirs).  The keyword arguments are one JSON object, cut
into pieces; the result goes to descriptor 3 as ``{"value": ...}`` or ``{"error": ...}``, so what
the function prints is output and nothing else.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

REPORT_FD = 3
MAX_RESULT_BYTES = 1024 * 1024
"""Larger results belong into a file."""


def main() -> None:
    """Call the function and report; exits 0 if it returned a result."""
    folder, call, *pieces = sys.argv[1:]
    os.set_inheritable(REPORT_FD, False)  # noqa: FBT003 - positional only
    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.argv = [call]
    _put_on_path(folder)
    report = _reported(call, json.loads("".join(pieces)))
    sys.stdout.flush()
    with open(REPORT_FD, "wb") as stream:
        stream.write(report)
    sys.exit(0 if report.startswith(b'{"value"') else 1)


def _stop(number: int, _frame: object) -> NoReturn:
    """Let ``finally`` blocks run: the step was cancelled and has its grace."""
    sys.exit(128 + number)


def _put_on_path(folder: str) -> None:
    """Let the project's modules be found before installed ones, but never instead of Python's."""
    installed = [n for n, path in enumerate(sys.path) if path.endswith("-packages")]
    sys.path.insert(installed[0] if installed else len(sys.path), folder)


def _reported(call: str, args: dict[str, Any]) -> bytes:
    try:
        value = _function(call)(**args)
        if hasattr(value, "__await__"):
            value = _awaited(value)
        return _as_json(value)
    except BaseException as error:  # noqa: BLE001 - also what ends the process is its result
        _complain(error)
        name, text = type(error).__name__, str(error)
        return json.dumps({"error": f"{name}: {text}" if text else name}).encode()


def _function(call: str) -> Callable[..., Any]:
    module, _, name = call.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        message = f"{call} is no function"
        raise TypeError(message)
    function: Callable[..., Any] = found
    return function


def _awaited(value: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _as_json(value: Any) -> bytes:
    try:
        data = json.dumps({"value": value}, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        message = f"what it returned is no JSON: {error}"
        raise TypeError(message) from error
    if len(data) > MAX_RESULT_BYTES:
        message = f"what it returned is larger than {MAX_RESULT_BYTES} bytes; write it to a file"
        raise ValueError(message)
    return data


def _complain(error: BaseException) -> None:
    """Print the traceback, from the project's code on."""
    import traceback

    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if not isinstance(error, SystemExit):
        traceback.print_exception(type(error), error, trace)


if __name__ == "__main__":
    main()

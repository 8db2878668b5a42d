"""`render`: a template with ``${NAME}`` places (``$$`` is a dollar) to a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ops.activities.places import working_folder
from ops.errors import ActivityFailed
from ops.params import param_text
from ops.plain_file import plain
from ops.whole_file import whole_file
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext

MAX_TEMPLATE_BYTES = 16 * 1024 * 1024


def prepare(args: Mapping[str, Any], context: ActivityContext) -> CallableWork:
    """Return the rendering."""
    folder = working_folder(args, context)
    dest = os.path.join(folder, args["dest"])
    values = {name: param_text(value) for name, value in args.get("values", {}).items()}

    def run(work: WorkContext) -> dict[str, Any]:
        try:
            text = args["text"] if "text" in args else _read(os.path.join(folder, args["template"]))
            data = fill(text, values).encode()
            changed = _write(dest, data)
        except OSError as error:
            msg = f"can't render {args['dest']}: {error.strerror}: {error.filename}"
            raise ActivityFailed(msg) from error
        work.emit("stdout", f"{dest}: {'written' if changed else 'unchanged'}\n")
        return {"dest": dest, "bytes": len(data), "changed": changed}

    return CallableWork("render", run)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with every place filled.

    Raises:
        ActivityFailed: A name has no value, or a dollar is neither a place nor ``$$``.

    """
    from string import Template

    try:
        return Template(text).substitute(values)
    except KeyError as error:
        known = ", ".join(sorted(values)) or "none"
        msg = f"the template names {error.args[0]!r}, which has no value; values: {known}"
        raise ActivityFailed(msg) from error
    except ValueError as error:
        msg = f"the template has a lone $ (write $$ for a dollar): {error}"
        raise ActivityFailed(msg) from error


def _read(path: str) -> str:
    with open(path, "rb", opener=plain) as stream:
        data = stream.read(MAX_TEMPLATE_BYTES + 1)
    if len(data) > MAX_TEMPLATE_BYTES:
        msg = f"{path} is larger than {MAX_TEMPLATE_BYTES} bytes"
        raise ActivityFailed(msg)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8"
        raise ActivityFailed(msg) from error


def _write(dest: str, data: bytes) -> bool:
    """Write ``data`` unless it is there already."""
    try:
        with open(dest, "rb", opener=plain) as stream:
            if stream.read(len(data) + 1) == data:
                return False
    except FileNotFoundError:
        pass
    with whole_file(dest) as stream:
        stream.write(data)
    return True

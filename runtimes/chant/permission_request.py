"""The request that asks a client to open a gate, as a wire line.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.permissions import PermissionOption, permission_request
from protocol.acp.updates import ToolCallUpdate, ToolText
from protocol.jsonrpc import encode_request
from runtimes.chant.permissions import ALLOW, REJECT
from runtimes.chant.wording import gate_lines

if TYPE_CHECKING:
    from runtimes.chant.items import PermissionAsked

OPTIONS = (
    PermissionOption(ALLOW, "Open the gate", "allow_once"),
    PermissionOption(REJECT, "Reject it", "reject_once"),
)

HOW = (
    "answer with a later prompt that names this request in _meta.chant.permission"
    " (requestId, optionId); an answer to the request itself opens nothing"
)


def request_line(session_id: str, asked: PermissionAsked) -> bytes:
    """Write ``session/request_permission``, newline included."""
    fact = asked.fact
    text = "\n".join([*gate_lines(fact["gate"], fact), HOW])
    call = ToolCallUpdate(
        tool_call_id=f"{asked.run_id}/{fact['step']}",
        title=asked.title,
        kind="execute",
        content=(ToolText(text),),
    )
    chant = {
        "requestId": asked.request_id,
        "op": fact["op"],
        "gate": fact["gate"],
        "env": fact["env"],
        "runId": fact["run_id"],
        "expires": fact["expires"],
    }
    params = permission_request(session_id, call, OPTIONS, {"chant": chant})
    return encode_request(asked.request_id, "session/request_permission", params)

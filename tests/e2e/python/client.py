"""One conversation through the official Python SDK, old or new, printed as JSON on stdout.

stdin has JSON: ``{command, folder, steps, choose}``; ``tests/e2e/clients.py`` tells what they
are.  What the SDK can't read it only logs, so whoever runs this must also look at stderr.
"""

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportArgumentType=false

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import warnings
from typing import Any

import acp
from acp.schema import RequestPermissionResponse

CLOSED = {"outcome": "cancelled"}


class Client:
    """Keeps what comes, and answers questions as the order says."""

    def __init__(self, choose: list[str]) -> None:
        self.updates: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.changed = asyncio.Condition()
        self.answered = asyncio.Event()
        self._choose = choose

    async def session_update(self, update: Any, **_: Any) -> None:
        await self._keep(self.updates, plain(update))

    async def request_permission(self, options: Any, tool_call: Any, **_: Any) -> Any:
        offered = [plain(option) for option in options]
        wanted = self._choose.pop(0)
        await self._keep(self.asked, {"toolCall": plain(tool_call), "options": offered})
        if wanted == "late":
            await self.answered.wait()
        fitting = [each for each in offered if wanted in (each["kind"], each["name"])]
        outcome = CLOSED if not fitting else {"outcome": "selected", **only_id(fitting[0])}
        return RequestPermissionResponse.model_validate({"outcome": outcome})

    async def until(self, text: str) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: text in json.dumps([self.updates, self.asked]))

    async def _keep(self, where: list[dict[str, Any]], what: dict[str, Any]) -> None:
        async with self.changed:
            where.append(what)
            self.changed.notify_all()

    def on_connect(self, conn: Any) -> None:
        del conn


def plain(model: Any) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def only_id(option: dict[str, Any]) -> dict[str, Any]:
    return {"optionId": option["optionId"]}


def block(told: dict[str, Any]) -> Any:
    match told["type"]:
        case "text":
            return acp.text_block(told["text"])
        case "image":
            return acp.image_block(told["data"], told["mimeType"])
        case "resource_link":
            return acp.resource_link_block(told["name"], told["uri"])
    raise ValueError(told["type"])


async def step(connection: Any, client: Client, order: dict[str, Any], told: dict[str, Any]) -> Any:
    folder, session = order["folder"], order.get("session")
    match told["do"]:
        case "new":
            answer = await connection.new_session(cwd=folder, mcp_servers=[])
            order["session"] = answer.session_id
            return answer
        case "load":
            order["session"] = told["session"]
            return await connection.load_session(
                cwd=folder, session_id=told["session"], mcp_servers=[]
            )
        case "until":
            return await client.until(told["text"])
    running = asyncio.create_task(
        connection.prompt(prompt=[block(each) for each in told["blocks"]], session_id=session)
    )
    if "cancelAt" in told:
        await client.until(told["cancelAt"])
        await connection.cancel(session_id=session)
    answer = await running
    client.answered.set()
    return answer


async def attempt(*words: Any) -> dict[str, Any] | None:
    try:
        answer = await step(*words)
    except acp.RequestError as error:
        return {"error": {"code": error.code, "message": str(error)}}
    return answer if answer is None else plain(answer)


async def converse(order: dict[str, Any]) -> dict[str, Any]:
    client = Client(order["choose"])
    command, *arguments = order["command"]
    spawned = acp.spawn_agent_process(client, command, *arguments, env=dict(os.environ))
    async with spawned as (connection, process):
        hello = await connection.initialize(protocol_version=1)
        answers = [await attempt(connection, client, order, each) for each in order["steps"]]
    return {
        "hello": plain(hello),
        "answers": answers,
        "updates": client.updates,
        "asked": client.asked,
        "exitCode": process.returncode,
    }


def main() -> None:
    warnings.simplefilter("ignore")  # the SDK's own, about its own
    logging.basicConfig(level=logging.WARNING)  # on stderr
    sys.stdout.write(json.dumps(asyncio.run(converse(json.load(sys.stdin)))))


main()

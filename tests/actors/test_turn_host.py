"""A client's turn: whatever breaks, its prompt is answered once, and nobody else's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.connection import Connection
from actors.faults import NoFaults
from actors.gate import Gate
from actors.messages import AfterAnswers, Respond, TurnAnswered
from actors.opened_session import OpenedSession
from actors.session_state import TurnEnded
from actors.turn import TurnResult
from actors.turn_host import ClientTurnHost
from actors.turn_line import Turn
from protocol.acp.prompts import Prompt
from protocol.acp.updates import AgentMessageChunk
from protocol.errors import InternalError, InvalidParams
from tests.actors.serving import ScriptedRuntime
from tests.fakes import CrashAt, FakePlatform, InjectedError


class Mail:
    """Stands for an address."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def tell(self, message: Any) -> None:
        self.told.append(message)


class Scene:
    """A host for request 7 of session s1, and everything around it."""

    def __init__(self, faults: Any = None) -> None:
        platform = FakePlatform()
        self.gate = Gate(platform, faults or NoFaults())
        self.responder, self.session, self.router, self.executor = (Mail() for _ in range(4))
        self.connection = Connection(platform, self.gate, self.responder)  # type: ignore[arg-type]
        self.connection.enter(7, 1)
        self.connection.claim(7, "t1")
        self.host = ClientTurnHost(
            runtime=ScriptedRuntime(),  # type: ignore[arg-type]
            connection=self.connection,
            opened=OpenedSession("s1", "/"),
            turn=Turn("t1", 7, 1, "s1", Prompt("s1", ())),
            session=self.session,  # type: ignore[arg-type]
            router=self.router,  # type: ignore[arg-type]
            executor=self.executor,  # type: ignore[arg-type]
        )

    def written(self) -> list[Any]:
        return [json.loads(line) for line in bytes(self.gate.take()).splitlines()]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (TurnResult(), {"result": {"stopReason": "end_turn"}}),
        (
            TurnResult(error=InvalidParams("no such op")),
            {"error": {"code": -32602, "message": "no such op"}},
        ),
    ],
)
def test_a_result_is_answered_after_what_was_said(
    result: TurnResult, expected: dict[str, Any]
) -> None:
    scene = Scene()

    scene.host.deliver([AgentMessageChunk("a", "m1"), b'{"raw":1}\n', AgentMessageChunk("b", "m1")])
    scene.host.answer(result)
    scene.host.over(None)

    *said, answer = scene.written()
    assert [line.get("raw", line.get("method")) for line in said] == [
        "session/update",
        1,
        "session/update",
    ]
    assert answer == {"jsonrpc": "2.0", "id": 7, **expected}
    assert scene.session.told == [TurnEnded("t1")]
    assert scene.router.told == [TurnAnswered("t1")]
    assert scene.responder.told == []


def test_the_id_may_be_used_again_before_the_turn_is_quite_over() -> None:
    scene = Scene()
    scene.host.answer(TurnResult())
    assert scene.connection.enter(7, 2)

    scene.host.over(None)

    assert scene.responder.told == []
    assert scene.connection.settle(7)


def test_a_result_that_can_not_be_encoded_is_answered_as_our_bug() -> None:
    scene = Scene()
    with pytest.raises(TypeError) as caught:
        scene.host.answer(TurnResult(meta={"value": object()}))

    scene.host.over(caught.value)

    respond, after = scene.responder.told
    assert json.loads(respond.frame)["error"]["code"] == InternalError.code
    assert scene.router.told == []
    assert isinstance(after, AfterAnswers)
    after.go()
    assert scene.router.told == [TurnAnswered("t1")]


def test_an_answer_that_breaks_on_its_way_is_left_to_the_responder() -> None:
    scene = Scene(CrashAt("gate.put"))
    with pytest.raises(InjectedError) as caught:
        scene.host.answer(TurnResult("refusal"))

    scene.host.over(caught.value)

    respond, after = scene.responder.told
    assert isinstance(respond, Respond)
    assert json.loads(respond.frame)["result"] == {"stopReason": "refusal"}
    assert isinstance(after, AfterAnswers)


def test_a_turn_whose_client_has_gone_is_over_all_the_same() -> None:
    scene = Scene()

    scene.host.over(None)

    assert scene.router.told == [TurnAnswered("t1")]
    assert len(scene.responder.told) == 1

"""The crash matrix: whatever actor crashes wherever, every request is answered exactly once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from actors.faults import NoFaults
from tests.actors.serving import SESSION, Client
from tests.fakes import CrashAt, Faulty

if TYPE_CHECKING:
    from actors.faults import Faults

REPLACEABLE = (
    "gate",
    "writer",
    "responder",
    "router",
    "reader",
    "session 1",
    "executor 1",
    "model call 1",
    "session supervisor 1",
)
"""Whoever is started again; the connection survives."""
ESSENTIAL = ("root", "output", "sessions", "input")
"""Whoever is not: the process ends with a code."""
ANYWHERE = (
    "reader.decoded",
    "gate.put",
    "gate.take",
    "wire.read",
    "wire.write",
    "outlet.offer",
    "outlet.speak",
    "executor.decide",
    "executor.start",
    "model.open",
    "model.chunk",
    "session.open",
    "step.call",
    "step.return",
)
HITS = range(1, 21)
SEEDS = 40
INTERNAL = -32603
ENDLESS = ("hang", "flood")
"""Turns that only a cancel ends."""


def _serve_three_prompts(faults: Faults) -> tuple[Client, list[dict[str, Any]]]:
    """A step that prints, a step that is cancelled, a model's stream; one after the other."""
    client = Client(faults)
    requests = client.begin()
    client.send(*requests)
    for request in requests:
        client.answer(request)
    for kind in ("step", "hang", "model"):
        prompt = client.prompt(kind)
        requests.append(prompt)
        if not client.open:
            break
        client.send(prompt)
        if kind == "hang":
            client.wait_begun(kind, prompt)
            client.send(client.cancel())
        client.answer(prompt)
    return client, requests


def _serve_all_in_one_write(faults: Faults) -> tuple[Client, list[dict[str, Any]]]:
    """The same, but the client doesn't wait for anything, and cancels what waits as well."""
    client = Client(faults)
    requests = [*client.begin(), *(client.prompt(kind) for kind in ("step", "hang", "model"))]
    client.send(*requests, client.cancel())
    for request in requests:
        client.answer(request)
    return client, requests


def _serve_a_client_that_does_not_read(faults: Faults) -> tuple[Client, list[dict[str, Any]]]:
    """A step that prints without end, a client that reads nothing until it has cancelled."""
    client = Client(faults)
    requests = client.begin()
    client.send(*requests)
    for request in requests:
        client.answer(request)
    flood = client.prompt("flood")
    client.pause()
    client.send(flood)
    client.wait_begun("flood", flood)
    client.wait_flooded(flood)
    last = client.prompt("step")
    client.send(client.cancel(), last)
    client.resume()
    for request in (flood, last):
        client.answer(request)
    return client, [*requests, flood, last]


SCENARIOS = [_serve_three_prompts, _serve_all_in_one_write, _serve_a_client_that_does_not_read]


def _outcome(client: Client, request: dict[str, Any]) -> object:
    (answer,) = client.answers(request["id"])
    if "error" in answer:
        return answer["error"]["code"]
    return answer["result"].get("stopReason", "fine")


def _check_survival(client: Client, requests: list[dict[str, Any]]) -> None:
    assert client.open
    assert client.telemetry.count("gave_up") == 0
    assert client.telemetry.count("dead_letter") == 0
    assert client.leave() == 0
    client.check()
    outcomes = [_outcome(client, request) for request in requests]
    assert set(outcomes) <= {"fine", "end_turn", "cancelled", INTERNAL, -32002}, outcomes
    for request, outcome in zip(requests, outcomes, strict=True):
        assert outcome != "end_turn" or client.kind(request) not in ENDLESS, "a lost cancel"


@pytest.mark.parametrize("serve", SCENARIOS)
def test_without_a_fault_everything_is_served(serve: Any) -> None:
    client, requests = serve(NoFaults())

    _check_survival(client, requests)
    expected = {
        _serve_three_prompts: ["fine", "fine", "end_turn", "cancelled", "end_turn"],
        _serve_all_in_one_write: ["fine", "fine", "cancelled", "cancelled", "cancelled"],
        _serve_a_client_that_does_not_read: ["fine", "fine", "cancelled", "end_turn"],
    }[serve]
    assert [_outcome(client, request) for request in requests] == expected


@pytest.mark.parametrize("serve", SCENARIOS)
@pytest.mark.parametrize("point", ["actor.start", "actor.receive", "actor.handled"])
@pytest.mark.parametrize("actor", REPLACEABLE)
def test_an_actor_that_crashes_costs_no_answer(serve: Any, actor: str, point: str) -> None:
    for hit in HITS:
        faults = CrashAt(point, (hit,), actor)
        client, requests = serve(faults)

        _check_survival(client, requests)
        if not faults.fired:
            return


@pytest.mark.parametrize("serve", SCENARIOS)
@pytest.mark.parametrize("point", ANYWHERE)
def test_a_crash_at_any_point_costs_no_answer(serve: Any, point: str) -> None:
    for hit in HITS:
        faults = CrashAt(point, (hit,))
        client, requests = serve(faults)

        _check_survival(client, requests)
        if not faults.fired:
            return


@pytest.mark.parametrize("point", ["actor.receive", "actor.handled", "executor.decide"])
def test_crashes_in_a_row_within_the_budget_cost_no_answer(point: str) -> None:
    for hit in HITS:
        actor = None if point == "executor.decide" else "executor 1"
        faults = CrashAt(point, (hit, hit + 1, hit + 2), actor)
        client, requests = _serve_three_prompts(faults)

        _check_survival(client, requests)


@pytest.mark.parametrize("actor", ESSENTIAL)
def test_a_supervisor_at_the_top_that_fails_to_start_ends_the_process(actor: str) -> None:
    client, _ = _serve_three_prompts(CrashAt("actor.start", (1,), actor))

    assert client.leave() == 70
    client.check()


@pytest.mark.parametrize("point", ["actor.receive", "actor.handled"])
@pytest.mark.parametrize(("actor", "child"), [("output", "writer"), ("input", "router")])
def test_a_supervisor_at_the_top_that_crashes_ends_the_process(
    actor: str, child: str, point: str
) -> None:
    faults = Faulty(CrashAt("actor.receive", (2,), child), CrashAt(point, (1,), actor))
    client, _ = _serve_three_prompts(faults)

    assert client.leave() == 70
    client.check()


@pytest.mark.parametrize("actor", ["router", "reader", "writer", "responder"])
def test_an_actor_that_crashes_for_ever_ends_the_process_in_bounds(actor: str) -> None:
    faults = CrashAt("actor.receive", range(1, 10_000), actor)
    client, _ = _serve_three_prompts(faults)

    assert client.leave() == 70
    client.check()
    assert faults.fired <= 5
    assert client.telemetry.count("gave_up") == 2


def test_a_tree_that_falls_at_any_moment_is_told_by_the_exit_code() -> None:
    """Also while the turns are ended: that was told as an end in order."""
    fallen = set[int]()
    for first in range(1, 40):
        client, _ = _serve_three_prompts(CrashAt("actor.receive", range(first, 10_000), "router"))
        code = client.leave()
        gave_up = client.telemetry.count("gave_up")
        client.check()

        assert code == (70 if gave_up else 0), first
        fallen.add(gave_up)

    assert fallen == {0, 2}


@pytest.mark.parametrize("kind", ["bug", "unbegun"])
def test_a_bug_in_a_turn_costs_that_turn_only_however_often(kind: str) -> None:
    client = Client(NoFaults())
    requests = client.begin()
    client.send(*requests)
    requests += [client.prompt(f"{kind} {number}") for number in range(20)]
    requests.append(client.prompt("step"))
    client.send(*requests[2:])
    for request in requests:
        client.answer(request)

    _check_survival(client, requests)
    outcomes = [_outcome(client, request) for request in requests]
    assert outcomes == ["fine", "fine", *[INTERNAL] * 20, "end_turn"]
    assert client.telemetry.count("restarted") == 0


@pytest.mark.parametrize("serve", SCENARIOS)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_crashes_at_two_points_cost_no_answer(serve: Any, seed: int) -> None:
    """Also while the first is still being recovered from."""
    chance = random.Random(seed)  # noqa: S311 - a plan, no secret
    faults = Faulty(_random_fault(chance), _random_fault(chance))

    client, requests = serve(faults)

    _check_survival(client, requests)


def _random_fault(chance: random.Random) -> CrashAt:
    hit = chance.randrange(1, 12)
    if chance.random() < 0.5:
        return CrashAt(chance.choice(ANYWHERE), (hit,))
    point = chance.choice(["actor.start", "actor.receive", "actor.handled"])
    return CrashAt(point, (hit,), chance.choice(REPLACEABLE))


@pytest.mark.parametrize("hit", range(1, 6))
def test_a_cancel_with_an_id_is_answered_and_cancels_whatever_crashes(hit: int) -> None:
    client = Client(CrashAt("reader.decoded", (hit,)))
    requests = [*client.begin(), client.prompt("hang")]
    client.send(*requests)
    client.wait_begun("hang", requests[-1])
    requests.append(client.request("session/cancel", sessionId=SESSION))
    client.send(requests[-1])
    for request in requests:
        client.answer(request)

    _check_survival(client, requests)
    assert [_outcome(client, request) for request in requests] == [
        "fine",
        "fine",
        "cancelled",
        "fine",
    ]

"""Large Ops over the protocol: many steps, many at once, much output.  No clock is asserted.

How long these take is measured in `bench`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents import CHANT

if TYPE_CHECKING:
    from tests.e2e.talk import Talk

SIDE_BY_SIDE = 64
MAX_PEAK_KB = 100 * 1024


def add_op(folder: Path, name: str, text: str) -> None:
    (folder / "ops" / f"{name}.op.toml").write_text(f'name = "{name}"\n{text}')


def peak_kb(pid: int) -> int:
    """Return the most memory that a process ever had resident, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_a_plan_of_a_thousand_steps_is_announced_before_the_first_one(chant: Talk) -> None:
    step = '[[phases.steps]]\nfn = "shell"\nargs = { cmd = "false" }\n'
    add_op(chant.folder, "long", '[[phases]]\nname = "All"\n' + step * 1000)
    chant.open()

    turn = chant.turn("run long")

    first = [message["params"]["update"] for message in turn.messages[:1000]]
    assert {update["sessionUpdate"] for update in first} == {"tool_call"}
    assert {update["status"] for update in first} == {"pending"}
    last = {update["toolCallId"]: update for update in turn.updates("tool_call_update")}
    assert len(last) == 1000
    assert {update["status"] for update in last.values()} == {"failed", "completed"}


def test_sixty_four_steps_of_a_parallel_phase_run_at_once(chant: Talk) -> None:
    # Each waits until all have begun, so one that had to wait for another would never end.
    cmd = f"touch up.$$; until [ $(ls up.* | wc -l) -ge {SIDE_BY_SIDE} ]; do sleep 0.05; done"
    step = f'[[phases.steps]]\nfn = "shell"\nargs = {{ cmd = "{cmd}" }}\n'
    add_op(
        chant.folder, "wide", '[[phases]]\nname = "All"\nparallel = true\n' + step * SIDE_BY_SIDE
    )
    chant.open()

    turn = chant.turn("run wide")

    assert turn.answer["result"]["_meta"]["chant"]["status"] == "ok"


def test_sessions_by_the_dozen_share_their_threads(chant: Talk) -> None:
    """Each once kept four for ever, and where a container allows 500 the 120th ended the server."""
    first = chant.open()
    for _ in range(20):
        chant.turn("list", chant.new_session())
    before = threads(chant.process.pid)

    for _ in range(40):
        chant.turn("list", chant.new_session())

    assert threads(chant.process.pid) < before + 40
    assert chant.turn("list", first).stop_reason == "end_turn"


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@pytest.mark.slow
def test_a_step_that_prints_a_gigabyte_keeps_the_server_small(chant: Talk) -> None:
    chant.open()

    turn = chant.turn(CHANT.shell("yes 0123456789abcdef | head -c 1000000000"))

    assert turn.answer["result"]["_meta"]["chant"]["status"] == "ok"
    (settled,) = [each for each in turn.updates("tool_call_update") if "rawOutput" in each]
    assert settled["rawOutput"]["output_bytes"] == 1_000_000_000
    assert peak_kb(chant.process.pid) < MAX_PEAK_KB


def test_an_op_file_of_ten_megabytes_is_a_finding(chant: Talk) -> None:
    add_op(chant.folder, "huge", "# " + "x" * 10_000_000)
    chant.open()

    refused = chant.turn("run huge")

    assert refused.stop_reason == "refusal"
    assert "ops/huge.op.toml:1: larger than 1048576 bytes" in refused.text
    assert chant.turn(CHANT.shell("echo fine")).stop_reason == "end_turn"

"""Whole processes: one prompt and out, a long answer as events, and what reads old sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.client import AgentError
from bench.coding_agents import RADIAN, scene
from bench.measures.agent.beside import beside
from bench.peers import AGENTS, Agent
from bench.procfs import peak_rss
from bench.samples import interleaved, medians

if TYPE_CHECKING:
    from bench.peers import Peers
    from bench.samples import Figures, Table

MIB = 1 << 20
LOOK_S = 0.002
COUNT, SIZE = 10_000, 20
JOURNAL_BYTES = 100_000_000
ANSWER_CHARS = 2_000
WORD = "haystacks"
"""Stands in one turn of the large journal."""


class Ran(NamedTuple):
    """What one process took."""

    out: bytes
    wall_ms: float
    cpu_ms: float


def headless(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Run one trivial prompt, from the spawn to the exit."""

    def measure(agent: Agent) -> Figures:
        ran = _run(agent, cwd, "bench:hello")
        if b"done" not in ran.out:
            message = f"{agent.name} said {ran.out[-200:]!r}"
            raise AgentError(message)
        peak = _peak(agent, cwd, "bench:hello")
        return {"wall_ms": ran.wall_ms, "cpu_ms": ran.cpu_ms, "peak_rss_mib": peak / MIB}

    with scene(peers, cwd) as here:
        ours, *others = here.headless
        tried = beside(others, measure, repeats=1)
        able = [agent for agent in others if "failed" not in tried[agent.name]]
        failed = {name: row for name, row in tried.items() if "failed" in row}
        return {**interleaved([ours, *able], repeats, measure), **failed}


def headless_stream(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Take the CPU time of a long answer less that of a short one: starting up is not in it."""
    with scene(peers, cwd) as here:
        ours = here.headless[0]
        events = Agent(ours.name, (ours.command[0], "exec", "--output", "jsonl", "-p"), ours.env)
        python = str(Path(ours.command[0]).with_name("python"))
        words = (python, str(AGENTS / "loop.py"), here.model.url)
        loop = Agent("loop without actors", words, ours.env)

        def measure(agent: Agent) -> Figures:
            short = _run(agent, cwd, f"bench:stream 1 {SIZE}")
            long = _run(agent, cwd, f"bench:stream {COUNT} {SIZE}")
            return {
                "cpu_ms": long.cpu_ms - short.cpu_ms,
                "wall_ms": long.wall_ms - short.wall_ms,
                "lines": long.out.count(b"\n"),
            }

        return interleaved([events, loop], repeats, measure)


def journal(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Read a journal of 100 MB, and search it."""
    with scene(peers, cwd) as here:
        ours = here.headless[0]
        home = Path(ours.env["RADIAN_HOME"])
        path = _large(ours, cwd, home)
        python = Path(ours.command[0]).with_name("python")
        reader = [str(python), "-c", READ, str(path)]
        rows: list[Figures] = []
        for _ in range(repeats + 1):
            read = subprocess.run(reader, check=True, capture_output=True, env=ours.env)
            search = Agent(ours.name, (ours.command[0], "exec", "--search"), ours.env)
            found = _run(search, cwd, WORD)
            if WORD.encode() not in found.out:
                message = f"--search found {found.out[:200]!r}"
                raise AgentError(message)
            rows.append({"load_ms": json.loads(read.stdout), "search_ms": found.wall_ms})
        return {RADIAN: {**medians(rows[1:]), "mb": path.stat().st_size / 1e6}}


READ = """
import gc, sys, time
gc.disable()  # as radian does until its session is open
from runtimes.radian.journal_read import load
start = time.perf_counter()
with open(sys.argv[1], "rb") as stream:
    load(stream.read(), sys.argv[1])
print((time.perf_counter() - start) * 1000)
"""
"""Prints milliseconds: from the file to its records."""


def _large(agent: Agent, cwd: Path, home: Path) -> Path:
    """Record one turn, and repeat it as if the conversation had gone on."""
    _run(agent, cwd, f"bench:stream 1 {ANSWER_CHARS}")
    (path,) = home.glob("sessions/*.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    turn = [line for line in lines if "turn" in line]
    size, number, seq = path.stat().st_size, 1, lines[-1]["seq"]
    with path.open("ab") as stream:
        while size < JOURNAL_BYTES:
            number += 1
            for line in turn:
                seq += 1
                text = json.dumps({**line, "turn": number, "seq": seq}, separators=(",", ":"))
                if number == 1000:  # somewhere
                    text = text.replace("bench:stream", WORD)
                size += stream.write(text.encode() + b"\n")
    return path


def _run(agent: Agent, cwd: Path, words: str) -> Ran:
    out_read, out_write = os.pipe()
    start = time.perf_counter()
    process = subprocess.Popen(
        [*agent.command, words],
        cwd=cwd,
        env=agent.env,
        stdin=subprocess.DEVNULL,
        stdout=out_write,
        stderr=subprocess.PIPE,
    )
    os.close(out_write)
    with open(out_read, "rb") as stream:
        out = stream.read()
    assert process.stderr is not None
    problem = process.stderr.read()
    process.stderr.close()
    _, status, used = os.wait4(process.pid, 0)
    wall_ms = (time.perf_counter() - start) * 1e3
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(problem.decode(errors="replace"), file=sys.stderr)
        message = f"{agent.name} exited with {process.returncode}"
        raise AgentError(message)
    return Ran(out, wall_ms, (used.ru_utime + used.ru_stime) * 1e3)


def _peak(agent: Agent, cwd: Path, words: str) -> int:
    """Run the same without a clock; return the peak memory of the whole tree, looked at often."""
    with subprocess.Popen(
        [*agent.command, words],
        cwd=cwd,
        env=agent.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_rss(process.pid))
            time.sleep(LOOK_S)  # noqa: TID251 - nothing tells of a peak
    return peak

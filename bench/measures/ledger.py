"""A ledger of years: what reading it and running an Op cost at 100,000 runs, and at 100."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from itertools import count
from typing import TYPE_CHECKING, Any

from bench.peers import Agent
from bench.samples import interleaved
from ops.run_files import MAX_FILE_BYTES, runs_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.peers import Peers
    from bench.samples import Figures, Table

FEW, MANY = "100 runs", "many runs"
FEW_RUNS = 100
OPS = 10
"""The runs belong to as many Ops; the one that is run has its share."""

OP, ENV = "quick", "local"
BRANCH = "refs/heads/chant/lifecycle"
WHO = "committer bench <bench@localhost> 0 +0000"


def ledger(peers: Peers, cwd: Path, repeats: int, runs: int) -> Table:
    """Time `run list`, `run log --limit 20`, and a run from its spawn to its plan and its end."""
    folders = {FEW: cwd, MANY: cwd.parent / "years"}
    shutil.copytree(cwd, folders[MANY])
    chant = peers.chant.command[0]
    _chant(chant, cwd, "run", OP)
    (line,) = _git(cwd, "show", f"{BRANCH}:{runs_path(ENV, OP)}").splitlines()
    for name, number in ((FEW, FEW_RUNS), (MANY, runs)):
        _record(folders[name], json.loads(line), number)

    def measure(agent: Agent) -> Figures:
        folder = folders[agent.name]
        start_ms, run_ms = _run(chant, folder)
        return {
            "run_list_ms": _chant(chant, folder, "run", "list"),
            "run_log_ms": _chant(chant, folder, "run", "log", "--limit", "20"),
            "start_ms": start_ms,
            "run_ms": run_ms,
        }

    agents = [Agent(name, (chant,), peers.chant.env) for name in folders]
    return interleaved(agents, repeats, measure)


def _chant(chant: str, folder: Path, *words: str) -> float:
    """Return the milliseconds that a command line takes."""
    start = time.perf_counter()
    subprocess.run([chant, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


def _run(chant: str, folder: Path) -> tuple[float, float]:
    """Return the milliseconds from the spawn to the announced plan, and to the recorded end."""
    start = time.perf_counter()
    argv = [chant, "run", OP, "--progress-json"]
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        first = json.loads(run.stdout.readline())
        planned = time.perf_counter()
        assert first["event"] == "plan", first
        *_, last = run.stdout
    assert json.loads(last)["event"] == "record", last
    return (planned - start) * 1e3, (time.perf_counter() - start) * 1e3


def _record(folder: Path, record: dict[str, Any], runs: int) -> None:
    """Write a ledger of ``runs`` copies of one record, as appending them one by one would."""
    say = ["git", "fast-import", "--quiet", "--force"]
    with subprocess.Popen(say, cwd=folder, stdin=subprocess.PIPE) as git:
        assert git.stdin is not None
        git.stdin.write(f"commit {BRANCH}\n{WHO}\ndata 0\n\ndeleteall\n".encode())
        for number in range(OPS):
            name = OP if number == 0 else f"op-{number}"
            for path, content in _files(name, {**record, "op": name}, runs // OPS):
                head = f"M 100644 inline {path}\ndata {len(content)}\n"
                git.stdin.write(head.encode() + content + b"\n")
        git.stdin.close()
    assert git.returncode == 0


def _files(op: str, record: dict[str, Any], runs: int) -> Iterator[tuple[str, bytes]]:
    numbers, content = count(1), bytearray()
    for number in range(runs):
        day, second = divmod(number, 86_400)
        stamp = f"2020-01-{1 + day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        run_id = f"{stamp[:10].replace('-', '')}-{stamp[11:].replace(':', '')}000-{number:08x}"
        times = {"id": run_id, "started": f"{stamp}.000Z", "ended": f"{stamp}.100Z"}
        line = json.dumps({**record, **times}, separators=(",", ":")).encode() + b"\n"
        if content and len(content) + len(line) > MAX_FILE_BYTES:
            yield runs_path(ENV, op, next(numbers)), bytes(content)
            content.clear()
        content += line
    yield runs_path(ENV, op), bytes(content)


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout

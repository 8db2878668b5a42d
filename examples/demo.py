"""``make demo``: Ops in ``examples/box``, as a client of ``chant acp`` sees them.

A release goes well, one fails after its deploy and rolls back, one is cancelled in mid-step and
rolls back.  One stops at a gate until a person opens it, one of a steward at a question until a
person answers it.  After each, the live service and the ledger are asked whether that is true; the
demo fails if it is not.  All of it happens in a scratch copy that is gone afterwards.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

BOX = Path(__file__).resolve().parent / "box"
DEADLINE_S = 50.0
"""For any one thing to happen.  Generous: a slow machine is no failure."""
POLL_S = 0.05
LEDGER = "chant/lifecycle"


@dataclass(frozen=True)
class Act:
    """One run, and what must be true after it."""

    title: str
    op: str
    status: str
    compensation: str
    exit_code: int
    live: str
    """The version that the service must answer with."""
    cancel_at: str | None = None
    """The version that must be live before we cancel."""
    agent: tuple[str, ...] = ("chant", "acp")


ACTS = (
    Act("a release that goes well", "release", "ok", "none", 0, "1.1.0"),
    Act("a release that fails and rolls back", "broken-release", "fail", "ok", 1, "1.1.0"),
    Act(
        "a release that is cancelled in mid-step and rolls back",
        "slow-release",
        "cancelled",
        "ok",
        130,
        "1.1.0",
        cancel_at="1.3.0",
    ),
)

GATED = Act("a release that stops at a gate", "gated-release", "gated", "none", 3, "1.1.0")
APPROVE = "approve gated-release deploy-window"
LET_OUT = Act("the same release, now that the gate is open", GATED.op, "ok", "none", 0, "1.4.0")

STEWARD = "box-steward"
STEWARDS_AGENT = ("chant", "acp", "--steward", STEWARD)
JUDGED = Act(
    "a steward's release that comes to a question",
    "judged-release",
    "waiting",
    "none",
    3,
    "1.4.0",
    agent=STEWARDS_AGENT,
)
DECIDED = "1.5.0"
PROVIDER = '[providers.local]\nkind = "scripted"\nscript = "says.json"\n'
SAYS = '{"answer": "yes", "confidence": 0.9, "reason": "a minor version, and easy to take back"}'
"""What the model proposes: a file plays it, so nothing leaves this machine."""


class Stage:
    """The scratch project, the host that serves it, and the environment of the runs."""

    def __init__(self, project: Path, url: str, environment: dict[str, str]) -> None:
        self.project = project
        self.url = url
        addresses = {"BOX_HEALTH_URL": f"{url}/health", "BOX_FEATURE_URL": f"{url}/v2/boxes"}
        self.environment = environment | addresses
        # A proxy in the environment is for other hosts.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def live_version(self) -> str:
        """Ask the service what it runs; empty while it does not answer well."""
        try:
            with self._opener.open(f"{self.url}/health", timeout=5) as reply:
                return str(json.load(reply)["version"])
        except (urllib.error.URLError, ValueError, KeyError):
            return ""

    def last_record(self, op: str) -> dict[str, Any]:
        """Read the newest run of an Op from the ledger branch."""
        lines = self.output("git", "show", f"{LEDGER}:local/runs/{op}.jsonl").splitlines()
        record: dict[str, Any] = json.loads(lines[-1])
        return record

    def perform(self, act: Act) -> None:
        """Run one act and check what it left."""
        say(f"\n== {act.title}")
        in_mid_step = ""
        command = ["chantry", "drive", "--prompt", f"run {act.op}", "--", *act.agent]
        say_command(command)
        with subprocess.Popen(command, cwd=self.project, env=self.environment) as client:
            try:
                if act.cancel_at:
                    in_mid_step = self._cancel_in_mid_step(client)
                code = client.wait(DEADLINE_S)
            except BaseException:
                client.terminate()
                client.wait()  # on Ctrl-C, the end of the block waits for a moment only
                raise
        if act.cancel_at:
            expect("live when it was cancelled", in_mid_step, act.cancel_at)
        self._check(act, code)

    def refused(self, prompt: str, agent: tuple[str, ...]) -> None:
        """Let a client try what only a person may do."""
        done = self._shown("chantry", "drive", "--prompt", prompt, "--", *agent)
        expect("the client's exit code, for a refusal", done, 4)

    def person(self, *command: str) -> None:
        """Type something at a terminal."""
        expect("its exit code", self._shown(*command), 0)

    def open_question(self) -> str:
        """Find what waits for an answer."""
        listed = json.loads(self.output("chant", "workspace", "points", "--open", "--json"))
        (question,) = listed["questions"]
        expect("the model proposed", question["proposal"]["answer"], "yes")
        return str(question["id"])

    def _shown(self, *command: str) -> int:
        say_command(command)
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            stderr=subprocess.STDOUT,  # what an operator says of its doings is part of the show
            check=False,
            timeout=DEADLINE_S,
        )
        return done.returncode

    def output(self, *command: str) -> str:
        """Run a command in the project and return what it prints."""
        done = subprocess.run(
            command, cwd=self.project, env=self.environment, check=True, stdout=subprocess.PIPE
        )
        return done.stdout.decode()

    def _cancel_in_mid_step(self, client: subprocess.Popen[bytes]) -> str:
        """Press Ctrl-C once the long step runs, which then has logged a line.

        Returns:
            The version that was live.

        """
        log = self.project / ".box" / "soak.log"
        wait_for("the long step", lambda: log.exists() or client.poll() is not None)
        version = self.live_version()
        client.send_signal(signal.SIGINT)
        return version

    def _check(self, act: Act, code: int) -> None:
        record = self.last_record(act.op)
        expect("the client's exit code", code, act.exit_code)
        expect("the run in the ledger", record["status"], act.status)
        expect("its compensation", record["compensation"], act.compensation)
        expect("the service answers with version", self.live_version(), act.live)


def main() -> None:
    """Set the stage, play the acts, leave nothing."""
    # SIGTERM must pass the clean-up too.
    signal.signal(signal.SIGTERM, end)
    started_s = time.monotonic()
    with scratch_project() as project, host(project) as url:
        stage = Stage(project, url, clean_environment() | {"RADIAN_HOME": provider(project)})
        stage.output("make", "-s", "deploy", "VERSION=1.0.0")
        stage.output("git", "init", "--quiet")
        stage.output("git", "add", ".")
        # No identity may be configured here, and none is asked for.
        nobody = ("-c", "user.name=demo", "-c", "user.email=demo@localhost")
        stage.output("git", *nobody, "commit", "--quiet", "--message", "The box service")
        say(f"{project} is live at {url} with version {stage.live_version()}")
        for act in ACTS:
            stage.perform(act)
        show_a_gate(stage)
        show_a_steward(stage)
    say(f"\nall as it should be, in {time.monotonic() - started_s:.0f} s")


def show_a_gate(stage: Stage) -> None:
    """Run to a gate, have it opened, run through."""
    stage.perform(GATED)
    say("\n== a client can't open the gate that its own run came to; a person at a terminal can")
    stage.refused(f"{APPROVE} --approver robot", GATED.agent)
    stage.person("chant", *APPROVE.split(), "--approver", "ann", "--note", "I watch")
    stage.perform(LET_OUT)


def show_a_steward(stage: Stage) -> None:
    """Run to a question in a steward's turn, have it answered, and let the operator go on."""
    stage.perform(JUDGED)
    say("\n== a steward can't answer its own question; a person can, and the operator goes on")
    answer = ("workspace", "points", "answer", stage.open_question(), "--answer", "yes", "--by")
    stage.refused(shlex.join([*answer, "robot"]), STEWARDS_AGENT)
    stage.person("chant", *answer, "ann", "--note", "the proposal is right")
    stage.person("chant", "operator", "--steward", STEWARD, "--once")
    record = stage.last_record(JUDGED.op)
    expect("the run in the ledger", record["status"], "ok")
    expect("whose turn it was", record["steward"], STEWARD)
    expect("the service answers with version", stage.live_version(), DECIDED)


@contextlib.contextmanager
def scratch_project() -> Generator[Path]:
    """Copy the box, so that neither the checkout nor its history is touched."""
    with tempfile.TemporaryDirectory(prefix="chantry-demo-") as folder:
        project = Path(folder) / "box"
        left_out = shutil.ignore_patterns(".box", "dist", "__pycache__")
        shutil.copytree(BOX, project, ignore=left_out)
        yield project


def provider(project: Path) -> str:
    """Configure the model that the steward may ask, beside the project; return the folder."""
    folder = project.parent / "models"
    folder.mkdir()
    (folder / "config.toml").write_text(PROVIDER, encoding="utf-8")
    says = json.dumps({"calls": [{"text": SAYS}]})
    (folder / "says.json").write_text(says, encoding="utf-8")
    return str(folder)


@contextlib.contextmanager
def host(project: Path) -> Generator[str]:
    """Serve the project's live folder; the value is the address."""
    command = [sys.executable, "tools/host.py", ".box/live", "0"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise AssertionError
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait()


def clean_environment() -> dict[str, str]:
    """Put our commands first in PATH, and keep git and chant from looking elsewhere."""
    foreign = ("GIT_", "CHANT_", "BOX_", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, kept.get("PATH", os.defpath)])
    return kept | {"PATH": path, "no_proxy": "127.0.0.1"}


def end(_number: int, _frame: object) -> NoReturn:
    """End in order."""
    sys.exit(143)


def wait_for(what: str, happened: Callable[[], bool]) -> None:
    """Wait until something has happened; give up after a while."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not happened():
        if time.monotonic() > deadline_s:
            fail(f"{what} did not come within {DEADLINE_S:.0f} s")
        time.sleep(POLL_S)  # noqa: TID251 - there is nothing to wait on but a file


def expect(what: str, found: object, wanted: object) -> None:
    """Print a fact, and give up if it is not what it should be."""
    if found != wanted:
        fail(f"{what}: {found}, and it should be {wanted}")
    say(f"   {what}: {found}")


def fail(problem: str) -> NoReturn:
    """Give up."""
    sys.exit(f"demo: {problem}")


def say_command(words: Sequence[str]) -> None:
    """Print a command as one types it."""
    say(f"$ {shlex.join(words)}")


def say(text: str) -> None:
    """Print at once: what the runs print comes in between."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

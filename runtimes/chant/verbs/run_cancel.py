"""``chant run cancel``: stop a run that another process runs; it cleans up and records itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.digits import whole_number
from runtimes.chant.verbs.flags import ENV
from runtimes.chant.verbs.verb import (
    FAILED,
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from ops.in_flight import Living

LOOK_S = 0.1


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Ask the run's own process, by a file beside its note; with --wait see it end."""
    from ops.in_flight import InFlight
    from runtimes.chant.finding_runs import living_run
    from runtimes.chant.place import ledger_of, place_of

    place, name = place_of(invocation, around), invocation.param("RUN")
    wait_s = _seconds(invocation.value("--wait"))
    ledger = ledger_of(place.project)
    run = living_run(place, ledger, InFlight(ledger.state_dir), name)
    hard = invocation.on("--hard")
    run.ask("hard_stop" if hard else "cancel")
    ended = None if wait_s is None else _ended(run, wait_s, around)
    record = run.record
    document = {
        "run_id": record["id"],
        "op": record["op"],
        "env": record["env"],
        "pid": run.pid,
        "hard": hard,
        "ended": ended,
    }
    asked = f"asked run {record['id']} of {record['op']}, process {run.pid}, to stop"
    said = {None: "", True: "; it has ended", False: f"; it goes on after {wait_s} s"}[ended]
    return Outcome(FAILED if ended is False else OK, document, f"{asked}{said}", is_answer=True)


def _seconds(text: str | None) -> float | None:
    """Read the value of --wait.

    Raises:
        ParamInvalid: It is no number of seconds up to an hour.

    """
    from ops.errors import ParamInvalid

    if text is None:
        return None
    most = 3600
    number = whole_number(text)
    if number is None or number > most:
        msg = f"--wait needs whole seconds, up to {most}, not {text[:40]!r}"
        raise ParamInvalid(msg)
    return number


def _ended(run: Living, wait_s: float, around: Surroundings) -> bool:
    """Wait until the run's note is gone; its record is in the ledger then."""
    import threading
    import time

    stopped, give_up_s = threading.Event(), time.monotonic() + wait_s
    around.cancel.on_cancel(stopped.set)
    while run.goes_on:
        left_s = give_up_s - time.monotonic()
        if left_s <= 0 or stopped.wait(min(LOOK_S, left_s)):
            return not run.goes_on
    return True


RUN_CANCEL = Verb(
    path=("run", "cancel"),
    summary="Stop a run that goes on in another process; its clean-up follows",
    handler=answer,
    document='{"run_id", "op", "env", "pid", "hard", "ended" (with --wait, else null)}',
    params=(Param("RUN", "an Op that runs now, or the id of a run, see chant run list"),),
    own_flags=(
        Flag("--hard", "also stop its clean-up"),
        Flag("--wait", "wait so long for its end; exit 1 if it goes on", "SECONDS"),
        ENV,
    ),
    exit_codes=(OK, FAILED, USAGE, REFUSED),
)

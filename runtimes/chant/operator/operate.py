"""``chant operator`` on a real project: its lease, its schedule, its runs, its log."""

from __future__ import annotations

import queue
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actors import signals
from actors.real_platform import RealPlatform
from ops.cron import parse_cron
from ops.errors import LedgerError, OpNotFound, ParamInvalid
from ops.lease import take_lease
from ops.loading import load_catalog
from ops.project import choose_environment, find_project
from ops.run_id import timestamp
from ops.step_env import CHANNEL
from ops.stewards import find_steward
from ops.waits import judge
from runtimes.chant.operator.operating import Note, Operator, Orders
from runtimes.chant.operator.run_log import OperatorLog
from runtimes.chant.operator.state import STOPPED
from runtimes.chant.place import ledger_of
from runtimes.chant.project_tasks import ProjectTasks
from runtimes.chant.run_tasks import RunRequest
from runtimes.chant.steward_turns import steward_environ
from runtimes.chant.verbs.verb import CANCELLED, FAILED, OK, WAITING, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.platform import Platform
    from ops.cron import Cron
    from ops.ledger import Ledger
    from ops.project import Project, Steward
    from ops.waits import Wait
    from runtimes.chant.operator.operating import Operated
    from runtimes.chant.run_tasks import RunTasks
    from runtimes.chant.verbs.verb import Surroundings

INTERNAL_FAULT = 70
"""Exit code when the actor tree itself failed (EX_SOFTWARE of sysexits.h)."""


@dataclass(frozen=True, slots=True)
class Post:
    """Where an operator works, and for whom."""

    project: Project
    steward: Steward
    env: str
    ledger: Ledger
    environ: Mapping[str, str]
    """What its runs inherit."""
    schedule: Mapping[str, tuple[Cron, ...]]


def operate(name: str | None, around: Surroundings, *, once: bool) -> Outcome:
    """Operate until told to end, or with ``once`` until every scheduled Op had its turn."""
    post = post_of(name, around)
    lease = take_lease(post.ledger.state_dir, post.env, post.steward.name, timestamp(time.time()))
    try:
        log = OperatorLog(post.ledger.state_dir, post.env)
        try:
            operated = _operated(post, log, around, once=once)
        finally:
            log.close()
    finally:
        lease.end()
    return _outcome(post, operated)


def post_of(name: str | None, around: Surroundings) -> Post:
    """Check all that an operator needs.

    Raises:
        OpsError: There is no such steward, schedule, Op or ledger.

    """
    project = find_project(around.cwd)
    steward = find_steward(project, name or _only(project))
    env = choose_environment(project, steward.environment or None)
    environ = steward_environ(steward.name, around.cwd, around.environ)
    schedule: dict[str, tuple[Cron, ...]] = {}
    for op, text in steward.schedule:
        schedule[op] = (*schedule.get(op, ()), parse_cron(text))
    catalog = load_catalog(project)
    for op in schedule:
        if op not in catalog.broken:
            catalog.find(op)
    ledger, environ = ledger_of(project), {**environ, CHANNEL: "operator"}
    return Post(project, steward, env, ledger, environ, schedule)


def orders_of(post: Post, platform: Platform, log: OperatorLog, *, once: bool) -> Orders:
    """Return what an operator on a real project does."""

    def tasks(op: str) -> RunTasks:
        request = RunRequest(
            op=op,
            cwd=post.project.root,
            environ=post.environ,
            env=post.env,
            origin="operator",
            steward=post.steward.name,
        )
        return ProjectTasks(request, platform)

    def look(op: str) -> Wait:
        try:
            late = post.ledger.refresh()
        except LedgerError as error:
            late = error.message
        if late:
            log.tell(f"warning: {late}")
        return judge(post.ledger, post.env, op, platform.wall())

    return Orders(post.schedule, once, tasks, look, log.tell)


def _only(project: Project) -> str:
    if len(project.stewards) == 1:
        return next(iter(project.stewards))
    message = f"--steward needs a name; declared: {', '.join(project.stewards) or 'none'}"
    raise OpNotFound(message) if not project.stewards else ParamInvalid(message)


def _operated(post: Post, log: OperatorLog, around: Surroundings, *, once: bool) -> Operated:
    notes: queue.SimpleQueue[Note] = queue.SimpleQueue()
    if threading.current_thread() is threading.main_thread():
        signals.note(lambda number: notes.put(Note("signal", number)))
    around.cancel.on_cancel(lambda: notes.put(Note("signal", signal.SIGINT)))
    platform = RealPlatform()
    log.tell(f"steward {post.steward.name} operates {post.env}; log: {log.path}")
    operated = Operator(orders_of(post, platform, log, once=once), platform, notes).run()
    log.tell("the operator broke down" if operated.broken else "the operator has ended")
    return operated


def _outcome(post: Post, operated: Operated) -> Outcome:
    runs = [
        {"op": op, "status": each.status, "run_id": each.run_id, "reason": each.reason}
        for op, each in operated.last.items()
    ]
    skipped = {op: why for op, why in operated.waiting.items() if op not in operated.last}
    document: dict[str, Any] = {
        "steward": post.steward.name,
        "env": post.env,
        "runs": runs,
        "waiting": dict(operated.waiting),
    }
    lines = [f"{each['op']}: {each['status']} {each['reason']}".rstrip() for each in runs]
    lines += [f"{op}: skipped, it waits on {why}" for op, why in skipped.items()]
    text = "\n".join(lines) or "nothing ran"
    return Outcome(_code(operated), document, text, is_answer=True)


def _code(operated: Operated) -> int:
    """Return the exit code; an end that was asked for is a good one, Ctrl-C aside."""
    if operated.broken:
        return INTERNAL_FAULT
    if operated.signal is not None:
        return CANCELLED if operated.signal == signal.SIGINT else OK
    statuses = {each.status for each in operated.last.values()}
    if statuses - {"ok"} - STOPPED:
        return FAILED
    return WAITING if operated.waiting or statuses & STOPPED else OK

"""Runs the tasks of a world one at a time and decides at each point who goes on.

Time stands still while anyone can run, then jumps to the next moment that someone waits for.  When
nobody waits for one either, the world is over, or it hangs.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from actors.simulation.task import Killed, SimTask, place
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.backend import Backend
    from actors.simulation.policies import Policy
    from actors.simulation.trace import Trace


class Limits(NamedTuple):
    """What a world may use before it counts as one that never ends."""

    points: int = 60_000
    seconds: float = 3_000.0
    """Of its own clock, without any progress."""


class Scheduler:
    """One world's tasks and clock."""

    def __init__(
        self, backend: Backend, policy: Policy, trace: Trace, limits: Limits | None = None
    ) -> None:
        """Make an empty world at second 0."""
        self._backend = backend
        self._policy = policy
        self._limits = limits or Limits()
        self._ready: list[SimTask] = []
        self._asleep: list[tuple[float, int, int, SimTask]] = []
        self._sleeps = 0
        self._progress_at = 0.0
        self.trace = trace
        self.tasks: list[SimTask] = []
        self.current: SimTask
        """The task that runs.  Only there within `run`."""
        self.now = 0.0
        self.points = 0
        self.over = False
        """From now on every task that comes to a point is unwound."""
        self.hang = ""
        """Why the world could not end by itself: who waits for what."""
        self.raised: list[tuple[SimTask, BaseException]] = []
        """What tasks let escape."""

    def run(self, main: Callable[[], None]) -> None:
        """Run ``main`` and all that it starts until nothing runs any more."""
        self.current = SimTask(self, 0, "main", main, 0)
        self._begin(self.current)
        self._backend.run(self.current)
        self.over = True
        for task in self.tasks:
            if task.state != "ended":
                self.current = task
                self._backend.run(task)

    # --- called by the running task

    def spawn(self, name: str, target: Callable[[], None]) -> SimTask:
        """Start a task; it runs when the policy says so."""
        me = self.current
        if self.over or me.killed:
            raise Killed
        task = SimTask(self, len(self.tasks), name, target, me.group)
        self._begin(task)
        return task

    def spawn_process(self, name: str, target: Callable[[], None]) -> SimTask:
        """Start a task as a process of its own: what it starts can be killed with it."""
        task = SimTask(self, len(self.tasks), name, target, len(self.tasks))
        self._begin(task)
        return task

    def kill(self, process: SimTask) -> None:
        """End a process and all its tasks, wherever they are, and wait until they are gone."""
        doomed = [t for t in self.tasks if t.group == process.group and t.state != "ended"]
        for task in doomed:
            task.killed = True
            self.wake(task)
        for task in doomed:
            task.join()

    def point(self) -> None:
        """Let another task go on here, if the policy says so."""
        me = self.current
        if self.over or me.killed:
            raise Killed
        self.points += 1
        if self.points > self._limits.points:
            self._give_up(f"no end after {self._limits.points} scheduling points")
        if len(self._ready) > 1:
            chosen = self._policy.choose(self._ready, me)
            if chosen is not me:
                self._hand_over(me, chosen)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until `wake`, or for ``timeout`` seconds; tell whether it was a wake."""
        if timeout is not None and timeout <= 0:
            self.point()
            return False
        me = self.current
        if self.over or me.killed:
            raise Killed
        me.state, me.woken = "waiting", False
        me.ticket += 1
        self._ready.remove(me)
        if timeout is not None:
            self._sleeps += 1
            heapq.heappush(self._asleep, (self.now + timeout, self._sleeps, me.ticket, me))
        chosen = self._next()
        if chosen is not me:
            self._hand_over(me, chosen)
        return me.woken

    def wake(self, task: SimTask) -> None:
        """Let a waiting task go on; one that does not wait is left alone."""
        if task.state == "waiting":
            task.state, task.woken = "ready", True
            self._ready.append(task)

    def progress(self) -> None:
        """Note that something happened that a person would call progress."""
        self._progress_at = self.now

    # --- called by the backend

    def body(self, task: SimTask) -> SimTask | None:
        """Run a task to its end; return who goes on, None: nobody."""
        try:
            if not self.over and not task.killed:
                task.target()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001 - a finding, told with the seed
            self.raised.append((task, error))
        task.state = "ended"
        if self.over:
            return None
        self._ready.remove(task)
        for joiner in task.joiners:
            self.wake(joiner)
        chosen = self._next()
        if chosen is not None:
            self._switched(chosen)
        return chosen

    # --- inside

    def _begin(self, task: SimTask) -> None:
        self.tasks.append(task)
        self._ready.append(task)
        self._policy.born(task)
        self.trace.spawned(task)

    def _hand_over(self, me: SimTask, chosen: SimTask | None) -> None:
        if chosen is not None:
            self._switched(chosen)
        self._backend.hand_over(me, chosen)
        if self.over or me.killed:
            raise Killed

    def _switched(self, chosen: SimTask) -> None:
        self.current = chosen
        self.trace.switched(chosen)

    def _next(self) -> SimTask | None:
        """Pick who goes on while nobody runs, letting time pass if need be."""
        ready = self._ready
        while not ready:
            if not self._let_time_pass():
                self._end()
                return None
        return ready[0] if len(ready) == 1 else self._policy.choose(ready, None)

    def _let_time_pass(self) -> bool:
        """Jump to the next moment that someone waits for; False when there is none."""
        asleep = self._asleep
        due: float | None = None
        while asleep and (due is None or asleep[0][0] <= due):
            at, _, ticket, task = heapq.heappop(asleep)
            if task.state != "waiting" or task.ticket != ticket:
                continue
            due = self.now = at
            task.state = "ready"
            self._ready.append(task)
        if due is not None and due - self._progress_at > self._limits.seconds:
            self.hang = f"no progress for {self._limits.seconds:.0f} s: {self._waiting()}"
            self.over = True
            return False
        return due is not None

    def _end(self) -> None:
        """Nobody can run ever again: that is the end, if nobody wants to."""
        if not self.over and any(task.state != "ended" and not task.daemon for task in self.tasks):
            self.hang = f"deadlock: {self._waiting()}"
        self.over = True

    def _give_up(self, why: str) -> None:
        self.hang = f"{why}: {self._waiting()}"
        self.over = True
        raise Killed

    def _waiting(self) -> str:
        """Say on one line who waits for what."""
        return "; ".join(
            f"{task.name} in {place(self._backend.frame(task))}"
            for task in self.tasks
            if task.state != "ended"
        )

"""A function as a step: it runs on a leaf thread, and is asked, not forced, to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.faults import point
from actors.logs import log
from actors.work import StepEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.capture import StepOutput
    from actors.faults import Faults
    from actors.platform import Platform
    from actors.work import AbortReason, CallableWork, OutputSource, Stream

AT_CALL = point("step.call", "a callable step is about to run")
AT_RETURN = point("step.return", "a callable step is over and about to be reported")


class StepToken:
    """Set once, when the step is aborted."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._changed = platform.condition()
        self._set = False
        self._callbacks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        """Tell whether the step was aborted."""
        with self._changed:
            return self._set

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as the step was aborted."""
        deadline = self._platform.monotonic() + timeout_s
        with self._changed:
            while not self._set and (left_s := deadline - self._platform.monotonic()) > 0:
                self._changed.wait(left_s)
            return self._set

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once on abort, at once when it already happened."""
        with self._changed:
            if not self._set:
                self._callbacks.append(callback)
                return
        _call(callback)

    def cancel(self) -> None:
        """Wake who sleeps and call who asked for it."""
        with self._changed:
            self._set = True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            _call(callback)


class CallableStep:
    """One call, from its start to its one `StepEnd`; also what the callable gets as context."""

    def __init__(
        self,
        step_id: str,
        work: CallableWork,
        output: StepOutput,
        source: OutputSource,
        on_end: Callable[[StepEnd], None],
        *,
        platform: Platform,
        faults: Faults,
    ) -> None:
        """Make the step; `start` runs it."""
        self.step_id = step_id
        self.cancel = StepToken(platform)
        self._work = work
        self._output = output
        self._source = source
        self._on_end = on_end
        self._platform = platform
        self._faults = faults
        self._lock = platform.condition()
        self._aborted: AbortReason | None = None
        self._over = False

    def start(self) -> None:
        """Run it on a thread of its own.  Where there is none, it has failed."""
        try:
            self._platform.spawn(f"step-{self._work.name}-{self.step_id}", self._run)
        except RuntimeError as error:
            self._end(StepEnd(self.step_id, "failed", error=str(error)))

    def abort(self, reason: AbortReason) -> None:
        """Set the token; the step ends when the callable returns."""
        with self._lock:
            if self._over or self._aborted is not None:
                return
            self._aborted = reason
        self.cancel.cancel()

    def kill(self) -> None:
        """Report the step as ended and let its thread run out unheard."""
        self.abort("cancelled")
        still_running = f"{self._work.name} did not stop and is still running"
        self._end(StepEnd(self.step_id, "cancelled", error=still_running))

    # What the callable sees.

    def emit(self, stream: Stream, text: str) -> None:
        """Show output; may wait for a slow client.  After the step's end it goes nowhere."""
        with self._lock:
            if self._over:
                return
        self._output.feed(stream, text.encode("utf-8", "replace"))

    def monotonic(self) -> float:
        """Seconds on the platform's clock."""
        return self._platform.monotonic()

    # The leaf thread.

    def _run(self) -> None:
        end = self._call()
        try:
            self._faults.at(AT_RETURN, self.step_id)
        except Exception as fault:  # noqa: BLE001 - an injected fault must not cost the report
            end = StepEnd(self.step_id, "lost", error=f"reporting the end failed: {fault}")
        self._end(end)

    def _call(self) -> StepEnd:
        if self.cancel.is_set():
            return StepEnd(self.step_id, "cancelled")
        try:
            self._faults.at(AT_CALL, self.step_id)
            value = self._work.run(self)
        except BaseException as error:  # noqa: BLE001 - also SystemExit is only this step's failure
            return StepEnd(self.step_id, "failed", error=str(error) or type(error).__name__)
        return StepEnd(self.step_id, "returned", value=value)

    def _end(self, end: StepEnd) -> None:
        """Report ``end``, unless the step is over already."""
        with self._lock:
            if self._over:
                return
            self._over = True
            kind = end.kind if self._aborted is None or end.kind == "lost" else self._aborted
        self._source.end()
        self._on_end(
            StepEnd(
                end.step_id,
                kind,
                value=end.value,
                error=end.error,
                stdout=self._output.captured("stdout"),
                stderr=self._output.captured("stderr"),
            )
        )


def _call(callback: Callable[[], None]) -> None:
    """Call it; who aborts a step has nobody to answer for its mistakes."""
    try:
        callback()
    except Exception as error:  # noqa: BLE001 - the abort must go on
        log().opt(exception=error).error("a cancel callback failed")

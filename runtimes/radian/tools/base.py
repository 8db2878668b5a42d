"""What a tool is, as values and one interface: what the engine offers, prepares, runs and tells.

A call goes through `prepare` (looks, never changes; on a leaf thread), then
`runtimes.radian.permissions.decide`, then `Tool.start`, whose work is run as a step, and
`ToolRun.finish`, which is pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from actors.work import CallableWork
from protocol.values import frozen
from runtimes.radian.tools.inputs import InputInvalidError, read_input

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.faults import Faults
    from actors.work import StepEnd, Stream, Work, WorkContext
    from runtimes.radian.permissions import Request
    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.tools.jobs import Jobs
    from runtimes.radian.tools.places import Places
    from runtimes.radian.tools.sandbox import Sandboxes
    from runtimes.radian.tools.seen import SeenFiles

Kind: TypeAlias = Literal["read", "search", "edit", "execute", "fetch", "think", "other"]
"""The protocol's kinds of tool."""
Input: TypeAlias = "Mapping[str, Any]"
"""The arguments of a call, valid for the tool's schema."""


LEADS_ELSEWHERE = "leads elsewhere since it was looked at"


class ToolFailedError(Exception):
    """A call failed; the text is its result, for the model and for people."""


@frozen
class Location:
    """A file that a call is about; ``path`` is absolute, ``line`` counts from 1."""

    path: str
    line: int | None = None


@frozen
class Diff:
    """A change of a file; ``old`` is None for a new one."""

    path: str
    old: str | None
    new: str


@frozen
class ToolView:
    """How a call is shown before it runs; one line of title, without control characters."""

    title: str
    locations: tuple[Location, ...] = ()
    diff: Diff | None = None


@frozen
class ToolOutcome:
    """What came of a call.

    ``output`` goes to the model, bounded; ``full_output_file`` (absolute) has all of it when it
    was cut.  ``reason`` says in a few words why it failed.
    """

    output: str
    failed: bool = False
    reason: str | None = None
    full_output_file: str | None = None


@frozen
class Prepared:
    """A valid call, ready to be decided, shown and started."""

    tool: str
    input: Input
    view: ToolView
    request: Request


@frozen
class ToolRun:
    """A started call: the work for a step, and how to read its end.

    ``hear`` gets the step's output as it comes, on its leaf thread (call it from the step's
    render); it keeps what does not fit into the result.  ``finish`` is pure.
    """

    work: Work
    finish: Callable[[StepEnd], ToolOutcome]
    hear: Callable[[Stream, str], None] | None = None
    timeout_s: float | None = None


@frozen
class ToolContext:
    """Where the calls of one session run.  Everything in it may be used from several threads."""

    places: Places
    """The workspace, what else may be read, what may not."""
    profile: ProfileName
    sandboxes: Sandboxes
    env: Mapping[str, str]
    """The environment of programs, without secrets; see `runtimes.radian.tools.environment`."""
    output_folder: str
    """Absolute; for full outputs.  Need not exist yet."""
    seen: SeenFiles
    faults: Faults
    jobs: Jobs | None = None
    """None: nothing can run in the background here."""


class Tool(Protocol):
    """One thing that the model may do."""

    @property
    def name(self) -> str:
        """The name that the model calls it by."""
        ...

    @property
    def summary(self) -> str:
        """What the model is told about it."""
        ...

    @property
    def kind(self) -> Kind:
        """The protocol's kind."""
        ...

    @property
    def read_only(self) -> bool:
        """It changes nothing, so independent calls may run side by side."""
        ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments: closed, in the subset of `tools.inputs`."""
        ...

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Look at what the call is about; may read files, changes nothing.

        Raises:
            ToolFailedError: It can't work, whatever a person says.

        """
        ...

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the work of an allowed call.  Starts and touches nothing itself."""
        ...


def prepare(
    tools: Mapping[str, Tool], name: str, arguments: str, context: ToolContext
) -> Prepared | ToolOutcome:
    """Read a call's arguments (JSON text) and look at what it is about; or say why it failed.

    Does I/O: links are resolved, a file may be read to show its change.
    """
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(sorted(tools))
        return failure(f"there is no tool {name!r}; known are {known}", "unknown tool")
    try:
        return tool.prepare(arguments_of(tool, arguments), context)
    except InputInvalidError as error:
        return failure(f"the arguments of {name} are not valid: {error}", "invalid arguments")
    except ToolFailedError as error:
        return failure(str(error))
    except OSError as error:
        return failure(f"{error.strerror or error}: {error.filename}")


def arguments_of(tool: Tool, arguments: str) -> dict[str, Any]:
    """Parse and check the arguments (JSON text) of a call.

    Raises:
        InputInvalidError: They are not what the tool takes.

    """
    return read_input(tool.schema, arguments)


def prepare_work(
    tools: Mapping[str, Tool], name: str, arguments: str, context: ToolContext
) -> CallableWork:
    """Return `prepare` as the work of a step; its value is a `Prepared` or a `ToolOutcome`."""

    def run(work: WorkContext) -> Prepared | ToolOutcome:
        del work
        return prepare(tools, name, arguments, context)

    return CallableWork(f"prepare-{name}", run)


def failure(text: str, reason: str | None = None) -> ToolOutcome:
    """Return a failed outcome; without a reason of its own the text is the reason."""
    return ToolOutcome(text, failed=True, reason=reason or text)


def returned(end: StepEnd) -> ToolOutcome:
    """Read the end of a callable that returns its `ToolOutcome`."""
    if end.kind == "returned" and isinstance(end.value, ToolOutcome):
        return end.value
    return failure(ended_badly(end))


def ended_badly(end: StepEnd) -> str:
    """Say how a step ended that did not come through."""
    match end.kind:
        case "cancelled":
            return end.error or "cancelled"
        case "timed_out":
            return "timed out"
        case "lost":
            return f"nobody can tell how it ended: {end.error}"
        case _:
            return end.error or f"ended as {end.kind}"

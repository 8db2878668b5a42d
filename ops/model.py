"""What an Op is, as values: phases, steps, parameters, references.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.toml_lines import LineIndex

ParamType: TypeAlias = Literal["string", "integer", "number", "boolean"]

GATE_TIMEOUT_S = 48 * 3600.0
"""How long a pending gate stays answerable when the Op does not say."""


@frozen
class ParamRef:
    """``{ param = "name" }`` in a step's args: the parameter's value, as a whole."""

    name: str


@frozen
class OutputRef:
    """``{ from = "step-id", path = "a.b" }``: a piece of an earlier step's output."""

    step_id: str
    path: str = ""
    """Dotted; empty takes the whole output."""


@frozen
class Retry:
    """How often a step is tried and how long it waits before it is tried again."""

    attempts: int = 1
    first_wait_s: float = 5.0
    factor: float = 2.0
    max_wait_s: float = 300.0

    def wait_s(self, attempt: int) -> float:
        """Return the seconds between attempt ``attempt`` (from 1) and the one after it."""
        # The exponent is bounded so that a large attempt number can't overflow a float.
        grown = self.first_wait_s * self.factor ** min(attempt - 1, 64)
        return min(grown, self.max_wait_s)


@frozen
class Profile:
    """A named time limit (for each attempt) and retry."""

    name: str
    timeout_s: float
    retry: Retry = field(default_factory=Retry)


@frozen
class Param:
    """A parameter that an Op or the project declares."""

    name: str
    type: ParamType = "string"
    default: Any = None
    enum: tuple[Any, ...] = ()
    env: str | None = None
    """The environment variable that gives the value when the command line does not."""
    required: bool = False
    description: str = ""


@frozen
class Outcome:
    """A piece of a step's output that the run publishes under ``name``."""

    name: str
    path: str = "stdout"


@frozen
class ActivityStep:
    """A step that does something: ``fn`` names the activity."""

    step_id: str
    fn: str
    args: Mapping[str, Any]
    """As declared; references are tables, see `ops.references`."""
    profile: str = "quick"
    timeout_s: float | None = None
    """None takes the profile's."""
    retry: Retry | None = None
    outcomes: tuple[Outcome, ...] = ()
    call: str = ""
    """``module:function`` behind an activity of the project's own; empty for ours."""


@frozen
class GateStep:
    """A step that only people open."""

    step_id: str
    gate: str
    description: str = ""
    timeout_s: float = GATE_TIMEOUT_S
    quorum: int = 1
    roles: tuple[str, ...] = ()
    reuse: bool = False


@frozen
class PointStep:
    """A step that asks a declared decision point; ``args`` are its inputs."""

    step_id: str
    point: str
    args: Mapping[str, Any]
    description: str = ""
    outcomes: tuple[Outcome, ...] = ()


Step: TypeAlias = ActivityStep | GateStep | PointStep


@frozen
class Phase:
    """Steps that belong together, in written order or side by side."""

    name: str
    steps: tuple[Step, ...]
    parallel: bool = False
    fail_fast: bool = False


@frozen
class Source:
    """Where an Op was read from: ``file`` relative to the project, and its lines."""

    file: str
    lines: LineIndex


@dataclass(frozen=True, slots=True)
class Op:
    """One declared operation."""

    name: str
    phases: tuple[Phase, ...]
    on_failure: tuple[Phase, ...] = ()
    overview: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    depends: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    """Where it may run; empty: everywhere."""
    params: Mapping[str, Param] = field(default_factory=dict[str, Param])
    source: Source | None = field(default=None, compare=False, repr=False)

    @property
    def file(self) -> str:
        """The file it came from, relative to the project; its name when it came from none."""
        return self.source.file if self.source else self.name

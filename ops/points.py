"""What a decision point is, as values: a question, what it depends on, and who is asked.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.digests import digest
from ops.errors import OpsError, ParamInvalid, unknown
from ops.model import Param
from ops.params import typed_value
from ops.references import as_reference
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.findings import Problem
    from ops.model import ParamType, Source

QuestionType: TypeAlias = Literal["yesno", "choice", "score"]
Unreachable: TypeAlias = Literal["escalate", "fail"]
Answer: TypeAlias = "str | int"
"""``yes`` or ``no``, one of the options, or a level."""

DEFAULT_CAPABILITY = "inference"
DIGEST_DIGITS = 12
YES_NO = ("yes", "no")
_SPELLINGS = {"true": "yes", "false": "no", "y": "yes", "n": "no"}


class PointInvalid(OpsError):  # noqa: N818 - the tree names what happened
    """A point has findings, or was asked with inputs that it does not take."""


class PointUnknown(OpsError):  # noqa: N818
    """No point of that name; the message lists those that there are."""


@frozen
class Question:
    """What is asked.  ``options`` belong to a choice, ``levels`` to a score (1 up to it)."""

    type: QuestionType
    instructions: str = ""
    options: tuple[str, ...] = ()
    levels: int = 0

    @property
    def candidates(self) -> tuple[Answer, ...]:
        """Every answer that can be given."""
        match self.type:
            case "yesno":
                return YES_NO
            case "choice":
                return self.options
            case "score":
                return tuple(range(1, self.levels + 1))

    def read(self, value: object) -> Answer | None:
        """Return the candidate that ``value`` means, typed or as text; None if it is none."""
        text = str(value).strip() if not isinstance(value, bool) else str(value).lower()
        if self.type == "yesno":
            text = _SPELLINGS.get(text.lower(), text.lower())
        return next((each for each in self.candidates if str(each) == text), None)


@frozen
class Condition:
    """One input compared with a value: ``op`` is eq, ne, lt, lte, gt, gte or in."""

    name: str
    op: str
    value: Any

    def holds(self, inputs: Mapping[str, Any]) -> bool:
        """Tell whether it holds for typed inputs."""
        given = inputs[self.name]
        match self.op:
            case "eq":
                return bool(given == self.value)
            case "ne":
                return bool(given != self.value)
            case "lt":
                return bool(given < self.value)
            case "lte":
                return bool(given <= self.value)
            case "gt":
                return bool(given > self.value)
            case "gte":
                return bool(given >= self.value)
            case _:
                return given in self.value


@frozen
class Row:
    """A row of a table: the answer where all conditions hold; none: it always fits."""

    when: tuple[Condition, ...]
    answer: Answer


@frozen
class TableDecider:
    """Answers by the first row that fits."""

    rows: tuple[Row, ...]
    kind: str = "table"

    def answer(self, inputs: Mapping[str, Any]) -> Answer | None:
        """Return the answer of the first row that fits, None if none does."""
        fitting = (row for row in self.rows if all(each.holds(inputs) for each in row.when))
        row = next(fitting, None)
        return None if row is None else row.answer


@frozen
class ModelDecider:
    """Proposes what a model says, if that is sure enough."""

    provider: str
    model: str
    threshold: float = 0.8
    """Confidence from 0 to 1 that a proposal needs."""
    unreachable: Unreachable = "escalate"
    kind: str = "model"


@frozen
class QuorumDecider:
    """People: ``count`` of them must give the same answer, each with one of ``roles``, if any."""

    count: int = 1
    roles: tuple[str, ...] = ()
    kind: str = "quorum"


Decider: TypeAlias = TableDecider | ModelDecider | QuorumDecider


@frozen
class Input:
    """What an input may be: a type, or the answers of another point."""

    name: str
    type: ParamType = "string"
    answer_of: str = ""
    """The point whose answers it takes; empty: any value of the type."""


@dataclass(frozen=True, slots=True)
class Point:
    """One declared decision point."""

    name: str
    question: Question
    title: str = ""
    capability: str = DEFAULT_CAPABILITY
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    deciders: tuple[Decider, ...] = ()
    """In the order in which they are asked; people come last, declared or not."""
    source: Source | None = field(default=None, compare=False, repr=False)

    @property
    def file(self) -> str:
        """The file it came from, relative to the project; its name when it came from none."""
        return self.source.file if self.source else self.name

    @property
    def people(self) -> QuorumDecider:
        """Who is asked when nothing else answers."""
        last = self.deciders[-1] if self.deciders else None
        return last if isinstance(last, QuorumDecider) else QuorumDecider()

    @property
    def digest(self) -> str:
        """The digest of the declaration: one that is changed asks anew."""
        return digest([self.name, self.title, self.capability, self.question, *self._rest])

    @property
    def _rest(self) -> tuple[object, ...]:
        return dict(self.inputs), self.deciders

    def typed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs in their types, sorted by name; text is read.

        Raises:
            PointInvalid: One is missing, not declared, or of another type.

        """
        for name in given:
            if name not in self.inputs:
                raise PointInvalid(unknown(f"input of point {self.name!r}:", name, self.inputs))
        missing = [name for name in self.inputs if given.get(name) is None]
        if missing:
            msg = f"point {self.name!r} needs {', '.join(missing)}"
            raise PointInvalid(msg)
        return {name: self._typed(name, given[name]) for name in sorted(self.inputs)}

    def misfits(self, args: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield (key, reason) for what a step's args can't give; a reference may be anything."""
        for name in args:
            if name not in self.inputs:
                yield name, unknown(f"input of point {self.name!r}:", name, self.inputs)
        for name, declared in self.inputs.items():
            if name not in args:
                yield name, f"point {self.name!r} needs the input {name!r}"
            elif as_reference(args[name]) is None:
                try:
                    self._typed(declared.name, args[name])
                except PointInvalid as error:
                    yield name, error.message

    def _typed(self, name: str, value: Any) -> Any:
        kind = self.inputs[name].type
        try:
            return typed_value(Param(name, kind), value)
        except ParamInvalid as error:
            msg = f"input {name!r} of point {self.name!r} must be of type {kind}, not {value!r}"
            raise PointInvalid(msg) from error

    def question_id(self, inputs: Mapping[str, Any]) -> str:
        """Return the id of this question with these (typed) inputs: the same is asked once."""
        hexadecimal = digest([self.digest, dict(inputs)]).removeprefix("sha256:")
        return f"{self.name}-{hexadecimal[:DIGEST_DIGITS]}"


@frozen
class Points:
    """The points of a project by name, and what is wrong with files that gave none."""

    points: Mapping[str, Point] = field(default_factory=dict[str, Point])
    problems: tuple[Problem, ...] = ()
    broken: Mapping[str, tuple[Problem, ...]] = field(
        default_factory=dict[str, "tuple[Problem, ...]"]
    )
    """Names that no point could be made of, with the reasons."""

    def find(self, name: str) -> Point:
        """Return a point.

        Raises:
            PointInvalid: Its file has findings.
            PointUnknown: Nothing has that name; the message lists what there is.

        """
        if name in self.broken:
            raise PointInvalid("\n".join(map(str, self.broken[name])))
        if name not in self.points:
            raise PointUnknown(unknown("point", name, self.points))
        return self.points[name]

"""`points/*.toml`, read and checked.  Data only; a broken file never hides the others."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ops.errors import unknown
from ops.findings import Problem
from ops.model import Source
from ops.op_file import KEBAB, PARAM_TYPES
from ops.points import (
    DEFAULT_CAPABILITY,
    Condition,
    Decider,
    Input,
    ModelDecider,
    Point,
    Points,
    Question,
    QuorumDecider,
    Row,
    TableDecider,
)
from ops.toml_file import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.findings import Table
    from ops.points import QuestionType, Unreachable

FOLDER = "points"
SUFFIX = ".toml"
QUESTION_TYPES: dict[str, QuestionType] = {"yesno": "yesno", "choice": "choice", "score": "score"}
KINDS = ("table", "model", "quorum")
UNREACHABLE: dict[str, Unreachable] = {"escalate": "escalate", "fail": "fail"}
ORDERED = frozenset({"lt", "lte", "gt", "gte"})
COMPARISONS = ("eq", "ne", "lt", "lte", "gt", "gte", "in")
MAX_OPTIONS = 255
MIN_LEVELS, MAX_LEVELS = 2, 10


def load_points(root: str) -> Points:
    """Read every file of the project's ``points`` folder."""
    points: dict[str, Point] = {}
    broken: dict[str, list[Problem]] = {}
    problems: list[Problem] = []
    for file in _files(root, problems):
        point, name, found = _load(root, file)
        if point is not None and name in points:
            first = points.pop(name).file
            found = [Problem(file, 1, f"point {name!r} is also declared in {first}")]
        if point is not None and not found and name not in broken:
            points[name] = point
            continue
        problems += found
        broken.setdefault(name, []).extend(found)
    _join(points, broken, problems)
    reasons = {name: tuple(found) for name, found in broken.items()}
    return Points(dict(sorted(points.items())), tuple(sorted(problems)), reasons)


def read_point(top: Table) -> Point:
    """Return the point that a file declares; only to be used when there were no findings."""
    top.what = "point"
    name = top.text("name", required=True)
    if name and not KEBAB.fullmatch(name):
        top.problem("name", f"name {name!r} must be kebab-case, like ship-it")
    top.what = f"point {name}" if name else "point"
    question = _question(top.table("question", "question"))
    inputs = _inputs(top.table("inputs", "inputs"))
    point = Point(
        name,
        question,
        top.text("title"),
        top.text("capability", DEFAULT_CAPABILITY),
        inputs,
        _deciders(top, question, inputs),
        Source(top.findings.file, top.findings.lines),
    )
    top.close()
    return point


def _files(root: str, problems: list[Problem]) -> list[str]:
    try:
        names = sorted(os.listdir(os.path.join(root, FOLDER)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem(FOLDER, 1, f"can't be looked into: {error.strerror}"))
        return []
    return [f"{FOLDER}/{name}" for name in names if name.endswith(SUFFIX) and name[0] != "."]


def _load(root: str, file: str) -> tuple[Point | None, str, list[Problem]]:
    stem = os.path.basename(file).removesuffix(SUFFIX)
    table, findings = read_table(root, file)
    point = read_point(table) if table is not None else None
    name = point.name if point and point.name else stem
    return (None if findings.problems else point), name, sorted(findings.problems)


# --- one file


def _question(table: Table) -> Question:
    asked = table.text("type", required=True)
    kind = QUESTION_TYPES.get(asked)
    if kind is None and asked:
        table.problem("type", unknown("type", asked, QUESTION_TYPES))
    question = Question(kind or "yesno", table.text("instructions"))
    if kind == "choice":
        question = replace(question, options=_options(table))
    elif kind == "score":
        levels = table.whole("levels", 0)
        if not MIN_LEVELS <= levels <= MAX_LEVELS:
            table.problem("levels", f"levels must be from {MIN_LEVELS} to {MAX_LEVELS}")
        question = replace(question, levels=levels)
    table.close()
    return question


def _options(table: Table) -> tuple[str, ...]:
    options = table.texts("options")
    if not MIN_LEVELS <= len(options) <= MAX_OPTIONS or len(set(options)) < len(options):
        table.problem("options", f"options must be 2 to {MAX_OPTIONS} different texts")
    if any(option != option.strip() or not option for option in options):
        table.problem("options", "an option is empty, or has spaces around it")
    return options


def _inputs(table: Table) -> dict[str, Input]:
    return {name: _input(table, name) for name in list(table.values)}


def _input(table: Table, name: str) -> Input:
    """Read ``risk = "string"``, or ``risk = { answer = "other-point" }``."""
    if isinstance(table.values[name], dict):
        inner = table.table(name, f"input {name}")
        other = inner.text("answer", required=True)
        inner.close()
        return Input(name, answer_of=other)
    asked = table.text(name)
    kind = PARAM_TYPES.get(asked)
    if kind is None and asked:
        table.problem(name, unknown("type", asked, PARAM_TYPES))
    return Input(name, kind or "string")


def _deciders(top: Table, question: Question, inputs: Mapping[str, Input]) -> tuple[Decider, ...]:
    found: list[Decider] = []
    for table in top.tables("deciders", "decider"):
        kind = table.text("kind", required=True)
        if any(isinstance(each, QuorumDecider) for each in found):
            table.problem("kind", "nobody is asked after the quorum: it must be the last decider")
        match kind:
            case "table":
                found.append(TableDecider(_rows(table, question, inputs)))
            case "model":
                found.append(_model(table))
            case "quorum":
                roles = table.texts("roles")
                found.append(QuorumDecider(table.whole("count", 1, least=1), roles))
            case _:
                if kind:
                    table.problem("kind", unknown("decider", kind, KINDS))
                continue
        table.close()
    return tuple(found)


def _model(table: Table) -> ModelDecider:
    threshold = table.number("threshold", 0.8)
    if threshold > 1:
        table.problem("threshold", f"threshold must be from 0 to 1, not {threshold:g}")
    asked = table.text("unreachable", "escalate")
    if asked not in UNREACHABLE:
        table.problem("unreachable", unknown("way", asked, UNREACHABLE))
    provider, model = table.text("provider", required=True), table.text("model", required=True)
    return ModelDecider(provider, model, threshold, UNREACHABLE.get(asked, "escalate"))


def _rows(table: Table, question: Question, inputs: Mapping[str, Input]) -> tuple[Row, ...]:
    rows = tuple(_row(each, question, inputs) for each in table.tables("rows", "row"))
    if not rows:
        table.problem("rows", "it has no rows")
    return rows


def _row(table: Table, question: Question, inputs: Mapping[str, Input]) -> Row:
    when = table.table("when", "when")
    conditions = tuple(
        condition for name in list(when.values) for condition in _conditions(when, name, inputs)
    )
    if "answer" not in table.values:
        table.findings.add(table.path, f"{table.what}: answer is missing")
    value = table.take("answer")
    answer = question.read(value)
    if answer is None and value is not None:
        choices = ", ".join(map(str, question.candidates))
        table.problem("answer", f"answer {value!r} can't be given; possible: {choices}")
    table.close()
    return Row(conditions, answer if answer is not None else "")


def _conditions(when: Table, name: str, inputs: Mapping[str, Input]) -> list[Condition]:
    """Read ``risk = "low"``, or ``risk = { in = [...], ne = ... }``."""
    if name not in inputs:
        when.problem(name, unknown("input", name, inputs))
        return []
    if not isinstance(when.values[name], dict):
        return [_condition(when, inputs[name], "eq", [when.take(name)])]
    inner = when.table(name, f"condition on {name}")
    found: list[Condition] = []
    for op in list(inner.values):
        if op not in COMPARISONS:
            inner.problem(op, unknown("comparison", op, COMPARISONS))
            continue
        wanted = inner.items(op) if op == "in" else [inner.take(op)]
        found.append(_condition(when, inputs[name], op, wanted))
    return found


def _condition(when: Table, declared: Input, op: str, wanted: list[Any]) -> Condition:
    if op in ORDERED and declared.type not in {"integer", "number"}:
        when.problem(declared.name, f"{op} compares numbers, and {declared.name} is none")
        return Condition(declared.name, op, wanted[0])
    for each in wanted:
        # An input that takes another point's answers is checked when that point is known.
        if not declared.answer_of and not _fits(each, declared.type):
            when.problem(declared.name, f"{each!r} is not of type {declared.type}")
    return Condition(declared.name, op, tuple(wanted) if op == "in" else wanted[0])


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int)
        case "number":
            return isinstance(value, int | float)
        case _:
            return False


# --- points that take each other's answers


def _join(
    points: dict[str, Point], broken: dict[str, list[Problem]], problems: list[Problem]
) -> None:
    """Check the inputs that are another point's answers, and give them their type."""
    found = {name: _ask_others(point, points, broken) for name, point in points.items()}
    for name, reasons in found.items():
        if reasons:
            del points[name]
            problems += reasons
            broken.setdefault(name, []).extend(reasons)
    for name, point in points.items():
        inputs = {each.name: _typed_input(each, points) for each in point.inputs.values()}
        points[name] = replace(point, inputs=inputs)


def _ask_others(
    point: Point, points: Mapping[str, Point], broken: Mapping[str, object]
) -> list[Problem]:
    problems: list[Problem] = []
    for each in point.inputs.values():
        line = point.source.lines.line(("inputs", each.name)) if point.source else 1
        if not each.answer_of:
            continue
        if each.answer_of not in points:
            known = {**points, **broken}
            reason = unknown("point", each.answer_of, known)
            if each.answer_of in broken:
                reason = f"point {each.answer_of!r} has findings of its own"
            problems.append(Problem(point.file, line, f"input {each.name}: {reason}"))
        elif cycle := _cycle(point.name, each.answer_of, points):
            reason = f"points wait for each other: {' -> '.join(cycle)}"
            problems.append(Problem(point.file, line, reason))
        else:
            problems += _answers_fit(point, each, points[each.answer_of].question)
    return problems


def _answers_fit(point: Point, declared: Input, question: Question) -> list[Problem]:
    """Judge the conditions on an input that takes the answers to ``question``."""
    problems: list[Problem] = []
    for place, decider in enumerate(point.deciders):
        rows = decider.rows if isinstance(decider, TableDecider) else ()
        conditions = (each for row in rows for each in row.when if each.name == declared.name)
        for each in conditions:
            wanted = each.value if each.op == "in" else (each.value,)
            path = ("deciders", place, "rows")
            line = point.source.lines.line(path) if point.source else 1
            problems += [
                Problem(point.file, line, f"{value!r} is no answer of {declared.answer_of}")
                for value in wanted
                if value not in question.candidates
            ]
    return problems


def _cycle(start: str, at: str, points: Mapping[str, Point]) -> list[str] | None:
    """Return the names of a way from ``start`` over ``at`` back to ``start``."""
    ways = [[start, at]]
    seen = {at}
    while ways:
        way = ways.pop()
        if way[-1] == start:
            return way
        here = points.get(way[-1])
        for each in here.inputs.values() if here else ():
            if each.answer_of and (each.answer_of not in seen or each.answer_of == start):
                seen.add(each.answer_of)
                ways.append([*way, each.answer_of])
    return None


def _typed_input(declared: Input, points: Mapping[str, Point]) -> Input:
    other = points.get(declared.answer_of)
    score = other is not None and other.question.type == "score"
    return replace(declared, type="integer") if score else declared

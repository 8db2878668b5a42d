"""What depends on what in a project, as nodes and edges.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ops.model import ActivityStep, GateStep, PointStep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.loading import Catalog
    from ops.model import Op, Step
    from ops.resources.resource import Resource

NodeKind: TypeAlias = Literal["op", "resource", "steward", "gate", "point", "step"]
EdgeKind: TypeAlias = Literal["depends", "brings", "runs", "stops-at", "asks", "then", "on-failure"]


@dataclass(frozen=True, slots=True)
class Node:
    """One thing; ``key`` is unique in a graph.  ``group`` is the phase of a step."""

    key: str
    kind: NodeKind
    name: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """From one node's key to another's."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges, each in a stable order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def project_graph(catalog: Catalog, resources: Mapping[str, Resource]) -> Graph:
    """Return Ops with what they need, bring about and stop at, and the stewards that run them."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []

    def add(source: Node, kind: EdgeKind, target: Node) -> None:
        nodes.setdefault(source.key, source)
        nodes.setdefault(target.key, target)
        edges.append(Edge(source.key, target.key, kind))

    for op in catalog.ops.values():
        nodes[_op(op.name).key] = _op(op.name)
    for op in catalog.ops.values():
        for name in op.depends:
            add(_op(op.name), "depends", _op(name))
        for step in (step for phase in op.phases for step in phase.steps):
            for kind, target in _stops(step):
                add(_op(op.name), kind, target)
    for resource in resources.values():
        node = Node(f"resource:{resource.name}", "resource", resource.name)
        nodes[node.key] = node
        if resource.op:
            add(_op(resource.op), "brings", node)
    for steward in catalog.project.stewards.values():
        node = Node(f"steward:{steward.name}", "steward", steward.name)
        nodes[node.key] = node
        for name in steward.ops:
            add(node, "runs", _op(name))
    return Graph(tuple(nodes[key] for key in sorted(nodes)), tuple(dict.fromkeys(edges)))


def op_graph(op: Op) -> Graph:
    """Return the steps of one Op in the order they run, phase by phase."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    before: list[str] = []
    for phase in op.phases:
        steps = [Node(step.step_id, "step", step_name(step), phase.name) for step in phase.steps]
        nodes += steps
        waves = [[node.key for node in steps]] if phase.parallel else [[n.key] for n in steps]
        for wave in waves:
            edges += [Edge(source, target, "then") for source in before for target in wave]
            before = wave
    # on_failure phases run in reverse order of declaration.
    for phase in reversed(op.on_failure):
        steps = [Node(step.step_id, "step", step_name(step), phase.name) for step in phase.steps]
        nodes += steps
        for node in steps:
            edges += [Edge(source, node.key, "on-failure") for source in before]
            before = [node.key]
    return Graph(tuple(nodes), tuple(edges))


def step_name(step: Step) -> str:
    """Return what a step does, in a word."""
    match step:
        case ActivityStep(fn=fn):
            return fn
        case GateStep(gate=gate):
            return f"gate:{gate}"
        case PointStep(point=point):
            return f"point:{point}"


def _op(name: str) -> Node:
    return Node(f"op:{name}", "op", name)


def _stops(step: Step) -> Iterator[tuple[EdgeKind, Node]]:
    match step:
        case GateStep(gate=gate):
            yield "stops-at", Node(f"gate:{gate}", "gate", gate)
        case PointStep(point=point):
            yield "asks", Node(f"point:{point}", "point", point)
        case ActivityStep():
            return

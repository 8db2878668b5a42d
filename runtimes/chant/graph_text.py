"""A graph as lines, JSON, Mermaid and DOT.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.graph import Graph, Node

WORDS = {
    "depends": "depends on",
    "brings": "brings about",
    "runs": "runs",
    "stops-at": "stops at",
    "asks": "asks",
    "then": "then",
    "on-failure": "on failure",
}
SHAPES: Mapping[str, tuple[str, str]] = {
    "op": ("[", "]"),
    "resource": ("[(", ")]"),
    "steward": ("([", "])"),
    "gate": ("{{", "}}"),
    "point": ("{", "}"),
    "step": ("[", "]"),
}
DOT_SHAPES = {
    "op": "box",
    "resource": "cylinder",
    "steward": "oval",
    "gate": "hexagon",
    "point": "diamond",
    "step": "box",
}


def graph_document(graph: Graph) -> dict[str, Any]:
    """Return the graph as JSON shows it."""
    nodes = [{"key": n.key, "kind": n.kind, "name": n.name, "group": n.group} for n in graph.nodes]
    edges = [{"from": e.source, "to": e.target, "kind": e.kind} for e in graph.edges]
    return {"nodes": nodes, "edges": edges}


def graph_lines(graph: Graph) -> str:
    """Return an edge a line; nodes without one stand alone."""
    linked = {key for edge in graph.edges for key in (edge.source, edge.target)}
    names = {node.key: _plain(node) for node in graph.nodes}
    lines = [f"{names[e.source]} {WORDS[e.kind]} {names[e.target]}" for e in graph.edges]
    return "\n".join([*lines, *(names[n.key] for n in graph.nodes if n.key not in linked)])


def mermaid(graph: Graph) -> str:
    """Return a Mermaid flowchart."""
    ids = {node.key: f"n{index}" for index, node in enumerate(graph.nodes)}

    def node_line(node: Node) -> str:
        begin, end = SHAPES[node.kind]
        return f'{ids[node.key]}{begin}"{_mermaid_text(_label(node))}"{end}'

    def group_lines(name: str, inner: list[str]) -> list[str]:
        head = f'subgraph "{_mermaid_text(name)}"'
        return [f"  {head}", *(f"    {line}" for line in inner), "  end"]

    lines = ["flowchart LR", *_grouped(graph, node_line, group_lines)]
    for edge in graph.edges:
        arrow = "-.->" if edge.kind == "on-failure" else "-->"
        said = "" if edge.kind == "then" else f"|{WORDS[edge.kind]}|"
        lines.append(f"  {ids[edge.source]} {arrow}{said} {ids[edge.target]}")
    return "\n".join(lines)


def dot(graph: Graph) -> str:
    """Return a DOT digraph for Graphviz."""
    names = {node.key: _dot_text(node.key) for node in graph.nodes}

    def node_line(node: Node) -> str:
        return (
            f"{names[node.key]} [label={_dot_text(_label(node))}, shape={DOT_SHAPES[node.kind]}];"
        )

    def group_lines(name: str, inner: list[str]) -> list[str]:
        cluster = f"subgraph {_dot_text(f'cluster_{name}')} {{"
        return [
            f"  {cluster}",
            f"    label={_dot_text(name)};",
            *(f"    {i}" for i in inner),
            "  }",
        ]

    lines = ["digraph chant {", "  rankdir=LR;", *_grouped(graph, node_line, group_lines)]
    for edge in graph.edges:
        style = ", style=dashed" if edge.kind == "on-failure" else ""
        label = "" if edge.kind == "then" else WORDS[edge.kind]
        head = f"  {names[edge.source]} -> {names[edge.target]}"
        lines.append(f"{head} [label={_dot_text(label)}{style}];")
    return "\n".join([*lines, "}"])


def _grouped(
    graph: Graph,
    node_line: Callable[[Node], str],
    group_lines: Callable[[str, list[str]], list[str]],
) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for node in graph.nodes:
        groups.setdefault(node.group, []).append(node_line(node))
    for name, inner in groups.items():
        yield from group_lines(name, inner) if name else (f"  {line}" for line in inner)


def _plain(node: Node) -> str:
    return node.name if node.kind == "op" else _label(node)


def _label(node: Node) -> str:
    match node.kind:
        case "op":
            return node.name
        case "step":
            return f"{node.name} ({node.key})"
        case kind:
            return f"{kind} {node.name}"


def _mermaid_text(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "#lt;")


def _dot_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

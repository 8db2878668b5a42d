"""Builders for Ops written in Python: a file ``*_op.py`` says ``op = Op(...)`` with them.

Each returns the table that a `*.op.toml` would hold, and knows the line it was called from, so
that both forms are read and judged by the same code.  Importing this runs and starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from ops.declared import Declared, Phase, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    Text: TypeAlias = "str | Reference"
    Whole: TypeAlias = "int | Reference"


class Reference(dict[str, str]):
    """A value that is known only when the run gets there; see `param` and `output_of`."""


class StepOptions(TypedDict, total=False):
    """What every step that does something may say beside its own args."""

    id: str
    """Made when absent, like ``p2.s1``."""
    profile: str
    timeout: str
    """A duration like ``10m``, for each attempt."""
    retry: int | Mapping[str, Any]
    """Attempts, or the table that `retry` makes."""
    outcome: Mapping[str, str] | Sequence[Mapping[str, str]]
    """What `outcome` makes, one or several."""


class Op(Declared):
    """The Op that a file declares, under the name ``op``."""

    def __init__(
        self,
        name: str,
        *,
        phases: Sequence[Phase],
        on_failure: Sequence[Phase] = (),
        overview: str | None = None,
        labels: Mapping[str, str] | None = None,
        depends: Sequence[str] | None = None,
        environments: Sequence[str] | None = None,
        params: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Declare an Op; ``params`` maps names to what `parameter` makes."""
        table = {
            "name": name,
            "overview": overview,
            "labels": labels,
            "depends": depends,
            "environments": environments,
            "params": params,
            "phases": list(phases),
            "on_failure": list(on_failure) or None,
        }
        super().__init__(table)


def phase(
    name: str, steps: Sequence[Step], *, parallel: bool = False, fail_fast: bool = False
) -> Phase:
    """Make a phase: steps in written order, or side by side."""
    flags = {"parallel": parallel or None, "fail_fast": fail_fast or None}
    return Phase({"name": name, "steps": list(steps), **flags})


def parameter(
    type: Literal["string", "integer", "number", "boolean"] = "string",  # noqa: A002 - its key
    *,
    default: Any = None,
    enum: Sequence[Any] | None = None,
    env: str | None = None,
    required: bool = False,
    description: str | None = None,
) -> dict[str, Any]:
    """Declare a parameter of an Op."""
    table = {
        "type": type,
        "default": default,
        "enum": enum,
        "env": env,
        "required": required or None,
        "description": description,
    }
    return {key: value for key, value in table.items() if value is not None}


def param(name: str) -> Reference:
    """Refer to the value of a parameter."""
    return Reference({"param": name})


def output_of(step_id: str, path: str = "") -> Reference:
    """Refer to a piece of an earlier step's output, at a dotted path; all of it without one."""
    return Reference({"from": step_id, "path": path} if path else {"from": step_id})


def outcome(name: str, path: str = "stdout") -> dict[str, str]:
    """Publish a piece of a step's output as an outcome of the run."""
    return {"name": name, "from": path}


def retry(
    attempts: int,
    *,
    wait: str | None = None,
    factor: float | None = None,
    max_wait: str | None = None,
) -> dict[str, Any]:
    """Say how often a step is tried, and how long it waits in between."""
    table = {"attempts": attempts, "wait": wait, "factor": factor, "max_wait": max_wait}
    return {key: value for key, value in table.items() if value is not None}


def activity(
    fn: str, args: Mapping[str, Any] | None = None, **options: Unpack[StepOptions]
) -> Step:
    """Make a step of any activity, also one of the project's own."""
    return Step({"fn": fn, "args": _given(args or {}) or None, **options})


def gate(
    name: str,
    description: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - its key
    timeout: str | None = None,
    quorum: int | None = None,
    roles: Sequence[str] | None = None,
    reuse: bool = False,
) -> Step:
    """Stop until people have opened the gate."""
    table = {"gate": name, "description": description, "id": id, "timeout": timeout}
    return Step({**table, "quorum": quorum, "roles": roles, "reuse": reuse or None})


def point(
    name: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    id: str | None = None,  # noqa: A002 - its key
    description: str | None = None,
    outcome: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None,
) -> Step:
    """Ask a declared decision point; its output has ``answer``, ``state`` and ``by``."""
    table = {"point": name, "args": inputs, "id": id, "description": description}
    return Step({**table, "outcome": outcome})


def shell(
    cmd: str,
    *,
    env: Mapping[str, Text] | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Run a command line with /bin/sh; it finds parameters as ``CHANT_PARAM_NAME``."""
    return activity("shell", {"cmd": cmd, "env": env, "cwd": cwd}, **options)


def exec_(
    *argv: Text,
    env: Mapping[str, Text] | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Run a program with its arguments, without a shell."""
    return activity("exec", {"argv": list(argv), "env": env, "cwd": cwd}, **options)


def python(
    call: str,
    args: Mapping[str, Any] | None = None,
    *,
    env: Mapping[str, Text] | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Call ``module:function`` of the project with keyword arguments, in a process of its own."""
    return activity("python", {"call": call, "args": args, "env": env, "cwd": cwd}, **options)


def http_check(
    url: Text,
    *,
    method: Text | None = None,
    status: Whole | None = None,
    contains: Text | None = None,
    headers: Mapping[str, Text] | None = None,
    retries: Whole | None = None,
    interval: Text | None = None,
    limit: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Ask a URL and compare the answer; ``limit`` is the time of each try."""
    args = {
        "url": url,
        "method": method,
        "status": status,
        "contains": contains,
        "headers": headers,
        "retries": retries,
        "interval": interval,
        "timeout": limit,
    }
    return activity("http_check", args, **options)


def wait_for(
    *,
    command: str | Sequence[Text] | None = None,
    url: Text | None = None,
    port: Whole | None = None,
    file: Text | None = None,
    host: Text | None = None,
    interval: Text | None = None,
    limit: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Wait until one thing is ready, at most ``limit`` (a duration)."""
    args = {
        "command": command,
        "url": url,
        "port": port,
        "file": file,
        "host": host,
        "interval": interval,
        "timeout": limit,
    }
    return activity("wait_for", args, **options)


def copy(src: Text, dest: Text, *, cwd: Text | None = None, **options: Unpack[StepOptions]) -> Step:
    """Copy a file or a folder; each file appears whole or not at all."""
    return activity("copy", {"src": src, "dest": dest, "cwd": cwd}, **options)


def render(
    dest: Text,
    *,
    template: Text | None = None,
    text: Text | None = None,
    values: Mapping[str, Any] | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Fill the ``${NAME}`` places of a template file, or of a text, and write the result."""
    args = {"dest": dest, "template": template, "text": text, "values": values, "cwd": cwd}
    return activity("render", args, **options)


def build(
    *,
    check: bool | None = None,
    params: Mapping[str, Any] | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Check the project and write its plans and manifest."""
    return activity("build", {"check": check, "params": params}, **options)


def lint(*, strict: bool | None = None, **options: Unpack[StepOptions]) -> Step:
    """Judge the project by rules; fails on errors, and on warnings too when ``strict``."""
    return activity("lint", {"strict": strict}, **options)


def snapshot(name: Text | None = None, **options: Unpack[StepOptions]) -> Step:
    """Look at every resource and keep what was seen."""
    return activity("snapshot", {"name": name}, **options)


def diff(*, allow_drift: bool | None = None, **options: Unpack[StepOptions]) -> Step:
    """Compare resources with the world; fails on drift, unless it is allowed."""
    return activity("diff", {"allow_drift": allow_drift}, **options)


def git_tag(
    name: Text,
    *,
    ref: Text | None = None,
    message: Text | None = None,
    force: bool | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Tag a commit, HEAD when ``ref`` is absent; a message makes the tag an annotated one."""
    args = {"name": name, "ref": ref, "message": message, "force": force, "cwd": cwd}
    return activity("git_tag", args, **options)


def git_push(
    *refs: Text,
    remote: Text | None = None,
    force_with_lease: bool | None = None,
    cwd: Text | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Push branches or tags, all or none."""
    args = {"refs": list(refs), "remote": remote, "force_with_lease": force_with_lease, "cwd": cwd}
    return activity("git_push", args, **options)


def kubectl_apply(
    *files: Text,
    kustomize: Text | None = None,
    namespace: Text | None = None,
    context: Text | None = None,
    server_side: bool | None = None,
    dry_run: bool | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Apply manifests with kubectl."""
    args = {
        "files": list(files) or None,
        "kustomize": kustomize,
        "namespace": namespace,
        "context": context,
        "server_side": server_side,
        "dry_run": dry_run,
    }
    return activity("kubectl_apply", args, **options)


def helm_upgrade(
    release: Text,
    chart: Text,
    *,
    namespace: Text | None = None,
    context: Text | None = None,
    version: Text | None = None,
    values: Sequence[Text] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - its key
    create_namespace: bool | None = None,
    wait: bool | None = None,
    limit: Text | None = None,
    dry_run: bool | None = None,
    **options: Unpack[StepOptions],
) -> Step:
    """Upgrade a release with helm, or install it."""
    args = {
        "release": release,
        "chart": chart,
        "namespace": namespace,
        "context": context,
        "version": version,
        "values": values,
        "set": set,
        "create_namespace": create_namespace,
        "wait": wait,
        "limit": limit,
        "dry_run": dry_run,
    }
    return activity("helm_upgrade", args, **options)


def sleep(duration: Text, **options: Unpack[StepOptions]) -> Step:
    """Wait."""
    return activity("sleep", {"duration": duration}, **options)


def _given(args: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if value is not None}

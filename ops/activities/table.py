"""The table of activities: checking, help and the executor all read it."""

from __future__ import annotations

from ops.activities.activity import Activity, Arg
from ops.errors import ActivityFailed, unknown

PYTHON = "ops.activities.python"
_CWD = Arg("cwd", "text", "the folder to work in, from the project's folder")
_ENV = Arg("env", "text_map", "variables to add to the environment")
_INTERVAL = Arg("interval", "duration", "the time between two tries, 1s when absent")

_ALL = (
    Activity(
        "shell",
        "Run a command line with /bin/sh",
        (Arg("cmd", "text", "the command line", required=True), _ENV, _CWD),
        "ops.activities.shell",
        output="exit_code",
    ),
    Activity(
        "exec",
        "Run a program without a shell",
        (Arg("argv", "texts", "the program and its arguments", required=True), _ENV, _CWD),
        "ops.activities.exec",
        output="exit_code",
    ),
    Activity(
        "python",
        "Call a function of the project, in a process of its own",
        (
            Arg("call", "text", "module:function, from the project's folder", required=True),
            Arg("args", "table", "its keyword arguments"),
            _ENV,
            _CWD,
        ),
        PYTHON,
        output="what the function returned: the keys of a table, else value",
    ),
    Activity(
        "http_check",
        "Ask a URL and compare the answer",
        (
            Arg("url", "text", "http or https", required=True),
            Arg("method", "text", "GET when absent"),
            Arg("status", "whole", "the wanted status, 200 when absent"),
            Arg("contains", "text", "text that the first MiB of the body must hold"),
            Arg("headers", "text_map", "headers to send"),
            Arg("retries", "whole", "further tries after the first, 0 when absent"),
            Arg("timeout", "duration", "the limit of each try, 10s when absent"),
            _INTERVAL,
        ),
        "ops.activities.http_check",
        output="status, tries",
    ),
    Activity(
        "wait_for",
        "Wait until a command succeeds, a URL answers, a port listens or a file is there",
        (
            Arg("command", "command", "ready when it exits 0"),
            Arg("url", "text", "ready when it answers below 400"),
            Arg("port", "whole", "ready when something listens"),
            Arg("file", "text", "ready when it exists"),
            Arg("host", "text", "of the port, 127.0.0.1 when absent"),
            Arg("timeout", "duration", "how long to wait, 1m when absent"),
            _INTERVAL,
            _ENV,
            _CWD,
        ),
        "ops.activities.wait_for",
        output="tries",
        one_of=("command", "url", "port", "file"),
    ),
    Activity(
        "copy",
        "Copy a file or a folder; each file appears whole or not at all",
        (
            Arg("src", "text", "the file or folder", required=True),
            Arg("dest", "text", "the new path; with a slash at its end the folder", required=True),
            _CWD,
        ),
        "ops.activities.copy",
        output="dest, files, bytes",
    ),
    Activity(
        "render",
        "Fill ${NAME} places of a template and write the file, whole or not at all",
        (
            Arg("template", "text", "the template file"),
            Arg("text", "text", "the template itself"),
            Arg("dest", "text", "the file to write", required=True),
            Arg("values", "table", "a value for each name"),
            _CWD,
        ),
        "ops.activities.render",
        output="dest, bytes, changed",
        one_of=("template", "text"),
    ),
    Activity(
        "build",
        "Check the project and write plans and manifest to dist/, like chant build",
        (
            Arg("check", "flag", "write nothing, and fail if dist/ is not up to date"),
            Arg("params", "table", "values of parameters"),
        ),
        "ops.activities.build",
        output="files, changed",
    ),
    Activity(
        "lint",
        "Judge the project by rules, like chant lint; fails on errors",
        (Arg("strict", "flag", "fail on warnings too"),),
        "ops.activities.lint",
        output="error, warning, info (how many)",
    ),
    Activity(
        "snapshot",
        "Look at every resource and keep what was seen, like chant lifecycle snapshot",
        (Arg("name", "text", "a name to find it by; the time when absent"),),
        "ops.activities.snapshot",
        output="name, resources, pushed",
    ),
    Activity(
        "diff",
        "Compare resources with the world, like chant lifecycle diff --live; fails on drift",
        (Arg("allow_drift", "flag", "tell of drift in the output instead of failing"),),
        "ops.activities.diff",
        output="drift, counts",
    ),
    Activity(
        "git_tag",
        "Tag a commit",
        (
            Arg("name", "text", "the tag", required=True),
            Arg("ref", "text", "the commit, HEAD when absent"),
            Arg("message", "text", "makes it an annotated tag"),
            Arg("force", "flag", "move a tag that is there"),
            _ENV,
            _CWD,
        ),
        "ops.activities.git_tag",
        output="exit_code",
    ),
    Activity(
        "git_push",
        "Push branches or tags, all or none",
        (
            Arg("refs", "texts", "branches, tags or refspecs", required=True),
            Arg("remote", "text", "origin when absent"),
            Arg("force_with_lease", "flag", "replace what was there when it was last fetched"),
            _ENV,
            _CWD,
        ),
        "ops.activities.git_push",
        output="exit_code",
    ),
    Activity(
        "kubectl_apply",
        "Apply manifests with kubectl",
        (
            Arg("files", "texts", "files, folders or URLs"),
            Arg("kustomize", "text", "a folder with a kustomization"),
            Arg("namespace", "text", "the namespace"),
            Arg("context", "text", "the context of kubectl's configuration"),
            Arg("server_side", "flag", "let the server merge"),
            Arg("dry_run", "flag", "let the server check it, and change nothing"),
            _ENV,
            _CWD,
        ),
        "ops.activities.kubectl_apply",
        output="exit_code",
        one_of=("files", "kustomize"),
    ),
    Activity(
        "helm_upgrade",
        "Upgrade a release with helm, or install it",
        (
            Arg("release", "text", "the release", required=True),
            Arg("chart", "text", "the chart", required=True),
            Arg("namespace", "text", "the namespace"),
            Arg("context", "text", "the context of kubectl's configuration"),
            Arg("version", "text", "the chart's version"),
            Arg("values", "texts", "files with values"),
            Arg("set", "table", "single values, by dotted name"),
            Arg("create_namespace", "flag", "make the namespace if it is missing"),
            Arg("wait", "flag", "wait until all is ready"),
            Arg("limit", "duration", "how long helm may wait"),
            Arg("dry_run", "flag", "change nothing"),
            _ENV,
            _CWD,
        ),
        "ops.activities.helm_upgrade",
        output="exit_code",
    ),
    Activity(
        "sleep",
        "Wait",
        (Arg("duration", "duration", "how long", required=True),),
        "ops.activities.sleep",
    ),
)

ACTIVITIES = {each.name: each for each in _ALL}


def activity(name: str) -> Activity:
    """Return the activity called ``name``.

    Raises:
        ActivityFailed: There is none; the message lists those that there are.

    """
    if name not in ACTIVITIES:
        raise ActivityFailed(unknown("fn", name, ACTIVITIES))
    return ACTIVITIES[name]


def called(name: str, call: str) -> Activity:
    """Return the activity behind a step: ours called ``name``, or the project's ``call``.

    Raises:
        ActivityFailed: See `activity`.

    """
    if not call:
        return activity(name)
    return Activity(name, "", (), PYTHON, call=call, open=True)

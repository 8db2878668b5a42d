"""The table of readers: checking, documentation and the lifecycle verbs all read it."""

from __future__ import annotations

from ops.resources.reader import Key, Reader

_PATH = Key("path", "text", "from the project's folder, or absolute", required=True)
_SHA = "sha256 of the content"

_ALL = (
    Reader(
        "file",
        "A regular file",
        (_PATH,),
        {"bytes": "its size", "sha256": _SHA, "mode": 'permission bits like "0644"'},
        "ops.resources.file",
    ),
    Reader(
        "directory",
        "A folder and the files below it; links are not followed",
        (_PATH, Key("ignore", "texts", 'names to leave out, with * and ?, like ["*.pyc"]')),
        {
            "files": "how many there are",
            "bytes": "their size together",
            "sha256": "of all names and contents",
        },
        "ops.resources.directory",
    ),
    Reader(
        "http",
        "What a URL answers; 404 and 410 say that it is absent, no answer says nothing",
        (
            Key("url", "text", "http or https", required=True),
            Key("method", "text", "GET when absent"),
            Key("headers", "text_map", "headers to send; no secrets, they are kept in snapshots"),
            Key("digest", "flag", "also tell the digest of the body's first MiB"),
            Key("contains", "text", "also tell whether the body's first MiB holds this text"),
        ),
        {
            "status": "the answer's status",
            "sha256": "of the body, if asked for",
            "contains": "true or false, if asked for",
        },
        "ops.resources.http",
    ),
    Reader(
        "command",
        "What a program prints; a code other than 0 says nothing, unless it is listed as absent",
        (
            Key("command", "command", "text for a shell, or a list of texts", required=True),
            Key("json", "flag", "the output is a JSON object: its members are the facts"),
            Key("absent_codes", "wholes", "exit codes that say that the thing is absent"),
        ),
        {
            "stdout": "what it printed, stripped, at most 4 KiB",
            "sha256": "of the first MiB that it printed, when that was more",
        },
        "ops.resources.command",
        any_fact=True,
    ),
    Reader(
        "python-package",
        "A distribution that a Python has installed",
        (
            Key("package", "text", "the distribution's name", required=True),
            Key("python", "text", "the interpreter; .venv/bin/python if there is one, or python3"),
        ),
        {"version": "the installed version"},
        "ops.resources.python_package",
    ),
    Reader(
        "git-ref",
        "A branch or tag, here or at a remote",
        (
            Key("ref", "text", "like refs/heads/main, or main, or v1.2", required=True),
            Key("remote", "text", "ask this remote (a name or a URL) instead of the checkout"),
            Key("repository", "text", "the checkout; the project's folder when absent"),
        ),
        {"commit": "what the ref leads to"},
        "ops.resources.git_ref",
    ),
    Reader(
        "port",
        "A TCP port that something listens on; refused says absent, no answer says nothing",
        (
            Key("port", "whole", "1 to 65535", required=True),
            Key("host", "text", "127.0.0.1 when absent"),
        ),
        {"listening": "true"},
        "ops.resources.port",
    ),
    Reader(
        "process",
        "Running processes of this machine; their command lines are compared and never kept",
        (
            Key("match", "text", "a regular expression to be found in the command line"),
            Key("pid_file", "text", "a file that holds the number of the process"),
        ),
        {"count": "how many there are"},
        "ops.resources.process",
        one_of=("match", "pid_file"),
    ),
    Reader(
        "env-var",
        "A variable of the environment that chant was started with; never its value",
        (Key("variable", "text", "its name", required=True),),
        {"set": "true; an empty value counts as absent"},
        "ops.resources.env_var",
    ),
    Reader(
        "kubernetes",
        "An object in a cluster, asked for with kubectl",
        (
            Key("kind", "text", "like deployment", required=True),
            Key("object", "text", "its name", required=True),
            Key("namespace", "text", "the context's when absent"),
            Key("context", "text", "of kubectl's configuration; the current one when absent"),
            Key("fields", "texts", 'dotted paths to tell as facts, like ["spec.replicas"]'),
        ),
        {"generation": "counts changes of the spec", "spec_sha256": "digest of the spec"},
        "ops.resources.kubernetes",
        any_fact=True,
    ),
)

READERS = {each.name: each for each in _ALL}

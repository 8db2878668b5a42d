"""What is linted: the project as far as it can be read, and the texts of its declarations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops.errors import ProjectInvalid
from ops.loading import PYTHON_SUFFIX, SUFFIX, Catalog, load_catalog
from ops.plain_file import plain
from ops.project import CONFIG, Project, find_project, find_root
from ops.resources.resource import SUFFIX as RESOURCE_SUFFIX
from ops.resources.resource import Declared, load_resources
from ops.toml_file import MAX_FILE_BYTES
from ops.tree_walk import walk_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.findings import Problem

POINTS = "points"
"""The folder whose TOML files are decision points."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything that rules look at.  ``texts`` are the declaration files by path."""

    project: Project
    catalog: Catalog
    declared: Declared
    texts: Mapping[str, str]
    invalid: tuple[str, ...] = ()
    """What is wrong with chant.toml, one finding a line: then the rest was read without it."""


def read_subject(folder: str) -> Subject:
    """Read the project that ``folder`` belongs to; what can't be read is a finding of a rule.

    Raises:
        ProjectNotFound: There is none.

    """
    root, invalid = find_root(folder), list[str]()
    try:
        project = find_project(folder)
    except ProjectInvalid as error:
        invalid = error.message.splitlines()
        project = Project(root, name=os.path.basename(root))
    return Subject(
        project,
        load_catalog(project),
        load_resources(project),
        _texts(root),
        tuple(invalid),
    )


def _texts(root: str) -> dict[str, str]:
    passed_over: list[Problem] = []
    found = walk_files(root, (SUFFIX, RESOURCE_SUFFIX, PYTHON_SUFFIX, ".toml"), passed_over)
    wanted = [path for path in found if _declares(path)]
    texts = {path: _text(os.path.join(root, path)) for path in wanted}
    return {path: text for path, text in texts.items() if text is not None}


def _declares(path: str) -> bool:
    folder, name = os.path.split(path)
    return (
        path == CONFIG
        or name.endswith((SUFFIX, RESOURCE_SUFFIX, PYTHON_SUFFIX))
        or os.path.basename(folder) == POINTS
    )


def _text(path: str) -> str | None:
    """Return a file's text; what can't be read was said where it was loaded."""
    try:
        with open(path, "rb", opener=plain) as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
        return None if len(data) > MAX_FILE_BYTES else data.decode()
    except (OSError, UnicodeDecodeError):
        return None

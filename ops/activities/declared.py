"""The resources of the project that a step belongs to, in the run's environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import ActivityFailed
from ops.project import choose_environment, find_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.project import Project
    from ops.resources.resource import Resource
    from ops.work import ActivityContext


def declared_resources(
    context: ActivityContext,
) -> tuple[Project, str, Mapping[str, Resource]]:
    """Return the project, the environment and its resources by name.

    Raises:
        ActivityFailed: A declaration is wrong: without it all would look well.

    """
    from ops.resources.resource import load_resources

    project = find_project(context.cwd)
    env = choose_environment(project, context.env.get("CHANT_ENV"))
    declared = load_resources(project)
    if declared.problems:
        raise ActivityFailed("\n".join(map(str, declared.problems)))
    return project, env, declared.in_environment(env)

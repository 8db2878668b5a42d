"""All points where a fault may be injected, from the modules that declare them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.faults import Point

MODULES = (
    "actors.base",
    "actors.callable_step",
    "actors.faulty_platform",
    "actors.gate",
    "actors.guardian",
    "actors.guardian_link",
    "actors.mailbox",
    "actors.model_call",
    "actors.opener",
    "actors.outlet",
    "actors.piped_program",
    "actors.planned_faults",
    "actors.process_step",
    "actors.reader",
    "actors.stdio",
    "actors.step_executor",
    "runtimes.chant.operator.actor",
    "runtimes.radian.journal",
    "runtimes.radian.session_fork",
    "runtimes.radian.side_files",
    "runtimes.radian.tools.disk",
    "runtimes.radian.tools.full_output",
    "runtimes.radian.tools.sandbox",
    "runtimes.radian.trust",
)
"""Every module that declares a point; a test compares this with the code."""


def all_points() -> dict[str, Point]:
    """Import what declares points and return them by name, in order."""
    from actors import faults
    from ops.faults import POINTS

    for name in MODULES:
        import_module(name)
    of_the_ops = {each.name: faults.Point(*each) for each in POINTS}
    return dict(sorted({**faults.POINTS, **of_the_ops}.items()))

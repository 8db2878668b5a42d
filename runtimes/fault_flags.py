"""The flags that break a server on purpose, for every server that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.sabotage import Sabotage

FAULTS = ("PLAN", "break on purpose, as the fault plan (a TOML file) says; for testing clients")
ALLOW_FAULTS = ("", "let --faults work for a steward too")


class FaultsRefused(ValueError):  # noqa: N818 - an answer to the person who typed the flag
    """The plan can't be used, or must not be."""


def read_faults(path: str, steward: str | None, *, allowed: bool) -> Sabotage:
    """Make what breaks the server as the plan at ``path`` says.

    Raises:
        FaultsRefused: The plan has mistakes, or a steward would work with a broken server.

    """
    from actors.fault_plan import PlanInvalid
    from actors.sabotage import Sabotage
    from runtimes.fault_file import read_plan
    from runtimes.fault_points import all_points

    if steward and not allowed:
        message = f"--faults would break what steward {steward!r} does; --allow-faults permits it"
        raise FaultsRefused(message)
    try:
        return Sabotage(read_plan(path, all_points()))
    except PlanInvalid as error:
        raise FaultsRefused(str(error)) from error

"""The reader `python-package`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ops.resources.programs import run_program
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

NOT_INSTALLED = 44
ASK = f"""\
import sys
from importlib.metadata import PackageNotFoundError, version
try:
    print(version(sys.argv[1]))
except PackageNotFoundError:
    sys.exit({NOT_INSTALLED})
"""


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    ours = os.path.join(look.root, ".venv", "bin", "python")
    usual = ours if os.path.exists(ours) else "python3"
    # -I: the project's own folders must not pose as an installed distribution.
    ran = run_program([keys.get("python", usual), "-I", "-c", ASK, keys["package"]], look)
    if isinstance(ran, str):
        return unobserved(ran)
    if ran.code == NOT_INSTALLED:
        return ABSENT
    if ran.code:
        return unobserved(ran.why)
    return present(version=ran.stdout.decode(errors="replace").strip())

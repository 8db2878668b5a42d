"""Pack the service into one file: ``pack.py VERSION DEST``.

The same source gives the same bytes.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip file can hold: real ones would make each artifact differ."""


def main(version: str, dest: Path) -> None:
    """Write the artifact under a temporary name and rename it: there is never half of one."""
    dest.parent.mkdir(parents=True, exist_ok=True)
    unfinished = dest.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for source in sorted(Path("box").glob("*.py")):
            text = source.read_text(encoding="utf-8")
            if source.name == "version.py":
                text = f'"""The version of this build."""\n\nVERSION = "{version}"\n'
            archive.writestr(zipfile.ZipInfo(source.as_posix(), LONG_AGO), text)
    unfinished.replace(dest)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

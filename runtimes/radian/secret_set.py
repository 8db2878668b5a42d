"""The files with secrets, which no file tool touches and no sandbox shows.

Home folders differ in what is there, so every place is listed whether it exists or not.
"""

from __future__ import annotations

import os

IN_HOME = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".kube",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".git-credentials",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    # browsers
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    "snap/firefox",
    "snap/chromium",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Keychains",
)
"""Relative to a home folder."""


def secret_paths(home: str, radian_home: str) -> tuple[str, ...]:
    """Return the secret set: absolute, as listed and with links resolved, so both names are shut.

    Looks at the disk (links only).
    """
    listed = [os.path.join(home, name) for name in IN_HOME] + [radian_home]
    found: dict[str, None] = {}
    for path in listed:
        found[os.path.normpath(path)] = None
        found[os.path.realpath(path)] = None
    return tuple(path for path in found if path != os.sep)

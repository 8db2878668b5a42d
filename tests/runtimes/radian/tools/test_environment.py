"""What programs get to know of our environment."""

from __future__ import annotations

import pytest

from runtimes.radian.tools.environment import QUIET, looks_secret, tool_env


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "PGPASSWORD",
        "npm_config__auth",
        "SSH_AUTH_SOCK",
        "BASH_ENV",
        "SENTRY_DSN",
    ],
)
def test_what_looks_like_a_secret_is_kept_back(name: str) -> None:
    assert looks_secret(name, "x")


@pytest.mark.parametrize("name", ["PATH", "HOME", "PWD", "LANG", "GIT_AUTHOR_NAME", "KEYBOARD"])
def test_what_programs_need_is_passed_on(name: str) -> None:
    assert not looks_secret(name, "x")


def test_what_looks_like_a_secret_by_name_or_value_is_kept_back() -> None:
    env = {"B": "postgres://me:pw@host/db", "C": "http://host:80/", "MY_TOKEN": "x"}

    assert tool_env(env) == {"C": "http://host:80/", **QUIET}

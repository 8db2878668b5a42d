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


def test_a_known_secret_is_kept_back_under_any_name() -> None:
    env = {
        "A": "x sk-12345678 y",
        "B": "postgres://me:pw@host/db",
        "C": "http://host:80/",
        "SHORT": "abc",
        "MY_TOKEN": "fine",
    }

    assert tool_env(env, secrets=["sk-12345678", "abc"], keep=["MY_TOKEN"]) == {
        "C": "http://host:80/",
        "SHORT": "abc",
        "MY_TOKEN": "fine",
        **QUIET,
    }


def test_keeping_a_variable_never_passes_on_a_known_secret() -> None:
    assert tool_env({"T": "sk-12345678"}, secrets=["sk-12345678"], keep=["T"]) == dict(QUIET)

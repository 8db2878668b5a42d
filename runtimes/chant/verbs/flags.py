"""Flags and params that several verbs share."""

from __future__ import annotations

from runtimes.chant.verbs.verb import Flag, Param

ENV = Flag("--env", "the environment; else the project's default", "ENV")
ENV_PARAM = Param("ENV", "the environment; else the project's default", required=False)
LIMIT = Flag("--limit", "how many at most, newest first; 20 when absent", "N")
DEFAULT_LIMIT = 20

"""All verbs of chant: the one table behind parser, help, completion and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.acp import ACP, ACP_SERVE
from runtimes.chant.verbs.build import BUILD
from runtimes.chant.verbs.help import HELP_VERB
from runtimes.chant.verbs.list import LIST
from runtimes.chant.verbs.run import RUN

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Verb

VERBS: tuple[Verb, ...] = (RUN, LIST, BUILD, ACP, ACP_SERVE, HELP_VERB)

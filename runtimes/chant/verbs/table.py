"""All verbs of chant: the one table behind parser, help, completion and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.acp import ACP, ACP_SERVE
from runtimes.chant.verbs.approve import APPROVE
from runtimes.chant.verbs.build import BUILD
from runtimes.chant.verbs.help import HELP_VERB
from runtimes.chant.verbs.lifecycle_diff import LIFECYCLE_DIFF
from runtimes.chant.verbs.lifecycle_log import LIFECYCLE_LOG
from runtimes.chant.verbs.lifecycle_plan import LIFECYCLE_PLAN
from runtimes.chant.verbs.lifecycle_show import LIFECYCLE_SHOW
from runtimes.chant.verbs.lifecycle_snapshot import LIFECYCLE_SNAPSHOT
from runtimes.chant.verbs.list import LIST
from runtimes.chant.verbs.run import RUN

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Verb

VERBS: tuple[Verb, ...] = (
    RUN,
    APPROVE,
    LIST,
    BUILD,
    LIFECYCLE_SNAPSHOT,
    LIFECYCLE_SHOW,
    LIFECYCLE_DIFF,
    LIFECYCLE_PLAN,
    LIFECYCLE_LOG,
    ACP,
    ACP_SERVE,
    HELP_VERB,
)

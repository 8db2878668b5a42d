"""All verbs of chant: the one table behind parser, help, completion and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.acp import ACP, ACP_SERVE
from runtimes.chant.verbs.approve import APPROVE
from runtimes.chant.verbs.build import BUILD
from runtimes.chant.verbs.completion import COMPLETION
from runtimes.chant.verbs.describe import DESCRIBE
from runtimes.chant.verbs.doctor import DOCTOR
from runtimes.chant.verbs.graph import GRAPH
from runtimes.chant.verbs.help import HELP_VERB
from runtimes.chant.verbs.init import INIT
from runtimes.chant.verbs.lifecycle_diff import LIFECYCLE_DIFF
from runtimes.chant.verbs.lifecycle_log import LIFECYCLE_LOG
from runtimes.chant.verbs.lifecycle_plan import LIFECYCLE_PLAN
from runtimes.chant.verbs.lifecycle_show import LIFECYCLE_SHOW
from runtimes.chant.verbs.lifecycle_snapshot import LIFECYCLE_SNAPSHOT
from runtimes.chant.verbs.lint import LINT
from runtimes.chant.verbs.list import LIST
from runtimes.chant.verbs.operator import OPERATOR
from runtimes.chant.verbs.operator_status import OPERATOR_STATUS
from runtimes.chant.verbs.run import RUN
from runtimes.chant.verbs.run_cancel import RUN_CANCEL
from runtimes.chant.verbs.run_list import RUN_LIST
from runtimes.chant.verbs.run_log import RUN_LOG
from runtimes.chant.verbs.run_report import RUN_REPORT
from runtimes.chant.verbs.run_status import RUN_STATUS
from runtimes.chant.verbs.steward_list import STEWARD_LIST
from runtimes.chant.verbs.steward_show import STEWARD_SHOW
from runtimes.chant.verbs.workspace_points import WORKSPACE_POINTS
from runtimes.chant.verbs.workspace_points_answer import WORKSPACE_POINTS_ANSWER
from runtimes.chant.verbs.workspace_points_ask import WORKSPACE_POINTS_ASK
from runtimes.chant.verbs.workspace_points_retract import WORKSPACE_POINTS_RETRACT
from runtimes.chant.verbs.workspace_status import WORKSPACE_STATUS

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Verb

VERBS: tuple[Verb, ...] = (
    RUN,
    RUN_LIST,
    RUN_STATUS,
    RUN_LOG,
    RUN_REPORT,
    RUN_CANCEL,
    APPROVE,
    LIST,
    DESCRIBE,
    GRAPH,
    BUILD,
    LINT,
    LIFECYCLE_SNAPSHOT,
    LIFECYCLE_SHOW,
    LIFECYCLE_DIFF,
    LIFECYCLE_PLAN,
    LIFECYCLE_LOG,
    WORKSPACE_STATUS,
    WORKSPACE_POINTS,
    WORKSPACE_POINTS_ASK,
    WORKSPACE_POINTS_ANSWER,
    WORKSPACE_POINTS_RETRACT,
    STEWARD_LIST,
    STEWARD_SHOW,
    OPERATOR,
    OPERATOR_STATUS,
    INIT,
    DOCTOR,
    COMPLETION,
    ACP,
    ACP_SERVE,
    HELP_VERB,
)

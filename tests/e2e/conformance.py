"""Which tests stand for which row of the conformance list, for each of the two agents.

The list lies in the shared data, in `spec/protocol.md`.  A test here whose name has a row's id
stands for that row, for the agents that it runs on; the tables name what is tried elsewhere, and
what an agent does not offer.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.e2e.agents import CHANT, RADIAN
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.e2e.agents import AgentKind

FOLDER = ROOT / "tests" / "e2e"
ANY_AGENT = frozenset({"kind", "talk", "shared", "opener", "naming", "graceful"})
"""Fixtures of tests that run on every agent that has what they need."""
CHANT_ONLY = frozenset({"chant", "make"})

PROBED = "e2e/conftest.py::shared"
"""Held by the probe behind each row, in every test of this folder."""
JUDGED = "e2e/test_referee.py::test_a_foul_is_whistled_at_its_last_line"
"""Held by the referee in every test that talks to an agent."""
NOT_SERVED = "e2e/test_jsonrpc.py::test_j06_i11_a_method_that_is_not_served_is_not_found"
ENDS = "e2e/test_shutdown.py::test_every_end_leaves_nobody_alive"
FLUSHED = "e2e/test_cancel.py::test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works"
GATES = "e2e/test_gates.py::"
ACP = "runtimes/radian/acp/"
QUESTIONS = ACP + "test_questions.py::test_approvals_and_ask_user_"

BOTH: Mapping[str, str] = {
    "F04": FLUSHED,
    "J01": JUDGED,
    "J04": JUDGED,
    "J26": PROBED,
    "P12": JUDGED,
    "P16": JUDGED,
    "P17": JUDGED,
    "P18": JUDGED,
    "P19": JUDGED,
    "R08": JUDGED,
    "S13": NOT_SERVED,
    "S14": NOT_SERVED,
    "S21": NOT_SERVED,
    "S22": NOT_SERVED,
    "X01": ENDS,
    "X03": ENDS,
    "X05": ENDS,
    "X07": ENDS,
}
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    CHANT.name: {
        "J18": GATES + "test_r04_whatever_is_no_clear_answer_opens_nothing",
        "J22": GATES + "test_r07_two_requests_are_told_apart",
        "R02": GATES + "test_b032_b099_a_cancel_while_nothing_runs_closes_the_request",
        "R03": GATES + "test_b032_b099_a_cancel_while_nothing_runs_closes_the_request",
        "S11": "e2e/test_jsonrpc.py::"
        "test_i11_only_the_advertised_way_to_reopen_a_session_is_served",
    },
    RADIAN.name: {
        "F21": ACP
        + "test_limits.py::test_limits_a_stalled_client_stalls_the_model_too_and_loses_nothing",
        "J18": QUESTIONS + "a_rejection_or_nonsense_is_a_result_with_its_reason",
        "J22": QUESTIONS + "is_asked_one_question_at_a_time",
        "P11": "e2e/test_prompts.py::test_p10_a_second_prompt_is_refused_and_both_are_answered",
        "P13": "runtimes/radian/reported/test_tools.py::"
        "test_each_call_is_closed_once_with_how_it_went",
        "P15": ACP + "test_turns.py::test_long_output_stays_in_short_lines",
        "P16": ACP + "test_turns.py::test_updates_usage_is_told_where_the_window_is_known",
        "P17": ACP + "test_shown.py::"
        "test_updates_of_a_tool_have_id_title_kind_status_locations_and_raw_input",
        "R01": QUESTIONS + "a_question_offers_once_always_and_reject",
        "R02": QUESTIONS + "a_cancelled_outcome_denies_and_cancels_the_turn",
        "R03": QUESTIONS + "a_cancel_waits_for_no_answer_and_a_late_one_is_passed",
        "R04": QUESTIONS + "a_rejection_or_nonsense_is_a_result_with_its_reason",
        "R05": QUESTIONS + "always_holds_for_this_process_and_not_after_a_load",
        "R06": QUESTIONS + "an_answer_counts_for_the_question_that_it_names_and_once",
        "R07": QUESTIONS + "answers_in_any_order_find_their_question_r07",
        "R08": QUESTIONS + "a_request_names_an_opened_call_and_each_option_once_r08",
        "S10": ACP + "test_loading.py::test_loading_an_existing_session_"
        "of_a_foreign_session_names_it_and_writes_nothing",
        "S11": ACP + "test_loading.py::"
        "test_loading_an_existing_session_replays_the_transcript_in_order_and_then_answers",
        "X08": ACP
        + "test_limits.py::test_limits_a_stalled_client_stalls_the_model_too_and_loses_nothing",
        "X11": ACP + "test_flags.py::test_a_wrong_flag_is_said_on_stderr_and_nothing_starts",
    },
}


def covering(kind: AgentKind) -> Mapping[str, list[str]]:
    """Return, for each row, the tests that run on an agent."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(FOLDER.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and _runs_on(node, kind):
                for row in _rows_of(node):
                    found[row].append(f"e2e/{path.name}::{node.name}")
    for row, test in [*BOTH.items(), *ELSEWHERE[kind.name].items()]:
        found[row].append(test)
    return found


def _runs_on(node: ast.FunctionDef, kind: AgentKind) -> bool:
    fixtures = {each.arg for each in node.args.args}
    if fixtures & CHANT_ONLY:
        return kind is CHANT
    return bool(fixtures & ANY_AGENT) and all(getattr(kind, name) for name in _needs(node))


def _needs(node: ast.FunctionDef) -> Iterator[str]:
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.needs":
            yield from (ast.literal_eval(word) for word in each.args)


def _rows_of(node: ast.FunctionDef) -> set[str]:
    """Find ids in a test's name, and in the ids of its cases."""
    cases = " ".join(map(ast.unparse, node.decorator_list))
    return {each.upper() for each in re.findall(r"(?<=_)[a-z]\d\d(?=_)", node.name)} | set(
        re.findall(r"id='([A-Z]\d\d)", cases)
    )

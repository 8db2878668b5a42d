"""Which tests hold `chant acp` to which sentence of the page that it was made from.

The page lies in the shared data, in `spec/chant-acp.seed.txt`; a sentence is known by its
fingerprint.  Sentences about other products' plans bind nobody here, and have the reason instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ELSEWHERE = "says what another product does, or when"
POINTER = "points to another page"

OWN = "e2e/test_chant_seed.py::"
PROMPTS = "e2e/test_prompts.py::"
CANCEL = "e2e/test_cancel.py::"
SESSIONS = "e2e/test_sessions.py::"
GATES = "e2e/test_gates.py::"
STEWARDS = "e2e/test_stewards.py::"
TROUBLE = "e2e/test_trouble.py::"
SDK = "e2e/test_python_sdk.py::"
SCALE = "e2e/test_scale.py::"
JSONRPC = "e2e/test_jsonrpc.py::"
ACPX = "e2e/test_acpx.py::"
CHANT = "runtimes/chant/"
POINTS = CHANT + "test_points_verbs.py::"

PLAN_FIRST = PROMPTS + "test_p13_a_failed_run_closes_every_call"
IN_FULL = OWN + "test_a_plan_comes_first_and_every_entry_ends_b102"
AS_IT_IS = OWN + "test_what_a_step_prints_comes_as_it_is_and_the_ledgers_own_line_comes_last"
REFUSED = PROMPTS + "test_p14_chant_refuses_with_a_reason_and_without_effect"
FLAGGED = GATES + "test_r08_under_durable_requests_the_client_is_asked_and_the_turn_waits"
NEW_PROCESS = SESSIONS + "test_s09_b012_a_session_is_resumed_in_a_new_process"
INITIALIZE = "e2e/test_initialize.py::test_i06_i09_i12_what_the_agent_says_about_itself"

SENTENCES: Mapping[str, Mapping[str, str | tuple[str, ...]]] = {
    "chant acp": {
        "056360": ("e2e/test_initialize.py::test_i01_i02_every_version_is_answered_with_1",),
        "74f8b0": (PROMPTS + "test_p01_a_prompt_is_answered_after_its_updates",),
        "4775f1": (OWN + "test_no_host_is_known_by_its_name",),
        "6b9976": (SDK + "test_initialize_new_prompt",),
        "1089c6": (OWN + "test_serve_is_the_same_thing_spelled_out",),
        "b260ef": (OWN + "test_serve_is_the_same_thing_spelled_out",),
        "c8e36d": (FLAGGED,),
        "9a660c": (STEWARDS + "test_every_turn_is_the_stewards_and_children_inherit_it",),
    },
    "A prompt is a chant command line": {
        "6124d8": (
            CHANT + "test_prompts.py::test_what_is_no_line_of_chant_is_refused_with_a_reason",
        ),
        "9fbc5c": (OWN + "test_lines_of_a_terminal_are_prompts",),
        "484d84": (OWN + "test_lines_of_a_terminal_are_prompts",),
        "19144b": (OWN + "test_lines_of_a_terminal_are_prompts",),
        "8cba78": (OWN + "test_lines_of_a_terminal_are_prompts",),
        "5ec41e": (
            CHANT + "test_command_line.py::test_quotes_group_and_nothing_else_has_a_meaning",
        ),
        "9c46be": (REFUSED,),
        "df8e7b": (OWN + "test_prompts_take_the_verbs_that_help_shows", REFUSED),
        "08d565": (REFUSED,),
        "66aff8": (SESSIONS + "test_s06_work_happens_in_the_sessions_folder",),
    },
    "What a client sees": {
        "b25612": (PLAN_FIRST, OWN + "test_a_run_is_shown_step_by_step_and_its_record_comes_last"),
        "22b141": (OWN + "test_a_run_is_shown_step_by_step_and_its_record_comes_last", AS_IT_IS),
        "8aacde": (OWN + "test_another_verb_streams_json",),
        "60b098": (
            IN_FULL,
            SCALE + "test_a_plan_of_a_thousand_steps_is_announced_before_the_first_one",
        ),
        "dadd48": (IN_FULL, OWN + "test_a_run_is_shown_step_by_step_and_its_record_comes_last"),
        "d6c31b": (IN_FULL,),
        "cee576": (IN_FULL, PLAN_FIRST),
    },
    "Protocol surface": {
        "80c25f": ("e2e/test_initialize.py::test_i01_i02_every_version_is_answered_with_1",),
        "87a535": (INITIALIZE,),
        "3490b7": (SESSIONS + "test_s10_resume_takes_up_the_cwd_that_it_brings",),
        "560f43": (
            SESSIONS + "test_s20_strange_mcp_servers_do_no_harm",
            CHANT
            + "test_runtime.py::test_mcp_servers_are_ignored_with_a_word_that_names_no_secret",
        ),
        "298e2b": (SESSIONS + "test_s10_resume_takes_up_the_cwd_that_it_brings",),
        "43fdfd": (NEW_PROCESS,),
        "e2b34b": (NEW_PROCESS,),
        "8ab669": (PROMPTS + "test_p10_b029_a_second_prompt_waits_and_both_are_answered",),
        "36ed26": (
            CANCEL + "test_b024_p11_a_cancel_empties_the_queue_of_its_session_only",
            PROMPTS + "test_p10_b029_a_second_prompt_waits_and_both_are_answered",
        ),
        "499e84": (CANCEL + "test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works",),
        "c045f9": (CANCEL + "test_a_cancelled_run_cleans_up_before_it_answers",),
        "0824c5": (CANCEL + "test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works",),
        "91b3ca": (JSONRPC + "test_i11_only_the_advertised_way_to_reopen_a_session_is_served",),
        "9d33ad": (NEW_PROCESS,),
        "7fbdd3": (GATES + "test_an_answer_in_a_new_process_says_to_prompt_again",),
        "a9a047": (
            REFUSED,
            FLAGGED,
            CANCEL + "test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works",
        ),
    },
    "Gates": {
        "4e47ce": (GATES + "test_b095_a_closed_gate_is_a_normal_end_of_turn",),
        "acc152": (GATES + "test_b095_a_closed_gate_is_a_normal_end_of_turn",),
        "e5ce57": (GATES + "test_an_approval_at_a_terminal_opens_the_gate_for_the_next_run",),
        "498fb4": (GATES + "test_an_approval_at_a_terminal_opens_the_gate_for_the_next_run",),
        "a318fe": (
            GATES + "test_an_approval_at_a_terminal_opens_the_gate_for_the_next_run",
            ACPX + "test_a_run_stops_at_a_gate_and_goes_through_with_a_new_process_for_each_turn",
        ),
    },
    "--durable-requests": {
        "ccbf1c": (FLAGGED,),
        "65a608": (
            GATES + "test_r01_allowing_records_the_approval_and_runs_the_command_line_again",
        ),
        "770551": (GATES + "test_without_the_flag_an_answer_finds_no_request",),
        "06a7b4": ELSEWHERE,
        "c2d75d": (GATES + "test_our_own_client_answers_by_a_later_prompt",),
    },
    "--steward <name>": {
        "10674e": (STEWARDS + "test_every_turn_is_the_stewards_and_children_inherit_it",),
        "9fa837": (
            POINTS + "test_a_model_proposes_in_a_stewards_turn_and_the_question_stays_open",
            POINTS + "test_without_the_capability_no_model_is_called",
        ),
        "c29659": (
            STEWARDS
            + "test_a_waiting_question_ends_the_turn_and_its_answer_lets_the_next_run_through",
        ),
        "ed1244": (
            STEWARDS + "test_the_session_of_a_steward_can_not_answer_or_retract",
            STEWARDS + "test_the_session_of_a_steward_can_not_open_a_gate",
        ),
        "529d67": ELSEWHERE,
        "200cbe": ELSEWHERE,
        "3daf44": POINTER,
    },
    "Redaction": {
        "dd02e5": (AS_IT_IS, TROUBLE + "test_b120_the_environment_is_shown_nowhere"),
        "279cb7": (AS_IT_IS, TROUBLE + "test_b120_the_environment_is_shown_nowhere"),
        "983373": (TROUBLE + "test_b120_the_environment_is_shown_nowhere",),
    },
}

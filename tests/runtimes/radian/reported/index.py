"""Which tests stand for which reported fault of the agent.

The numbers are those of the list of faults that users of comparable agents reported; it lies in the
shared data, in `cases/reported-faults.md`.  A row names where its input, and its kind, is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = (4, 5, 6, 7, 8, 9, 12)
"""The sections of the list that are about the agent itself."""

RADIAN = "runtimes/radian/"
QUESTIONS = RADIAN + "acp/test_questions.py::"
TOOLS = RADIAN + "reported/test_tools.py::"
SHELL = RADIAN + "tools/test_shell.py::"
EDIT = RADIAN + "tools/test_text_edit.py::"
FILES = RADIAN + "tools/test_files.py::"
WIRE = RADIAN + "reported/test_wire.py::"
SESSIONS = RADIAN + "reported/test_sessions.py::"
EXEC = RADIAN + "reported/test_exec.py::"
TABLE = RADIAN + "test_exit_table.py::"
FOLD = RADIAN + "test_fold.py::"
MCP = RADIAN + "mcp/test_servers.py::"
COMPACTION = RADIAN + "test_exec_compaction.py::"
PROVIDER = "runtimes/models/test_provider_faults.py::"
JUDGED = "judges/test_llmock_tasks.py::"

CASES: Mapping[str, tuple[str, ...]] = {
    # 4 permission
    "B032": (
        QUESTIONS
        + "test_approvals_and_ask_user_a_cancel_waits_for_no_answer_and_a_late_one_is_passed",
    ),
    "B034": (
        QUESTIONS
        + "test_approvals_and_ask_user_a_rejection_or_nonsense_is_a_result_with_its_reason",
    ),
    "B036": (TOOLS + "test_always_holds_in_the_next_turn_and_is_written_nowhere",),
    "B038": (TOOLS + "test_what_nobody_can_allow_is_denied_and_seen_by_whoever_reads",),
    # 5 tool calls and shell
    "B040": (
        TOOLS + "test_each_call_is_closed_once_with_how_it_went",
        TOOLS + "test_calls_that_a_cancel_found_running_or_waiting_are_closed_as_failed",
        TOOLS + "test_a_model_that_fails_after_a_call_leaves_no_call_open",
    ),
    "B041": (
        SHELL + "test_the_result_follows_the_commands_own_exit",
        TOOLS + "test_what_a_command_leaves_behind_is_gone_with_the_process",
    ),
    "B043": (TOOLS + "test_a_timeout_and_an_interrupt_end_all_that_a_command_started",),
    "B044": (
        TOOLS + "test_half_a_gigabyte_of_output_is_drained_and_costs_little_memory",
        SHELL + "test_endless_output_is_bounded_and_all_of_it_is_in_a_file",
    ),
    "B046": (
        SHELL + "test_a_command_has_no_input_and_no_terminal",
        TOOLS + "test_a_command_can_not_eat_what_the_client_sends",
    ),
    "B047": (
        EDIT + "test_an_edit_changes_what_it_names",
        EDIT + "test_what_stands_around_never_changes",
        FILES + "test_a_patch_changes_the_named_bytes_only",
    ),
    "B048": (TOOLS + "test_output_that_is_no_text_is_marked_and_kept",),
    # 6 provider streaming
    "B051": (PROVIDER + "test_tool_calls_without_an_index_are_told_apart_by_id",),
    "B053": (PROVIDER + "test_chunks_without_choices_are_passed_over_and_what_they_carry_is_kept",),
    "B054": (
        PROVIDER + "test_a_cut_stream_is_a_failed_call_that_may_be_tried_again",
        WIRE + "test_a_cut_stream_is_asked_for_again_and_half_a_call_never_runs",
        RADIAN + "test_exec_wire.py::test_a_failure_is_no_success",
        JUDGED + "test_a_task_is_done_whatever_happens_on_the_way_and_llmock_finds_nothing",
    ),
    "B056": (WIRE + "test_characters_that_come_byte_by_byte_stay_whole",),
    "B058": (
        PROVIDER + "test_an_error_inside_a_good_status_is_an_error",
        WIRE + "test_an_error_in_a_good_stream_or_an_odd_finish_is_no_success",
    ),
    "B059": (
        PROVIDER + "test_an_overload_in_the_stream_is_tried_again_and_shown_once",
        PROVIDER + "test_a_cancel_ends_the_wait_before_the_next_attempt",
        WIRE + "test_an_overload_in_the_stream_is_retried_and_shown_once",
    ),
    "B061": (
        PROVIDER + "test_silence_ends_the_call_and_it_may_be_tried_again",
        WIRE + "test_a_slow_stream_that_lives_is_not_cut",
    ),
    "B063": (WIRE + "test_what_an_answer_holds_counts_more_than_its_last_word",),
    "B065": (
        PROVIDER + "test_reasoning_goes_back_with_the_calls_under_the_name_it_came_by",
        PROVIDER + "test_ids_of_calls_become_nine_letters_where_the_config_says_so",
        PROVIDER + "test_a_field_that_the_server_refuses_is_never_sent_again",
        WIRE + "test_gemini_has_its_signatures_back_though_it_used_an_id_twice",
        "judges/test_aimock_tasks.py::test_what_the_provider_signed_goes_back_as_it_came",
    ),
    "B067": (
        PROVIDER + "test_short_hints_are_obeyed",
        WIRE + "test_a_wait_that_can_not_help_is_not_begun",
        JUDGED + "test_what_is_refused_is_not_asked_again_and_llmock_finds_nothing",
    ),
    "B068": (
        COMPACTION
        + "test_a_provider_that_refuses_everything_is_asked_a_few_times_and_nothing_is_lost",
        COMPACTION + "test_a_conversation_that_is_too_long_is_summarised_and_the_call_made_again",
    ),
    # 7 cost and usage
    "B069": (WIRE + "test_each_kind_of_token_is_paid_once_at_its_own_price",),
    "B071": (
        RADIAN + "test_exec.py::test_json_output_is_the_result_alone",
        FOLD + "test_a_call_without_a_price_has_no_cost_and_makes_that_of_others_incomplete",
    ),
    "B073": (
        WIRE + "test_each_kind_of_token_is_paid_once_at_its_own_price",
        WIRE + "test_counts_that_are_repeated_in_each_chunk_count_once",
        FOLD + "test_a_call_that_was_cut_before_its_usage_came_makes_the_cost_incomplete",
    ),
    # 8 journal and resume
    "B074": (SESSIONS + "test_a_torn_last_line_costs_that_line_and_one_warning",),
    "B076": (SESSIONS + "test_of_two_processes_that_resume_at_once_one_is_told_to_wait",),
    "B078": (SESSIONS + "test_a_polite_kill_keeps_what_there_was",),
    "B080": (SESSIONS + "test_after_a_kill_in_a_tool_the_next_request_pairs_every_call",),
    "B082": (
        SESSIONS + "test_records_of_other_versions_are_passed_over_with_a_warning",
        SESSIONS + "test_a_newer_format_is_refused_and_nothing_is_written",
    ),
    # 9 MCP servers
    "B083": (MCP + "test_a_silent_server_holds_up_a_turn_for_a_while_only",),
    "B085": (MCP + "test_bad_manners_do_no_harm",),
    "B087": (
        MCP + "test_a_call_that_is_given_up_is_cancelled_at_the_server",
        MCP + "test_a_cancel_ends_a_call_at_once_and_tells_the_server",
    ),
    "B089": (MCP + "test_bad_schemas_cost_only_their_own_tools",),
    # 12 exec, command line and exit codes
    "B112": (
        RADIAN + "test_exec.py::test_a_prompt_that_was_given_never_reads_stdin",
        EXEC + "test_a_prompt_needs_neither_stdin_nor_stderr",
        EXEC + "test_a_closed_stdin_is_an_empty_prompt",
        TABLE + "test_what_comes_to_no_turn_says_why_in_one_line",
    ),
    "B113": (
        TABLE + "test_a_turn_ends_as_its_row_says",
        TABLE + "test_what_comes_to_no_turn_says_why_in_one_line",
        RADIAN + "test_exec_wire.py::test_a_failure_is_no_success",
    ),
    "B115": (
        RADIAN + "test_exec.py::test_a_signal_ends_a_running_tool_and_its_children",
        EXEC + "test_a_second_interrupt_does_not_wait_for_a_tool_that_will_not_stop",
        EXEC + "test_a_reader_that_leaves_in_a_tool_ends_it_and_the_turn",
        TABLE + "test_what_is_printed_for_a_reader_that_left_is_no_failure",
    ),
}

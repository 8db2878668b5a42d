"""Which tests stand for which reported fault.

The numbers are those of the list of faults that users of comparable systems reported; it lies in
the shared data, in `cases/reported-faults.md`.  A row names where its input, and its kind, are
tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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

FRAMING = "e2e/test_framing.py::"
RPC = "e2e/test_jsonrpc.py::"
ENDS = "e2e/test_shutdown.py::"
OPENED = "e2e/test_sessions.py::"
PROMPTS = "e2e/test_prompts.py::"
CANCEL = "e2e/test_cancel.py::"
GATES = "e2e/test_gates.py::"
TROUBLE = "e2e/test_trouble.py::"
PAGE = "e2e/test_chant_seed.py::"
ACP = RADIAN + "acp/"
LOADING = ACP + "test_loading.py::test_loading_an_existing_session_"
RUN_STATE = "ops/test_run_state.py::"
LEDGER = "ops/test_ledger.py::"

CASES: Mapping[str, tuple[str, ...]] = {
    # 1 framing and transport
    "B001": (
        ACP
        + "test_hooks.py::test_what_hooks_print_and_the_notice_of_trust_are_on_stderr_only_b001",
        ACP + "test_server.py::"
        "test_the_agent_client_protocol_server_stdout_has_messages_only_and_stderr_all_else",
        FRAMING + "test_f03_whatever_prints_stdout_stays_pure",
        FRAMING + "test_b001_a_library_that_prints_and_a_bad_project_reach_stderr_only",
    ),
    "B003": (
        FRAMING + "test_f12_b003_a_long_line_is_served",
        FRAMING + "test_b003_a_long_prompt_is_answered",
        FRAMING + "test_f13_a_60_mib_line_is_served",
        ACP + "test_turns.py::test_long_output_stays_in_short_lines",
        PROMPTS + "test_p19_no_line_is_over_60_kib",
    ),
    "B005": (
        PROMPTS + "test_b005_nothing_of_a_turn_follows_its_answer",
        PROMPTS + "test_b005_550_pieces_in_order",
        ACP + "test_meta.py::test_methods_meta_text_is_the_last_message_in_full_or_empty",
    ),
    "B007": (RPC + "test_b007_unknown_methods_and_a_version_of_the_wrong_type",),
    "B009": (FRAMING + "test_f07_b009_mark_crlf_and_blank_lines_are_tolerated",),
    "B010": (
        ENDS + "test_b010_stdin_at_its_end_from_the_start",
        ENDS + "test_every_end_leaves_nobody_alive",
        ACP + "test_mcp.py::test_the_end_of_input_ends_all_servers",
    ),
    # 2 session lifecycle
    "B012": (
        OPENED + "test_s07_b012_a_prompt_for_an_unknown_session_names_it",
        OPENED + "test_s09_b012_a_session_is_resumed_in_a_new_process",
        LOADING + "of_an_unknown_id_names_it_and_something_else_can_be_opened",
    ),
    "B014": (LOADING + "replays_the_transcript_in_order_and_then_answers",),
    "B015": (
        OPENED + "test_s02_b015_cwd_must_be_absolute",
        OPENED + "test_s02_b015_cwd_must_be_a_folder",
    ),
    "B017": (
        LOADING + "through_a_link_or_of_another_spelling_is_the_same_workspace",
        OPENED + "test_b017_a_folder_reached_by_two_names",
    ),
    # 3 prompt and cancel
    "B019": (
        CANCEL + "test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works",
        CANCEL + "test_b019_a_cancel_in_the_middle_of_a_flood",
        PROVIDER + "test_a_cancel_ends_a_stream_that_waits_for_its_next_piece",
        PROVIDER + "test_a_cancel_ends_a_call_that_waits_for_its_first_byte",
    ),
    "B021": (CANCEL + "test_b021_20_rounds_of_stop_leave_the_session_usable",),
    "B022": (
        CANCEL + "test_p08_b022_a_cancel_while_idle_changes_nothing",
        RPC + "test_j24_b022_a_cancel_that_was_read_first_does_not_hit_the_prompt",
    ),
    "B024": (
        CANCEL + "test_b024_p11_a_cancel_empties_the_queue_of_its_session_only",
        CANCEL + "test_b024_a_cancel_of_a_waiting_session_leaves_the_running_turn_alone",
    ),
    "B025": (
        TABLE + "test_a_turn_ends_as_its_row_says",
        PROVIDER + "test_a_server_that_hangs_up_is_called_again",
        PROVIDER + "test_a_page_instead_of_a_stream_points_to_the_address",
        ACP + "test_hooks.py::test_methods_a_hook_error_answers_refusal_with_its_text_in_meta",
        ACP + "test_meta.py::test_methods_meta_error_is_masked",
    ),
    "B027": (
        ACP + "test_wakes.py::"
        "test_methods_a_prompt_in_a_wake_turn_waits_and_is_answered_by_its_own_turn",
        ACP + "test_wakes.py::"
        "test_limits_a_job_that_ends_later_wakes_a_turn_that_streams_and_answers_nothing",
    ),
    "B029": (
        PROMPTS + "test_p10_b029_a_second_prompt_waits_and_both_are_answered",
        PROMPTS + "test_p10_a_second_prompt_is_refused_and_both_are_answered",
    ),
    "B031": (
        PROMPTS + "test_p03_p04_b031_what_was_not_offered_is_refused_by_name",
        PROMPTS + "test_p03_what_was_offered_is_taken",
        PROMPTS + "test_p05_b031_an_empty_prompt_is_never_a_silent_end",
        ACP + "test_turns.py::"
        "test_methods_a_resource_link_becomes_a_line_and_embedded_text_is_put_in",
    ),
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
    # 10 Ops, gates and clean-up
    "B091": (CANCEL + "test_a_cancelled_run_cleans_up_before_it_answers",),
    "B093": (
        PROMPTS + "test_p13_b093_a_clean_up_that_fails_hides_nothing_and_the_next_one_runs",
        RUN_STATE + "test_each_clean_up_phase_is_isolated_and_the_first_cause_is_kept",
    ),
    "B095": (
        GATES + "test_b095_a_closed_gate_is_a_normal_end_of_turn",
        GATES + "test_r08_under_durable_requests_the_client_is_asked_and_the_turn_waits",
    ),
    "B097": (GATES + "test_b097_a_plan_that_changed_while_the_client_was_asked_asks_again",),
    "B099": (
        GATES + "test_b032_b099_a_cancel_while_nothing_runs_closes_the_request",
        GATES + "test_b034_b099_rejecting_records_it_and_cleans_up_where_the_op_says_how",
    ),
    "B101": (
        GATES
        + "test_b101_an_answer_that_can_not_be_recorded_leaves_the_gate_shut_and_the_request_open",
        RUN_STATE + "test_without_proof_no_passage",
        LEDGER + "test_a_branch_that_can_not_be_read_is_an_error_and_not_an_empty_ledger",
        LEDGER + "test_a_branch_that_names_no_commit_is_an_error_and_not_an_empty_ledger",
    ),
    "B102": (PAGE + "test_a_plan_comes_first_and_every_entry_ends_b102",),
    "B103": (PROMPTS + "test_p14_chant_refuses_with_a_reason_and_without_effect",),
    # 11 actors and supervision
    "B106": (
        "actors/test_base.py::test_an_actor_that_waits_for_itself_fails_at_once",
        "actors/test_base.py::test_an_actor_may_stop_itself",
    ),
    "B108": (
        TROUBLE + "test_b108_a_part_that_crashes_is_back_and_every_prompt_is_answered",
        TROUBLE + "test_b108_a_part_that_always_crashes_ends_the_process_in_bounds",
    ),
    "B110": (
        ENDS + "test_every_end_leaves_nobody_alive",
        ENDS + "test_x06_no_signal_shows_a_traceback_once_our_code_runs",
        ENDS + "test_b110_sigterm_during_the_clean_up_lets_it_end",
        ENDS + "test_b110_a_second_signal_skips_the_grace",
    ),
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
    # 13 install, logs and everyday use
    "B117": (
        TROUBLE + "test_b117_the_locale_does_not_matter",
        TROUBLE + "test_b117_documents_of_chant_are_utf8",
        TROUBLE + "test_b117_drive_shows_what_an_agent_says",
        EXEC + "test_what_is_printed_is_utf8_whatever_the_locale",
        EXEC + "test_small_commands_can_name_what_is_not_ascii",
    ),
    "B118": (
        TROUBLE + "test_b118_nothing_in_the_environment",
        TROUBLE + "test_b118_a_home_that_is_not_there",
        TROUBLE + "test_b118_a_program_that_is_missing_is_named",
        TABLE + "test_what_comes_to_no_turn_says_why_in_one_line",
        RADIAN + "test_exec_trouble.py::test_a_home_that_can_not_be_written_is_named",
    ),
    "B120": (
        TROUBLE + "test_b120_the_environment_is_shown_nowhere",
        RADIAN + "test_exec_wire.py::test_a_key_is_never_shown_nor_kept",
        RADIAN + "test_exec_wire.py::test_tools_get_no_key",
        RADIAN + "test_log_flags.py::test_keys_are_masked_in_lines_and_tracebacks",
    ),
}

"""Which tests hold `radian acp` to which sentence of the page that it was made from.

The page lies in the shared data, in `spec/radian-acp.seed.txt`.  A sentence is known by its
fingerprint; what a row says beside it is ours.  Each test carries the heading of its sentence in
its name, but where a sentence only points to another heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Row(NamedTuple):
    """Tests of one sentence, as the rest of their names after the heading, and where they lie."""

    gist: str
    module: str
    tests: tuple[str, ...]
    see: str = ""
    """The heading that the sentence points to."""


SERVER, FLAGS, SESSIONS, LOADING = "test_server", "test_flags", "test_sessions", "test_loading"
TURNS, META, SHOWN, QUESTIONS = "test_turns", "test_meta", "test_shown", "test_questions"
MCP, LIMITS, WAKES, HOOKS = "test_mcp", "test_limits", "test_wakes", "test_hooks"

SENTENCES: Mapping[str, Mapping[str, Row]] = {
    "radian acp: the Agent Client Protocol server": {
        "a05088": Row("the agent of exec", SERVER, ("it_is_the_agent_of_exec",)),
        "b552fb": Row("child process", SERVER, ("a_client_prompts_answers_and_sees_the_turn",)),
        "263fe6": Row("stdout", SERVER, ("stdout_has_messages_only_and_stderr_all_else",)),
        "2e80f5": Row("the example", SERVER, ("the_example_line_and_a_key_that_was_stored",)),
        "ce9182": Row("the key", SERVER, ("the_example_line_and_a_key_that_was_stored",)),
        "47009d": Row("no login", SERVER, ("there_is_no_authentication",)),
    },
    "The flags": {
        "899639": Row(
            "those of exec",
            FLAGS,
            (
                "a_wrapper_builds_for_exec_are_accepted_without_its_inputs",
                "of_a_conversation_have_the_defaults_of_exec",
            ),
        ),
        "533f70": Row("one page", SERVER, ("have_one_page_that_explains_each",)),
        "7c9c36": Row("absent", FLAGS, ("line_prompt_and_print_and_exit_inputs_are_absent",)),
        "acf0db": Row("instead", SERVER, ("of_input_and_output_have_their_place_in_the_protocol",)),
        "c1d25a": Row(
            "of a wrapper", FLAGS, ("a_wrapper_builds_for_exec_are_accepted_without_its_inputs",)
        ),
    },
    "One process, one session": {
        "b4a7c0": Row("new creates", SESSIONS, ("the_cwd_becomes_the_workspace",)),
        "f17ca4": Row("absolute", SESSIONS, ("the_cwd_must_be_an_absolute_directory",)),
        "c5392f": Row(
            "workspace",
            SESSIONS,
            (
                "a_cwd_that_is_not_the_workspace_is_refused_and_a_new_may_follow",
                "a_link_to_the_workspace_is_the_workspace",
                "the_cwd_becomes_the_workspace",
            ),
        ),
        "7b9431": Row("the answer", SESSIONS, ("the_answer_has_the_id_and_nothing_else",)),
        "c7abcf": Row(
            "the id", SESSIONS, ("the_id_is_the_one_of_the_flag", "ids_are_those_of_exec")
        ),
        "57a090": Row(
            "a second one",
            SESSIONS,
            (
                "a_second_new_is_refused_and_the_first_goes_on",
                "a_cwd_that_is_not_the_workspace_is_refused_and_a_new_may_follow",
            ),
        ),
        "1c260f": Row("resume", SESSIONS, ("resume_continues_the_journal_without_a_replay",)),
        "fefd31": Row(
            "missing, foreign",
            SESSIONS,
            (
                "resuming_a_missing_journal_is_an_error_of_new",
                "resuming_a_foreign_session_names_its_workspace",
                "resuming_compares_workspaces_as_directories",
            ),
        ),
    },
    "Loading an existing session": {
        "eced27": Row("replay", LOADING, ("replays_the_transcript_in_order_and_then_answers",)),
        "35cca3": Row("advertised", LOADING, ("is_advertised",)),
        "aadfc6": Row(
            "cwd",
            LOADING,
            ("needs_an_absolute_directory", "with_a_cwd_that_is_not_the_workspace_is_refused"),
        ),
        "77c58a": Row(
            "its workspace", LOADING, ("of_a_foreign_session_names_it_and_writes_nothing",)
        ),
        "80a16c": Row(
            "directories", LOADING, ("through_a_link_or_of_another_spelling_is_the_same_workspace",)
        ),
        "8f86b8": Row(
            "foreign",
            LOADING,
            ("of_a_foreign_session_names_it_and_writes_nothing", "may_follow_a_refused_load"),
        ),
        "f70f4b": Row("the answer", LOADING, ("replays_the_transcript_in_order_and_then_answers",)),
        "c2833d": Row("order", LOADING, ("replays_the_transcript_in_order_and_then_answers",)),
        "deb265": Row("goes on", LOADING, ("and_a_prompt_continue_the_same_journal",)),
        "393a77": Row("the id", LOADING, ("keeps_its_id",)),
        "7e4878": Row(
            "unknown", LOADING, ("of_an_unknown_id_names_it_and_something_else_can_be_opened",)
        ),
        "318908": Row(
            "one session",
            LOADING,
            (
                "after_new_and_a_second_load_are_refused",
                "of_another_id_than_the_resumed_one_is_refused",
            ),
        ),
        "cf8985": Row("grants", LOADING, ("restores_no_grant",)),
    },
    "Methods": {
        "c4f21f": Row(
            "initialize", SESSIONS, ("initialize_advertises_load_session_and_no_authentication",)
        ),
        "6b2b62": Row(
            "new",
            SESSIONS,
            ("the_cwd_becomes_the_workspace", "resume_continues_the_journal_without_a_replay"),
            "One process, one session",
        ),
        "8cdd48": Row(
            "load",
            LOADING,
            (
                "replays_the_transcript_in_order_and_then_answers",
                "and_a_prompt_continue_the_same_journal",
            ),
            "Loading an existing session",
        ),
        "25b203": Row(
            "prompt",
            TURNS,
            (
                "a_prompt_is_answered_once_its_end_is_in_the_session_file",
                "a_resource_link_becomes_a_line_and_embedded_text_is_put_in",
            ),
        ),
        "4a38ac": Row("cancel", TURNS, ("cancel_leaves_the_prefix_in_the_journal",)),
        "cd962b": Row(
            "questions",
            QUESTIONS,
            ("a_question_offers_once_always_and_reject", "the_options_are_the_permission_options"),
            "Approvals and ask_user",
        ),
        "247ea1": Row(
            "updates",
            SHOWN,
            ("are_live_or_replayed_and_the_journal_is_gone_on_with_elsewhere",),
            "Updates",
        ),
        "a575f5": Row("stop reasons", META, ("stop_reasons_go_with_the_exit_codes_of_exec",)),
        "075d86": Row(
            "max_tokens",
            META,
            (
                "stop_reasons_go_with_the_exit_codes_of_exec",
                "a_length_that_can_be_continued_is_no_max_tokens",
            ),
        ),
        "5b9875": Row(
            "written first", TURNS, ("a_prompt_is_answered_once_its_end_is_in_the_session_file",)
        ),
        "e31f73": Row(
            "wake turns", WAKES, ("a_prompt_in_a_wake_turn_waits_and_is_answered_by_its_own_turn",)
        ),
        "0ae919": Row(
            "a second prompt",
            TURNS,
            ("a_second_prompt_in_a_turn_is_refused_and_the_first_is_unharmed",),
        ),
        "05a91c": Row("_meta", TURNS, ("meta_has_cost_text_and_the_metrics_of_the_turn",)),
        "3d2ba7": Row(
            "cost",
            TURNS,
            (
                "meta_has_cost_text_and_the_metrics_of_the_turn",
                "meta_cost_is_null_without_a_price_and_error_only_on_a_refusal",
            ),
        ),
        "c57e2d": Row("estimated", TURNS, ("meta_has_cost_text_and_the_metrics_of_the_turn",)),
        "553a2b": Row("text", META, ("meta_text_is_the_last_message_in_full_or_empty",)),
        "adfc91": Row("metrics", META, ("meta_is_what_the_result_of_exec_carries",)),
        "cb777a": Row(
            "of one turn",
            META,
            (
                "meta_is_what_the_result_of_exec_carries",
                "meta_metrics_cover_the_answering_turn_alone",
            ),
        ),
        "306b1d": Row(
            "error", META, ("meta_error_is_masked", "stop_reasons_go_with_the_exit_codes_of_exec")
        ),
        "646695": Row("ignored", META, ("meta_is_what_the_result_of_exec_carries",)),
    },
    "Updates": {
        "301977": Row(
            "live, replayed, kept",
            SHOWN,
            ("are_live_or_replayed_and_the_journal_is_gone_on_with_elsewhere",),
        ),
        "616ee1": Row("text", SHOWN, ("stream_the_answer_in_pieces",)),
        "7b6367": Row("reasoning", SHOWN, ("stream_reasoning_as_thoughts",)),
        "58c13f": Row("user", SHOWN, ("have_a_users_message_only_in_a_replay",)),
        "aa58ad": Row(
            "a call", SHOWN, ("of_a_tool_have_id_title_kind_status_locations_and_raw_input",)
        ),
        "01cda0": Row("its end", SHOWN, ("of_a_tools_end_have_its_status_and_raw_output",)),
        "ce1702": Row("usage", TURNS, ("usage_is_told_where_the_window_is_known",)),
    },
    "Approvals and ask_user": {
        "6a3c3c": Row(
            "requests",
            QUESTIONS,
            ("a_question_offers_once_always_and_reject", "the_options_are_the_permission_options"),
        ),
        "38483e": Row("options", QUESTIONS, ("a_question_offers_once_always_and_reject",)),
        "f40bfd": Row("always", QUESTIONS, ("always_holds_for_this_process_and_not_after_a_load",)),
        "559eb0": Row(
            "rejected", QUESTIONS, ("a_rejection_or_nonsense_is_a_result_with_its_reason",)
        ),
        "df368e": Row("cancelled", QUESTIONS, ("a_cancelled_outcome_denies_and_cancels_the_turn",)),
        "6138e6": Row(
            "ask_user",
            QUESTIONS,
            ("is_asked_one_question_at_a_time", "the_options_are_the_permission_options"),
        ),
        "fcb1b9": Row("one choice", QUESTIONS, ("what_one_choice_can_not_answer_fails_the_tool",)),
    },
    "MCP servers": {
        "90d6eb": Row(
            "merged",
            MCP,
            (
                "are_merged_at_the_level_of_the_flag",
                "a_duplicate_id_keeps_the_clients_entry_and_prints_one_warning",
            ),
        ),
        "3d1169": Row("stdio", MCP, ("of_session_new_run_and_their_tools_are_called",)),
        "a4cd15": Row("others", SESSIONS, ("that_do_not_run_are_refused",)),
    },
    "Trust and file access": {
        "af1043": Row(
            "no question", SESSIONS, ("nobody_is_asked_and_an_unlisted_project_gets_a_notice",)
        ),
        "6f58d8": Row("flags and file", SERVER, ("flags_and_the_trust_file_decide",)),
        "6203f9": Row(
            "never called", SERVER, ("a_client_that_offers_files_and_terminals_is_not_asked",)
        ),
        "187c95": Row(
            "own tools",
            SERVER,
            (
                "a_client_that_offers_files_and_terminals_is_not_asked",
                "the_shell_has_the_rules_of_the_other_hosts",
            ),
        ),
    },
    "Limits": {
        "e6ceef": Row(
            "64 MiB",
            LIMITS,
            ("a_line_of_up_to_64_mib_is_a_prompt", "several_pictures_fit_into_a_prompt"),
        ),
        "bf7df5": Row("longer", LIMITS, ("a_longer_line_is_never_held_and_the_next_is_served",)),
        "edcaf5": Row(
            "then",
            LIMITS,
            (
                "a_longer_line_is_never_held_and_the_next_is_served",
                "end_of_input_in_an_over_long_line_is_a_normal_end",
            ),
        ),
        "ddc18f": Row(
            "64 messages", LIMITS, ("sixty_four_messages_are_pending_and_an_end_abandons_them",)
        ),
        "3e0978": Row(
            "stall",
            LIMITS,
            (
                "a_stalled_client_stalls_the_model_too_and_loses_nothing",
                "answers_and_updates_come_in_order_after_a_stall",
            ),
        ),
        "4aebb7": Row(
            "an end",
            LIMITS,
            (
                "an_end_frees_a_producer_that_waits_for_room",
                "sixty_four_messages_are_pending_and_an_end_abandons_them",
            ),
        ),
        "f86105": Row(
            "one prompt", LIMITS, ("one_prompt_runs_at_a_time_and_an_early_cancel_hits_it",)
        ),
        "b68ef2": Row(
            "parallel work",
            LIMITS,
            (
                "processes_work_side_by_side_in_one_workspace",
                "parallel_work_of_one_process_is_for_subagents",
            ),
        ),
        "c5cef8": Row(
            "jobs", WAKES, ("a_job_that_ends_later_wakes_a_turn_that_streams_and_answers_nothing",)
        ),
        "ee3f86": Row("not found", SESSIONS, ("a_method_that_is_not_implemented_is_not_found",)),
    },
}

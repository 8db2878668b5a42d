"""The rows of the conformance list that hold for every agent, on `radian acp`.

Rows with a second session, a resumed one, or a prompt that is carried out as a command are not for
this agent; tests/runtimes/radian/acp has what it does instead.
"""

from __future__ import annotations

import pytest

from tests.e2e.agents import RADIAN, AgentKind
from tests.e2e.test_cancel import (
    test_p08_a_late_cancel_does_not_hit_the_next_prompt,
    test_p08_b022_a_cancel_while_idle_changes_nothing,
)
from tests.e2e.test_framing import (
    test_a_strange_line_is_answered_and_the_next_is_served,
    test_b001_a_library_that_prints_and_a_bad_project_reach_stderr_only,
    test_b003_a_long_prompt_is_answered,
    test_f01_a_silent_client_hears_nothing,
    test_f02_the_first_byte_is_the_handshakes,
    test_f07_b009_mark_crlf_and_blank_lines_are_tolerated,
    test_f12_b003_a_long_line_is_served,
    test_f13_a_60_mib_line_is_served,
    test_f13_a_line_over_the_limit_is_dropped_and_answered,
    test_f13_end_of_input_inside_an_over_long_line_is_a_normal_end,
    test_f14_a_message_in_pieces_and_twenty_in_one_write,
    test_f16_a_huge_number_is_an_error_or_served,
    test_f18_a_lone_surrogate_in_a_session_id_is_an_unknown_session,
    test_f18_lone_surrogates_do_no_harm,
    test_f20_a_nul_in_cwd_is_refused,
    test_f22_both_pipes_may_be_one_socket,
    test_f22_stdout_may_be_a_file,
)
from tests.e2e.test_initialize import (
    test_i01_i02_every_version_is_answered_with_1,
    test_i03_a_version_that_is_none_is_named_and_a_right_one_then_works,
    test_i04_i05_only_the_version_is_strict,
    test_i07_nothing_is_served_before_initialize,
    test_i08_initialize_may_come_again_and_sessions_stay,
    test_i10_nothing_comes_before_the_answer_to_initialize,
)
from tests.e2e.test_jsonrpc import (
    test_b007_unknown_methods_and_a_version_of_the_wrong_type,
    test_j02_an_id_comes_back_with_its_type,
    test_j02_other_numbers_are_repeated_or_refused,
    test_j05_j17_no_notification_and_no_answer_is_ever_answered,
    test_j10_params_must_be_an_object,
    test_j11_absent_params_are_an_empty_object,
    test_j20_an_id_may_come_again_after_its_answer,
    test_j21_no_error_tells_more_than_was_sent,
    test_j24_b022_a_cancel_that_was_read_first_does_not_hit_the_prompt,
    test_what_is_no_request_is_refused,
)
from tests.e2e.test_prompts import (
    test_p02_a_resource_link_beside_text_is_taken,
    test_p05_a_megabyte_of_text_is_answered,
)
from tests.e2e.test_sessions import (
    test_s02_b015_cwd_must_be_absolute,
    test_s02_cwd_absent,
    test_s07_b012_a_prompt_for_an_unknown_session_names_it,
    test_s08_cancelling_an_unknown_session_is_silent,
)
from tests.e2e.test_shutdown import (
    test_b010_stdin_at_its_end_from_the_start,
    test_x02_end_of_input_in_mid_message_writes_nothing,
    test_x04_a_signal_right_after_the_handshake,
    test_x06_no_signal_shows_a_traceback_once_our_code_runs,
)

__all__ = [
    "test_a_strange_line_is_answered_and_the_next_is_served",
    "test_b001_a_library_that_prints_and_a_bad_project_reach_stderr_only",
    "test_b003_a_long_prompt_is_answered",
    "test_b007_unknown_methods_and_a_version_of_the_wrong_type",
    "test_b010_stdin_at_its_end_from_the_start",
    "test_f01_a_silent_client_hears_nothing",
    "test_f02_the_first_byte_is_the_handshakes",
    "test_f07_b009_mark_crlf_and_blank_lines_are_tolerated",
    "test_f12_b003_a_long_line_is_served",
    "test_f13_a_60_mib_line_is_served",
    "test_f13_a_line_over_the_limit_is_dropped_and_answered",
    "test_f13_end_of_input_inside_an_over_long_line_is_a_normal_end",
    "test_f14_a_message_in_pieces_and_twenty_in_one_write",
    "test_f16_a_huge_number_is_an_error_or_served",
    "test_f18_a_lone_surrogate_in_a_session_id_is_an_unknown_session",
    "test_f18_lone_surrogates_do_no_harm",
    "test_f20_a_nul_in_cwd_is_refused",
    "test_f22_both_pipes_may_be_one_socket",
    "test_f22_stdout_may_be_a_file",
    "test_i01_i02_every_version_is_answered_with_1",
    "test_i03_a_version_that_is_none_is_named_and_a_right_one_then_works",
    "test_i04_i05_only_the_version_is_strict",
    "test_i07_nothing_is_served_before_initialize",
    "test_i08_initialize_may_come_again_and_sessions_stay",
    "test_i10_nothing_comes_before_the_answer_to_initialize",
    "test_j02_an_id_comes_back_with_its_type",
    "test_j02_other_numbers_are_repeated_or_refused",
    "test_j05_j17_no_notification_and_no_answer_is_ever_answered",
    "test_j10_params_must_be_an_object",
    "test_j11_absent_params_are_an_empty_object",
    "test_j20_an_id_may_come_again_after_its_answer",
    "test_j21_no_error_tells_more_than_was_sent",
    "test_j24_b022_a_cancel_that_was_read_first_does_not_hit_the_prompt",
    "test_p02_a_resource_link_beside_text_is_taken",
    "test_p05_a_megabyte_of_text_is_answered",
    "test_p08_a_late_cancel_does_not_hit_the_next_prompt",
    "test_p08_b022_a_cancel_while_idle_changes_nothing",
    "test_s02_b015_cwd_must_be_absolute",
    "test_s02_cwd_absent",
    "test_s07_b012_a_prompt_for_an_unknown_session_names_it",
    "test_s08_cancelling_an_unknown_session_is_silent",
    "test_what_is_no_request_is_refused",
    "test_x02_end_of_input_in_mid_message_writes_nothing",
    "test_x04_a_signal_right_after_the_handshake",
    "test_x06_no_signal_shows_a_traceback_once_our_code_runs",
]
"""Collected here once more."""


@pytest.fixture(scope="module")
def kind() -> AgentKind:
    """This one instead of the usual ones."""
    return RADIAN

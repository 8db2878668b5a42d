"""What a person sees of a call before it is allowed."""

from __future__ import annotations

from protocol.acp.updates import ToolDiff, ToolText
from runtimes.chantry.permission import Permission
from runtimes.chantry.question_details import MAX_LINES, details


def test_reasons_and_changed_lines_stand_between_a_question_and_its_options() -> None:
    old = "".join(f"{number}\n" for number in range(9))
    change = ToolDiff("/f", old, old.replace("5\n", "five\n"))
    about = details((ToolText("outside of the sandbox\n"), change))

    assert Permission(1, "Patch f", (), details=about).lines() == (
        "? Patch f",
        "  | outside of the sandbox",
        "  | @@ -4,5 +4,5 @@",
        "  |  3",
        "  |  4",
        "  | -5",
        "  | +five",
        "  |  6",
        "  |  7",
    )


def test_a_new_file_is_all_added_lines_and_nothing_in_it_moves_the_cursor() -> None:
    assert details((ToolDiff("/f", None, "one\n--- two\x1b[2J\n"),)) == (
        "  | @@ -0,0 +1,2 @@",
        "  | +one",
        "  | +--- two",
    )


def test_of_much_the_first_lines_are_shown_and_the_rest_is_counted() -> None:
    shown = details((ToolText("\n".join(map(str, range(100)))),))

    assert len(shown) == MAX_LINES + 1
    assert shown[-1] == f"  | … {100 - MAX_LINES} lines more (--json shows all)"


def test_nothing_to_tell_adds_no_line() -> None:
    assert details(()) == ()

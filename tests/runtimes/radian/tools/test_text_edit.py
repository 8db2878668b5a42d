"""Only the bytes that are named change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.tools.text_edit import Edit, EditFailedError, apply_edit, like_before

MIXED = b"\xef\xbb\xbfa\r\nb\r\nc\nd\re"


@pytest.mark.parametrize(
    ("data", "edit", "after"),
    [
        (MIXED, Edit("b", "B"), b"\xef\xbb\xbfa\r\nB\r\nc\nd\re"),
        (MIXED, Edit("a\nb", "x\ny"), b"\xef\xbb\xbfx\r\ny\r\nc\nd\re"),
        (MIXED, Edit("b\nc", "b\nb2\nc"), b"\xef\xbb\xbfa\r\nb\r\nb2\r\nc\nd\re"),
        (MIXED, Edit("b\nc\n", "b\nnew\nc\n"), b"\xef\xbb\xbfa\r\nb\r\nnew\r\nc\nd\re"),
        (MIXED, Edit("\ufeffa", "A"), b"\xef\xbb\xbfA\r\nb\r\nc\nd\re"),
        (MIXED, Edit("e", "e\nf"), b"\xef\xbb\xbfa\r\nb\r\nc\nd\re\r\nf"),
        (b"a\r\nb\r\n", Edit("a\r\nb", "a\nb"), b"a\nb\r\n"),
        (b"a\nb", Edit("a", "x\r\ny"), b"x\ny\nb"),
        (b"a\r\nb\r\nc\r\n", Edit("b\n", ""), b"a\r\nc\r\n"),
        (b"\xff a \xfe\n", Edit(" a ", " b "), b"\xff b \xfe\n"),
        (b"x x x", Edit("x", "y", everywhere=True), b"y y y"),
        (b".*", Edit(".*", "\\1\\n"), b"\\1\\n"),
        ("ä\r\n".encode(), Edit("ä", "öö"), "öö\r\n".encode()),
    ],
)
def test_an_edit_changes_what_it_names(data: bytes, edit: Edit, after: bytes) -> None:
    assert apply_edit(data, edit) == after


@pytest.mark.parametrize(
    ("data", "edit", "why"),
    [
        (b"a", Edit("", "x"), "old is empty"),
        (b"a", Edit("a", "a"), "are the same"),
        (b"a", Edit("b", "x"), "not in the file"),
        (b"a\n\tb c\n", Edit("  b  c", "x"), "line 2 differs from it in white space only"),
        (b"a\na\n", Edit("a", "x"), "more than once (lines 1, 2)"),
        (b"aaa", Edit("aa", "x"), "more than once"),
        (b"\xff\xfea\0", Edit("a", "b"), "UTF-16"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(data: bytes, edit: Edit, why: str) -> None:
    with pytest.raises(EditFailedError) as caught:
        apply_edit(data, edit)

    assert why in str(caught.value)


@given(before=st.binary(), after=st.binary(), old=st.text(min_size=1), new=st.text())
def test_what_stands_around_never_changes(before: bytes, after: bytes, old: str, new: str) -> None:
    data = before + old.encode() + after
    try:
        edited = apply_edit(data, Edit(old, new))
    except EditFailedError:
        return

    assert edited.startswith(before)
    assert edited.endswith(after)


@pytest.mark.parametrize(
    ("before", "content", "data"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\n", "x\r\n", b"x\r\n"),
        (b"\xef\xbb\xbfa", "x", b"\xef\xbb\xbfx"),
        (b"\xef\xbb\xbfa", "\ufeffx", b"\xef\xbb\xbfx"),
        (b"", "x\n", b"x\n"),
    ],
)
def test_a_rewritten_file_keeps_its_line_ends_and_mark(
    before: bytes, content: str, data: bytes
) -> None:
    assert like_before(before, content) == data

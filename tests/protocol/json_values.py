"""Hypothesis strategies for JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
"""Any text, lone surrogates included."""

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)

VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)

IDS = (
    st.none()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(min_value=-1e15, max_value=1e15, allow_nan=False)
    | st.text(max_size=20)
)

# ruff: noqa: D102, PT009 - plain unittest, and names that are sentences
"""How risky a release is."""

from __future__ import annotations

import unittest

from tools.risk import risk


class RiskTest(unittest.TestCase):
    """By what changes in the version."""

    def test_the_part_that_changes_says_how_risky_it_is(self) -> None:
        self.assertEqual(risk("1.4.0", "1.4.1"), "low")
        self.assertEqual(risk("1.4.0", "1.5.0"), "medium")
        self.assertEqual(risk("1.4.0", "2.0.0"), "high")

    def test_what_is_no_version_is_risky(self) -> None:
        self.assertEqual(risk("0.0.0.dev", "first"), "high")

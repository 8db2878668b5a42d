# ruff: noqa: D102, PT009, PT027 - plain unittest, and names that are sentences
"""The shelves."""

from __future__ import annotations

import unittest

from box.stock import OutOfStockError, Stock, UnknownBoxError


class StockTest(unittest.TestCase):
    """Counting and taking."""

    def setUp(self) -> None:
        """Two kinds of boxes, one of them gone."""
        self.stock = Stock({"crate": 3, "hatbox": 0})

    def test_taking_lowers_the_count(self) -> None:
        self.assertEqual(self.stock.take("crate", 2), 1)
        self.assertEqual(self.stock.count("crate"), 1)

    def test_taking_too_many_takes_nothing(self) -> None:
        with self.assertRaises(OutOfStockError):
            self.stock.take("crate", 4)
        self.assertEqual(self.stock.count("crate"), 3)

    def test_an_unknown_box_is_named(self) -> None:
        with self.assertRaisesRegex(UnknownBoxError, "jewel"):
            self.stock.count("jewel")

    def test_an_amount_must_be_positive(self) -> None:
        with self.assertRaises(ValueError):
            self.stock.take("crate", 0)

    def test_names_are_sorted(self) -> None:
        self.assertEqual(self.stock.names(), ["crate", "hatbox"])


if __name__ == "__main__":
    unittest.main()

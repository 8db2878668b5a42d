"""What is on the shelves.  Pure: no web, no clock."""

from __future__ import annotations

from dataclasses import dataclass


class UnknownBoxError(LookupError):
    """There is no box of that name."""


class OutOfStockError(RuntimeError):
    """The shelf holds fewer boxes than were asked for."""


@dataclass
class Stock:
    """Counts of boxes by name; never negative."""

    counts: dict[str, int]

    def names(self) -> list[str]:
        """List every known box, sorted."""
        return sorted(self.counts)

    def count(self, name: str) -> int:
        """Say how many are left.

        Raises:
            UnknownBoxError: No such box.

        """
        if name not in self.counts:
            raise UnknownBoxError(name)
        return self.counts[name]

    def take(self, name: str, amount: int) -> int:
        """Take ``amount`` boxes off the shelf and return how many are left.

        Raises:
            UnknownBoxError: No such box.
            OutOfStockError: Fewer than ``amount`` are left; nothing is taken.
            ValueError: ``amount`` is not positive.

        """
        if amount <= 0:
            message = f"amount must be positive, not {amount}"
            raise ValueError(message)
        left = self.count(name) - amount
        if left < 0:
            message = f"{name}: {self.counts[name]} left, {amount} asked for"
            raise OutOfStockError(message)
        self.counts[name] = left
        return left

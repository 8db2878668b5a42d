"""What things cost."""


def total(prices: list[int], discount_percent: int = 0) -> int:
    """Return the sum in cents, less a discount."""
    return sum(prices) * discount_percent // 100

"""A discount is taken off, and none changes nothing."""

from prices import total


def test_no_discount() -> None:
    """It is the sum that counts."""
    assert total([100, 50]) == total([150])


def test_a_discount_is_taken_off() -> None:
    """Ten percent of it go."""
    assert total([100, 100], discount_percent=10) == total([180])


if __name__ == "__main__":
    test_no_discount()
    test_a_discount_is_taken_off()
    print("2 tests passed")

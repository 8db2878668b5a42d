"""What was sent before is not converted again, and comes out the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.base import Message, Text
from runtimes.models.repeated import Repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import Part, Role

FIRST = Message("user", (Text("a"),))
ANSWER = Message("assistant", (Text("b"),))
NEXT = Message("user", (Text("c"),))


class Converter:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, role: Role, parts: Sequence[Part]) -> list[dict[str, Any]]:
        self.asked += 1
        return [{"role": role, "parts": list(parts)}]


def wire(*messages: Message) -> list[dict[str, Any]]:
    return [{"role": each.role, "parts": list(each.parts)} for each in messages]


def test_each_message_is_converted_once_while_a_conversation_grows() -> None:
    repeated, convert = Repeated(), Converter()

    first = repeated.convert((FIRST,), convert, 1)
    second = repeated.convert((FIRST, ANSWER, NEXT), convert, 1)

    assert (first, second) == (wire(FIRST), wire(FIRST, ANSWER, NEXT))
    assert convert.asked == 3


def test_other_settings_convert_all_anew() -> None:
    repeated, convert = Repeated(), Converter()

    repeated.convert((FIRST, ANSWER), convert, 1)
    repeated.convert((FIRST, ANSWER), convert, 2)

    assert convert.asked == 4


def test_another_conversation_is_not_taken_for_this_one() -> None:
    repeated, convert = Repeated(), Converter()
    other = Message("user", (Text("other"),))

    repeated.convert((FIRST, ANSWER), convert, 1)

    assert repeated.convert((other, ANSWER), convert, 1) == wire(other, ANSWER)


def test_neighbours_of_one_side_are_still_joined() -> None:
    repeated, convert = Repeated(), Converter()

    got = repeated.convert((FIRST, NEXT, ANSWER), convert, 1)

    assert got == wire(Message("user", (Text("a"), Text("c"))), ANSWER)

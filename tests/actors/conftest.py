"""What holds for tests of actors: a stage to act on, and nobody left on it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pykka
import pytest

from tests.actors.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture(autouse=True)
def _no_actor_left() -> Iterator[None]:
    yield
    left = pykka.ActorRegistry.get_all()
    for ref in left:  # not to be held against the next test
        pykka.ActorRegistry.unregister(ref)
        ref.stop(block=False)
    assert left == []

"""What a server prepares while its client thinks."""

from __future__ import annotations

import pytest

from actors.faults import NoFaults
from tests.actors.serving import WAIT_S, Client, ScriptedRuntime


class Unready(ScriptedRuntime):
    """Its modules can't be read."""

    def warm_up(self) -> None:
        message = "the disk does not answer"
        raise OSError(message)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_settles_down_though_its_preparations_fail() -> None:
    client = Client(NoFaults(), Unready())
    client.send(*client.begin())

    assert client.settled.wait(WAIT_S)
    assert client.leave() == 0

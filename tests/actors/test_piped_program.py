"""A program that is talked to: what it hears and says, and its one end, whatever ends it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from actors import piped_program
from actors.faults import NoFaults
from actors.guardian import Guardian
from actors.piped_program import MAX_UNREAD_BYTES, PipedProgram, ProgramEnd
from actors.real_platform import RealPlatform
from tests.actors.stepping import open_descriptors, program, shell, survivors, wait_gone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.faults import Verdict
    from actors.work import ProcessWork, Stream

WAIT_S = 30.0


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said = {"stdout": b"", "stderr": b""}
        self.end: ProgramEnd | None = None
        self._changed = threading.Condition()

    def heard(self, stream: Stream, data: bytes) -> None:
        with self._changed:
            self.said[stream] += data
            self._changed.notify_all()

    def ended(self, end: ProgramEnd) -> None:
        with self._changed:
            assert self.end is None
            self.end = end
            self._changed.notify_all()

    def wait_text(self, wanted: bytes) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: wanted in self.said["stdout"], WAIT_S)

    def wait_end(self) -> ProgramEnd:
        with self._changed:
            assert self._changed.wait_for(lambda: self.end is not None, WAIT_S)
        assert self.end is not None
        return self.end


class Programs:
    """Starts programs below one guardian."""

    def __init__(self, faults: NoFaults) -> None:
        self.platform = RealPlatform()
        self.faults = faults
        self.guardian = Guardian(self.platform, NoFaults())

    def start(self, work: ProcessWork) -> tuple[PipedProgram, Listener]:
        started, listener = self.make(work)
        started.start()
        return started, listener

    def make(self, work: ProcessWork) -> tuple[PipedProgram, Listener]:
        listener = Listener()
        made = PipedProgram(
            work, listener, guardian=self.guardian, platform=self.platform, faults=self.faults
        )
        return made, listener


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid4().hex
    yield name
    wait_gone(name)


@pytest.fixture
def programs(mark: str) -> Iterator[Programs]:
    made = Programs(NoFaults())
    yield made
    made.guardian.close()
    assert survivors(mark) == []


def test_it_hears_what_is_written_and_is_heard(programs: Programs, mark: str) -> None:
    cat, heard = programs.start(program("cat", mark=mark))

    cat.write(b"one\n")
    heard.wait_text(b"one\n")
    cat.write(b"two\n")
    heard.wait_text(b"two\n")
    cat.hang_up()

    assert heard.wait_end() == ProgramEnd("it exited with code 0", started=True)
    assert cat.write(b"three\n") is False


def test_a_kill_before_the_start_stands_though_it_is_asked_to_stop_as_well(
    programs: Programs, mark: str
) -> None:
    deaf, heard = programs.make(shell("trap '' TERM; sleep 300; :", mark))

    deaf.kill()
    deaf.terminate()
    deaf.start()

    heard.wait_end()
    assert survivors(mark) == []


def test_its_last_words_are_heard(programs: Programs, mark: str) -> None:
    _, heard = programs.start(shell("head -c 200000 /dev/zero; echo oops >&2; exit 3", mark))

    assert heard.wait_end().why == "it exited with code 3"
    assert len(heard.said["stdout"]) == 200000
    assert heard.said["stderr"] == b"oops\n"


def test_a_large_message_reaches_a_slow_reader_whole(programs: Programs, mark: str) -> None:
    count, heard = programs.start(shell("read go; wc -c", mark))

    assert count.write(b"x" * 3_000_000)
    assert count.write(b"\n" + b"y" * 1_000_000)
    count.hang_up()

    heard.wait_end()
    assert int(heard.said["stdout"]) == 1_000_000


def test_one_that_does_not_read_is_told_no_more_in_the_end(programs: Programs, mark: str) -> None:
    deaf, heard = programs.start(program("sleep", "300", mark=mark))
    half = b"x" * (MAX_UNREAD_BYTES // 2)

    assert [deaf.write(half) for _ in range(4)][-1] is False
    deaf.kill()

    assert heard.wait_end().started is True


def test_a_child_that_holds_the_pipe_does_not_hide_the_end_and_dies_with_it(
    programs: Programs, mark: str
) -> None:
    _, heard = programs.start(shell("setsid sleep 300 & exit 0", mark))

    assert heard.wait_end().why == "it exited with code 0"
    wait_gone(mark)


def test_one_that_closes_its_output_is_over(programs: Programs, mark: str) -> None:
    _, heard = programs.start(shell("exec >&- 2>&-; sleep 300", mark))

    assert heard.wait_end().why == "it closed its output"
    wait_gone(mark)


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (program("/no/such/program"), "can't start '/no/such/program': No such file"),
        (program("true", cwd="/no/such/folder"), "can't start in '/no/such/folder': No such"),
        (program("true", env={"A": "b\0c"}), "a NUL byte"),
    ],
)
def test_one_that_can_not_start_says_why(programs: Programs, work: ProcessWork, why: str) -> None:
    _, heard = programs.start(work)

    end = heard.wait_end()
    assert (end.started, end.why.startswith(why)) == (False, True)


def test_closing_the_guardian_ends_it(programs: Programs, mark: str) -> None:
    stubborn, heard = programs.start(shell("trap '' TERM; echo up; sleep 300; :", mark))
    heard.wait_text(b"up")
    stubborn.terminate()

    programs.guardian.close()

    assert heard.wait_end().started is True


class Broken(NoFaults):
    """Fails at one point."""

    def __init__(self, at: str) -> None:
        self._at = at

    def at(self, name: str, who: str = "") -> Verdict:
        if name == self._at:
            raise OSError(5, "broken")
        return super().at(name, who)


@pytest.mark.parametrize(
    "where",
    [piped_program.AT_START, piped_program.AT_WAIT, piped_program.AT_READ, piped_program.AT_WRITE],
)
def test_a_fault_anywhere_is_its_one_end_and_leaves_no_descriptor(where: str, mark: str) -> None:
    before = open_descriptors()
    programs = Programs(Broken(where))
    cat, heard = programs.start(program("cat", mark=mark))
    cat.write(b"one\n")

    assert heard.wait_end().why == "broken"
    programs.guardian.close()
    assert open_descriptors() <= before

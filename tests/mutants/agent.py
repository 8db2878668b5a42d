"""Known wrong changes of the agent: its turns, its journal, what it tells a client."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, Pytest, Simulate

SEEDS = Simulate(2000)
"""See `tests.mutants.catalog`."""
JOURNAL_TESTS = Pytest("tests/runtimes/radian/test_journal.py")
ROUND_TESTS = Pytest("tests/runtimes/radian/test_tool_round.py")
LOST_TESTS = Pytest("tests/runtimes/radian/test_lost_calls.py")

JOURNAL = (
    Mutant(
        "a turn is answered before its end is on the disk",
        "runtimes/radian/agent_turn.py",
        "        return [Write((*started, self._end), sync=True)]\n",
        "        return [Write((*started, self._end))]\n",
        (SEEDS,),
    ),
    Mutant(
        "a journal goes on behind what a crash tore off",
        "runtimes/radian/journal.py",
        "            file.cut(loaded.whole)\n",
        "",
        (JOURNAL_TESTS, SEEDS),
    ),
    Mutant(
        "two processes write one journal",
        "runtimes/radian/journal.py",
        "        file.lock()\n",
        "",
        (JOURNAL_TESTS, SEEDS),
    ),
    Mutant(
        "a turn goes on before the journal has what was said",
        "runtimes/radian/agent_turn.py",
        "        while (self._queue.idle or self._only_writes) and (more := self._go_on()):\n",
        "        while more := self._go_on():\n",
        (SEEDS,),
    ),
    Mutant(
        "a job's end is told again and again",
        "runtimes/radian/session_jobs.py",
        "                    self._recorded[job_id] = True\n",
        "                    pass\n",
        (Pytest("tests/runtimes/radian/test_session_jobs.py"), SEEDS),
    ),
)

TURN = (
    Mutant(
        "a result is recorded twice",
        "runtimes/radian/tool_round.py",
        "        self._recorded += len(ready)\n",
        "",
        (SEEDS,),
    ),
    Mutant(
        "results are recorded in the order in which calls end",
        "runtimes/radian/tool_round.py",
        "        return [*self._ordered_writes(), Say((told(call.result),))]\n",
        "        return [Write((call.result,)), Say((told(call.result),))]\n",
        (ROUND_TESTS, SEEDS),
    ),
    Mutant(
        "a cancel forgets what was said",
        "runtimes/radian/conversation.py",
        '"cancelled" and not message.parts and message.usage is None:',
        '"cancelled":',
        (LOST_TESTS, SEEDS),
    ),
    Mutant(
        "a denied call runs",
        "runtimes/radian/tool_call.py",
        '        if decision != "deny":\n            self.allowed = True\n',
        "        if decision:\n            self.allowed = True\n",
        (SEEDS,),
    ),
    Mutant(
        "a call that was lost cancels its turn",
        "runtimes/radian/conversation.py",
        '        elif told.answer.finish == "cancelled" and not self._stopped:\n',
        '        elif told.answer.finish == "cancelled" and self._stopped is None:\n',
        (LOST_TESTS, SEEDS),
    ),
    Mutant(
        "a prompt is refused though the one before is answered",
        "actors/switchboard.py",
        "self.line.serves_a_prompt(self._owes):",
        "self.line.serves_a_prompt(_until_it_is_over):",
        (Pytest("tests/actors/test_turn_line.py"), SEEDS),
        fast=True,
    ),
    Mutant(
        "a question that is cancelled lets its turn go on",
        "runtimes/radian/tool_call.py",
        "            self.cancelled_by_person = reply.cancels\n",
        "            self.cancelled_by_person = False\n",
        (SEEDS,),
    ),
    Mutant(
        "a turn has its last word while something that it started goes on",
        "runtimes/radian/agent_turn.py",
        "        if not self._open:\n            return [*self._last_word()]\n",
        "        if self._stage:\n            return [*self._last_word()]\n",
        (Pytest("tests/runtimes/radian/test_turn_leaving.py"), SEEDS),
    ),
)

AGENT = (*JOURNAL, *TURN)

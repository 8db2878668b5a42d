"""Known wrong changes of the agent: its turns, its journal, what it tells a client."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, Pytest, Simulate

SEEDS = Simulate(2000)
"""See `tests.mutants.catalog`."""
JOURNAL_TESTS = Pytest("tests/runtimes/radian/test_journal.py")
ROUND_TESTS = Pytest("tests/runtimes/radian/test_tool_round.py")
HOOK_TESTS = Pytest("tests/runtimes/radian/test_hook_run.py")
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
        "        return [*self._ordered_writes(), *reads]\n",
        "        return [Write((call.result,)), *reads]\n",
        (ROUND_TESTS, SEEDS),
    ),
    Mutant(
        "what was done is told before the journal has it",
        "runtimes/radian/tool_round.py",
        "        return [*self._ordered_writes(), *reads]\n",
        "        return [*self._ordered_writes(), *reads, *self.untold()]\n",
        (ROUND_TESTS, Pytest("tests/runtimes/radian/test_turn_ends_at_random.py"), SEEDS),
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
        "        if not self._open:\n            return [*untold, *self._last_word()]\n",
        "        if self._stage:\n            return [*untold, *self._last_word()]\n",
        (Pytest("tests/runtimes/radian/test_turn_leaving.py"), SEEDS),
    ),
)

HOOKS = (
    Mutant(
        "a hook judges the answer before the last one, as that is not recorded",
        "runtimes/radian/agent_turn.py",
        'running = self._stage == "running" and not self._hooks.judge_stops\n',
        'running = self._stage == "running"\n',
        (SEEDS,),
    ),
    Mutant(
        "what a required hook was to judge happens though it failed",
        "runtimes/radian/hook_run.py",
        "        if hook.required:\n            words =",
        '        if hook.required and hook.event == "session_start":\n            words =',
        (HOOK_TESTS, SEEDS),
    ),
    Mutant(
        "only the first hook is asked",
        "runtimes/radian/hook_run.py",
        "        if self._at == len(self._jobs):\n",
        "        if self._at:\n",
        (HOOK_TESTS, SEEDS),
    ),
    Mutant(
        "a result that a hook withheld is told",
        "runtimes/radian/hooked_call.py",
        "        if veto is not None:\n",
        "        if veto is None:\n",
        (SEEDS,),
    ),
    Mutant(
        "a prompt is recorded before its hooks have let it pass",
        "runtimes/radian/agent_turn.py",
        "Write(records), *judging,",
        "Write((*records, *self._asked)), *judging,",
        (SEEDS,),
    ),
)

SERVERS = (
    Mutant(
        "a call whose server ended is made again",
        "runtimes/radian/mcp/server.py",
        "        except ServerEnded as error:\n            message = (",
        "        except ServerEnded as error:\n"
        "            if not cancel.is_set():\n"
        "                return self.call(tool, arguments, cancel)\n"
        "            message = (",
        (SEEDS,),
    ),
    Mutant(
        "a cancel does not wake who waits for a server",
        "runtimes/radian/mcp/connection.py",
        "            cancel.on_cancel(self._wake)\n        if not taken",
        "            pass\n        if not taken",
        (SEEDS,),
    ),
    Mutant(
        "a server is not told that nobody waits for its answer",
        "runtimes/radian/mcp/connection.py",
        "            self._peer.give_up(request_id, reason)\n",
        "",
        (SEEDS,),
    ),
    Mutant(
        "a call of a server does not hear of its turn's cancel",
        "runtimes/radian/mcp/tool.py",
        "self.server.call(self._listed.name, values, cancel)",
        "self.server.call(self._listed.name, values, type(cancel)(cancel._platform))",
        (SEEDS,),
    ),
    Mutant(
        "a cancel waits for servers that start",
        "runtimes/radian/mcp/server.py",
        "        cancel.on_cancel(self._wake)\n        until = self._began_s + limit_s\n",
        "        until = self._began_s + limit_s\n",
        (SEEDS,),
    ),
)

AGENT = (*JOURNAL, *TURN, *HOOKS, *SERVERS)

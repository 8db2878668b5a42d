"""The known wrong changes.  Most were real once, here or in the study before."""

from __future__ import annotations

from tests.mutants.agent import AGENT
from tests.mutants.mutant import Mutant, Pytest, Simulate

SEEDS = Simulate(2000)
"""Every scenario in turn, with the faults that seeds draw: what `make test` plays too."""

GATE = (
    Mutant(
        "slots are free before the bytes have left",
        "actors/gate.py",
        "                self._batch_count = len(self._queue)\n",
        "                self._batch_count = 0\n",
        (Pytest("tests/actors/test_gate.py", "its_slots_stay_taken"), SEEDS),
        fast=True,
    ),
    Mutant(
        "closing the gate wakes one of those who wait",
        "actors/gate.py",
        '                self._batch, self._batch_count = memoryview(b""), 0\n'
        "                self._changed.notify_all()\n",
        '                self._batch, self._batch_count = memoryview(b""), 0\n'
        "                self._changed.notify()\n",
        (Pytest("tests/actors/test_gate.py"), SEEDS),
    ),
    Mutant(
        "the gate lets one message too many in",
        "actors/gate.py",
        "        room = self._capacity - self.pending\n",
        "        room = self._capacity - self.pending + 1\n",
        (Pytest("tests/actors/test_gate.py", "a_full_gate_holds_exactly"), SEEDS),
        fast=True,
    ),
    Mutant(
        "room at the gate is told to nobody",
        "actors/gate.py",
        "        if somebody_is_done or not pending:\n            self._changed.notify_all()\n",
        "",
        (Pytest("tests/actors/test_gate.py"), SEEDS),
    ),
    Mutant(
        "a started writer begins the batch anew",
        "actors/gate.py",
        "            self._batch = self._batch[size:]\n",
        "            self._batch = self._batch[size if size == len(self._batch) else 0 :]\n",
        (Pytest("tests/actors/test_gate.py"), SEEDS),
    ),
)

CONNECTION = (
    Mutant(
        "a crash may come between writing and counting",
        "actors/writer.py",
        "            self._gate.written(size)\n",
        '            self.system.faults.at("gate.take")\n            self._gate.written(size)\n',
        (SEEDS,),
    ),
    Mutant(
        "two may answer one request",
        "protocol/owed.py",
        '        if entry is None or entry.state == "answering":\n            return False\n',
        "        if entry is None:\n            return False\n",
        (Pytest("tests/protocol/test_owed.py"), SEEDS),
        fast=True,
    ),
    Mutant(
        "an id may be used again before its answer",
        "protocol/owed.py",
        "        if key in self._entries:\n            return False\n",
        "",
        (Pytest("tests/protocol/test_owed.py"), SEEDS),
        fast=True,
    ),
    Mutant(
        "an answered request is still owed",
        "protocol/owed.py",
        "        self._entries.pop(id_key(request_id), None)\n",
        "        del request_id\n",
        (Pytest("tests/protocol/test_owed.py"), SEEDS),
    ),
    Mutant(
        "an answer goes twice where its turn was lost",
        "actors/turn_host.py",
        "        if not self._settled:",
        "        if True:",
        (SEEDS,),
    ),
    Mutant(
        "a request is told before anybody owes it",
        "actors/reader.py",
        "        if not self._connection.enter(request.id, seq):\n",
        "        self._hand(Incoming(seq, request))\n"
        "        if self._connection.enter(request.id, seq):\n            return\n"
        "        if True:\n",
        (SEEDS,),
    ),
    Mutant(
        "the reader forgets before it tells",
        "actors/reader.py",
        "            self._router.tell(self._state.in_hand[0])\n"
        "            self._state.in_hand.popleft()\n",
        "            message = self._state.in_hand.popleft()\n"
        '            self.system.faults.at("reader.decoded")\n'
        "            self._router.tell(message)\n",
        (SEEDS,),
    ),
    Mutant(
        "the router loses the message that crashed it",
        "actors/router.py",
        "            self._state.lost.append(message)\n",
        "            pass\n",
        (SEEDS,),
    ),
    Mutant(
        "a turn is started before it lies on its desk",
        "actors/router.py",
        "        parts.desk.slot = slot\n        parts.session.tell(StartTurn(slot))\n",
        "        parts.session.tell(StartTurn(slot))\n        parts.desk.slot = slot\n",
        (SEEDS,),
    ),
    Mutant(
        "a cancel hits what was read after it",
        "actors/switchboard.py",
        "        return seq < last\n",
        "        return last > 0\n",
        (Pytest("tests/actors/test_switchboard.py"), SEEDS),
    ),
    Mutant(
        "a cancel that overtook its prompt is forgotten",
        "actors/switchboard.py",
        "        return seq < last\n",
        "        return False and seq < last\n",
        (SEEDS,),
    ),
)

TURNS = (
    Mutant(
        "the answer does not wait for the end of the steps",
        "actors/step_executor.py",
        "        if result is not None and not slot.steps:\n",
        "        if result is not None:\n",
        (SEEDS,),
    ),
    Mutant(
        "a step's end is told to the incarnation that started it",
        "actors/step_executor.py",
        "        turn_id, me = slot.turn_id, self.address\n\n        def ended(",
        "        turn_id, me = slot.turn_id, self.actor_ref\n\n        def ended(",
        (SEEDS,),
    ),
    Mutant(
        "a crashed executor forgets what it was told",
        "actors/step_executor.py",
        "            slot.lost.append(message)\n",
        "            pass\n",
        (SEEDS,),
    ),
    Mutant(
        "an effect is forgotten before it is done",
        "actors/step_executor.py",
        "        self._perform(slot, slot.todo[0])\n        slot.todo.popleft()\n",
        "        self._perform(slot, slot.todo.popleft())\n",
        (SEEDS,),
    ),
    Mutant(
        "a callable step runs in its executor",
        "actors/callable_step.py",
        '        self._platform.spawn(f"step-{self._work.name}-{self.step_id}", self._run)\n',
        "        self._run()\n",
        (Pytest("tests/actors/test_callable_step.py"), SEEDS),
    ),
    Mutant(
        "output that waits for room is not let go at the step's end",
        "actors/outlet.py",
        "            source.ended = True\n            self._changed.notify_all()\n",
        "            source.ended = True\n",
        (Pytest("tests/actors/test_outlet.py"), SEEDS),
    ),
    Mutant(
        "a turn's last word overtakes what it said",
        "actors/outlet.py",
        "            while not self._items:\n                if self._last_word is not None:\n"
        "                    return None\n",
        "            if self._last_word is not None:\n                return None\n"
        "            while not self._items:\n",
        (Pytest("tests/actors/test_outlet.py"), SEEDS),
    ),
)

SUPERVISION = (
    Mutant(
        "telling a dead child raises in its supervisor",
        "actors/supervisor.py",
        "    with suppress(ActorDeadError):  # it ended by itself",
        "    with suppress():  # it ended by itself",
        (Pytest("tests/actors/test_supervisor.py"), SEEDS),
    ),
    Mutant(
        "a closed mailbox drops what waits in it",
        "actors/mailbox.py",
        "        self._left_over(told)\n",
        "        self._left_over(told[:0])\n",
        (Pytest("tests/actors/test_mailbox.py"), SEEDS),
    ),
    Mutant(
        "control messages queue up like any other",
        "actors/mailbox.py",
        'urgent = getattr(envelope.message, "urgent", False)',
        "urgent = False",
        (Pytest("tests/actors/test_mailbox.py"), SEEDS),
    ),
    Mutant(
        "held messages are replayed behind newer ones",
        "actors/address.py",
        "                self._held.extendleft(reversed(messages))\n",
        "                self._held.extend(messages)\n",
        (Pytest("tests/actors/test_address.py"), SEEDS),
    ),
    Mutant(
        "a stale tick is taken for a new one",
        "actors/base.py",
        "        if type(message) is Tick and not self._due(message):\n            return None\n",
        "        if type(message) is Tick:\n            self._due(message)\n",
        (Pytest("tests/actors/test_base.py"), SEEDS),
    ),
)

REQUESTS = (
    Mutant(
        "a cancel leaves a request to the client open",
        "runtimes/chant/turns.py",
        "        self._desk.close_all(session_id)\n",
        "        del session_id\n",
        (SEEDS,),
    ),
    Mutant(
        "a request is answered in any session",
        "runtimes/chant/permissions.py",
        "        return self._open.pop((session_id, request_id), None)\n",
        "        del session_id\n"
        "        known = [key for key in self._open if key[1] == request_id]\n"
        "        return self._open.pop(known[0]) if known else None\n",
        (Pytest("tests/runtimes/chant/test_permissions.py"), SEEDS),
    ),
    Mutant(
        "a run that was asked to stop by another process goes on",
        "runtimes/chant/op_turn.py",
        "        return [said, *watch.start(), *self._running(self._known_drive().hear(cancel))]\n",
        "        del cancel\n        return [said, *watch.start()]\n",
        (Pytest("tests/runtimes/chant/test_run_cancel.py"), SEEDS),
    ),
    Mutant(
        "an open question counts as answered",
        "runtimes/chant/point_tasks.py",
        "    if is_open(record):\n",
        "    if not record:\n",
        (SEEDS,),
    ),
    Mutant(
        "a rejected gate cleans nothing up",
        "runtimes/chant/permission_answer.py",
        '    return "clean_up" if same and plan.on_failure else "end"\n',
        '    return "end" if same else "end"\n',
        (SEEDS,),
    ),
)

OPERATOR = (
    Mutant(
        "the operator starts an Op while another runs",
        "runtimes/chant/operator/state.py",
        "        if self.running is not None or (self._judging",
        "        if (self._judging",
        (Pytest("tests/runtimes/chant/operator/test_state.py"), SEEDS),
    ),
    Mutant(
        "the operator starts an Op that waits at its gate",
        "ops/waits.py",
        '                case "pending":\n                    return Wait("waits", reason)\n',
        '                case "pending":\n                    return Wait("free", reason)\n',
        (Pytest("tests/ops/test_waits.py"), SEEDS),
    ),
    Mutant(
        "a record is given up at the first fault",
        "runtimes/chant/op_turn.py",
        '        if end.kind in {"failed", "lost"} and not self._recorded_again:\n',
        '        if end.kind in {"failed", "lost"} and self._recorded_again:\n',
        (Pytest("tests/runtimes/chant/test_op_turn.py"), SEEDS),
    ),
)

RUNS = (
    Mutant(
        "clean-up goes in the order of declaration",
        "ops/run_state.py",
        "for phase in reversed(plan.on_failure)]",
        "for phase in plan.on_failure]",
        (Pytest("tests/ops/test_run_state.py"), SEEDS),
        fast=True,
    ),
    Mutant(
        "clean-up runs after a good run",
        "ops/run_state.py",
        '            return self._settle("ok", at)\n',
        "            return self._compensate(at)\n",
        (Pytest("tests/ops/test_run_state.py"), SEEDS),
        fast=True,
    ),
    Mutant(
        "clean-up ends with its first failure",
        "ops/run_state.py",
        "        if phase is not None and not (self._hard or self._out_of_time):\n",
        '        if phase is not None and self.clean_up[self._at - 1].verdict == "ok":\n',
        (Pytest("tests/ops/test_run_state.py"), SEEDS),
    ),
    Mutant(
        "a second cancel cancels the clean-up",
        "ops/run_state.py",
        '        if self._stop or self._stage == "compensating":\n            return []\n',
        '        if self._stage == "compensating":\n            return self._stop_phase(at)\n',
        (Pytest("tests/ops/test_run_state.py"), SEEDS),
    ),
    Mutant(
        "clean-up has no limit",
        "ops/run_state.py",
        "        self._out_of_time = True\n        return phase.stop(at)\n",
        "        return []\n",
        (Pytest("tests/ops/test_run_state.py"), SEEDS),
    ),
    Mutant(
        "clean-up begins before its note is on the disk",
        "ops/run_state.py",
        "        return [MarkCompensation(), told, timer, *self.clean_up[0].begin(at)]\n",
        "        return [told, timer, *self.clean_up[0].begin(at), MarkCompensation()]\n",
        (
            Pytest("tests/ops/test_run_state.py"),
            Pytest("tests/ops/test_run_state_properties.py"),
            SEEDS,
        ),
    ),
)

LEDGER = (
    Mutant(
        "the ledger's branch is moved without a look",
        "ops/branch.py",
        '"update-ref", "--no-deref", self.ref, commit, tip or "")',
        '"update-ref", "--no-deref", self.ref, commit)',
        (Pytest("tests/ops/test_ledger.py"), SEEDS),
    ),
    Mutant(
        "a run may be recorded twice",
        "ops/ledger.py",
        "            if is_known(record, _newest_first(tree, env, op, content)):\n"
        "                return None\n",
        "",
        (Pytest("tests/ops/test_ledger.py"), SEEDS),
    ),
    Mutant(
        "a line that was cut off swallows the next",
        "ops/run_files.py",
        'content if not content or content.endswith(b"\\n") else content + b"\\n"',
        "content",
        (Pytest("tests/ops/test_ledger.py"), SEEDS),
    ),
    Mutant(
        "what became of a run does not outrank that it was interrupted",
        "ops/run_files.py",
        'record["status"] == "interrupted" or each != "interrupted" for each in known',
        "True for each in known",
        (Pytest("tests/ops/test_ledger.py"), SEEDS),
    ),
    Mutant(
        "an interrupted run's process may be another with its number",
        "ops/processes.py",
        'now is not None and (now == noted or "" in (now, noted))',
        "now is not None",
        (Pytest("tests/ops/test_in_flight.py", "given_to_another or as_interrupted_once"), SEEDS),
        fast=True,
    ),
    Mutant(
        "the note of an interrupted run stays",
        "ops/in_flight.py",
        "    for marker in over:\n        marker.end()\n    return tuple(settled)\n",
        "    return tuple(settled)\n",
        (Pytest("tests/ops/test_in_flight.py"), SEEDS),
    ),
    Mutant(
        "the note of a run does not say that clean-up began",
        "ops/in_flight.py",
        "        self.put(self.record, compensating=True)\n",
        "        self.put(self.record, compensating=False)\n",
        (Pytest("tests/ops/test_in_flight.py", "given_to_another or as_interrupted_once"), SEEDS),
        fast=True,
    ),
    Mutant(
        "a run that could not be recorded leaves no note",
        "runtimes/chant/project_tasks.py",
        "            kept = keeper.marker.keep(record)\n",
        "            kept = False\n            keeper.marker.end()\n",
        (Pytest("tests/runtimes/chant/test_project_tasks.py"), SEEDS),
    ),
    Mutant(
        "a file is changed in place",
        "ops/whole_file.py",
        "    stream = disk.open(temporary, os.O_CREAT | os.O_EXCL)\n",
        "    temporary, stream = path, disk.open(path, os.O_CREAT | os.O_TRUNC)\n",
        (Pytest("tests/ops/test_activities.py"), SEEDS),
    ),
)

MUTANTS: tuple[Mutant, ...] = (
    *GATE,
    *CONNECTION,
    *TURNS,
    *SUPERVISION,
    *REQUESTS,
    *OPERATOR,
    *RUNS,
    *LEDGER,
    *AGENT,
)

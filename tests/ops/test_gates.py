"""The rules of gates, by values: asked, answered, used up, out of time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import LedgerError
from ops.gate_book import GateBook
from ops.gate_facts import GateAsk, read_facts, with_fact
from ops.gate_files import gates_path
from ops.gates import GateAnswer, GateRefused, Reached, answer, reach

if TYPE_CHECKING:
    from ops.gate_facts import Verdict

NOW_S = 1_796_033_700.0
HOUR_S = 3600.0

ASK = GateAsk(
    op="release",
    gate="window",
    env="prod",
    run_id="run-1",
    step_id="p2.s1",
    op_digest="sha256:plan",
    params_digest="sha256:params",
    params={"version": "1"},
    description="Someone watches",
    timeout_s=48 * HOUR_S,
    quorum=1,
    roles=(),
    reuse=False,
    channel="cli",
    actor="ann",
)


class Ledger:
    """The file of one Op's gates, and a clock."""

    def __init__(self) -> None:
        self.content = b""
        self.now_s = NOW_S
        self.runs = 0

    @property
    def book(self) -> GateBook:
        return GateBook(read_facts(self.content, "_gates/release.jsonl"))

    def run(self, **changes: Any) -> Reached:
        """Let a run reach the gate."""
        self.runs += 1
        ask = replace(ASK, **{"run_id": f"run-{self.runs}", **changes})
        reached = reach(self.book, ask, self.now_s)
        if reached.line is not None:
            self.content = with_fact(self.content, reached.line)
        return reached

    def say(self, verdict: Verdict = "approved", by: str = "bob", **more: Any) -> dict[str, Any]:
        """Answer the gate."""
        given = GateAnswer("release", "window", verdict, by, more.pop("channel", "cli"), **more)
        line = answer(self.book, given, self.now_s)
        self.content = with_fact(self.content, line)
        return line

    def refusal(self, verdict: Verdict = "approved", by: str = "bob", **more: Any) -> GateRefused:
        """Answer the gate in vain."""
        before = self.content
        with pytest.raises(GateRefused) as caught:
            self.say(verdict, by, **more)
        assert self.content == before
        return caught.value

    def wait(self, hours: float) -> None:
        self.now_s += hours * HOUR_S


def test_a_gate_that_nobody_opened_stops_the_run_and_asks() -> None:
    ledger = Ledger()

    reached = ledger.run()

    assert reached.state == "pending"
    assert reached.line is not None
    assert reached.fact == {**reached.line, "approvals": []}
    assert reached.line["id"] == "run-1/p2.s1"
    assert reached.line["expires"] == "2026-12-02T10:15:00.000Z"
    assert reached.line["because"] == ""


def test_a_question_that_is_open_is_not_asked_twice() -> None:
    ledger = Ledger()
    first = ledger.run()

    second = ledger.run()

    assert (second.state, second.line) == ("pending", None)
    assert second.fact["run_id"] == first.fact["run_id"]


def test_an_approval_lets_one_run_through_and_is_used_up() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say(note="go", url="https://example.org/1")

    through, after = ledger.run(), ledger.run()

    assert through.state == "approved"
    assert through.line is not None
    assert (through.line["kind"], through.line["kept"]) == ("passed", False)
    assert through.fact["by"] == [
        {
            "approver": "bob",
            "attested": True,
            "channel": "cli",
            "at": "2026-11-30T10:15:00.000Z",
            "note": "go",
            "url": "https://example.org/1",
        }
    ]
    assert after.state == "pending"
    assert after.line is not None
    assert after.fact["because"] == ""


def test_an_approval_that_is_kept_lets_every_run_through_until_it_expires() -> None:
    ledger = Ledger()
    ledger.run(reuse=True)
    ledger.say()

    states = [ledger.run(reuse=True).state for _ in range(3)]
    ledger.wait(49)

    assert states == ["approved"] * 3
    assert ledger.run(reuse=True).state == "pending"


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        (
            {"op_digest": "sha256:other"},
            "the plan changed since run run-1 asked; its approval does not count for the new plan",
        ),
        ({"params_digest": "sha256:other"}, "run run-1 asked with other parameters"),
    ],
)
def test_an_approval_of_another_plan_opens_nothing(changes: Any, because: str) -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()

    reached = ledger.run(**changes)

    assert (reached.state, reached.fact["because"]) == ("pending", because)


def test_an_approval_in_another_environment_opens_nothing() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()

    assert ledger.run(env="local").state == "pending"
    assert ledger.run().state == "approved"


def test_a_changed_plan_puts_an_end_to_what_was_approved_before() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.run(op_digest="sha256:other")

    back = ledger.run()

    assert back.state == "pending"
    assert "the plan changed" in back.fact["because"]


def test_the_same_op_with_other_parameters_asks_beside_the_first() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.run(params_digest="sha256:other")

    refusal = ledger.refusal()
    ledger.say(run_id="run-2")

    assert refusal.code == "ambiguous"
    assert refusal.message.endswith("say which: --run run-1, --run run-2")
    assert ledger.run().state == "pending"
    assert ledger.run(params_digest="sha256:other").state == "approved"


def test_two_environments_that_wait_must_be_told_apart() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.run(env="local")

    assert ledger.refusal().message.endswith("say which: --env local, --env prod")
    ledger.say(env="local")
    assert ledger.run(env="local").state == "approved"


def test_where_one_environment_waits_it_need_not_be_named() -> None:
    ledger = Ledger()
    ledger.run()

    assert ledger.say()["env"] == "prod"


def test_a_quorum_counts_people_and_not_words() -> None:
    ledger = Ledger()
    ledger.run(quorum=2)
    ledger.say(by="Bob")
    again = ledger.refusal(by=" bob ")

    halfway = ledger.run(quorum=2)
    ledger.say(by="cid")

    assert again.code == "already-approved"
    assert "needs 2 people and has 1" in again.message
    assert (halfway.state, halfway.fact["approvals"]) == ("pending", ["Bob"])
    through = ledger.run(quorum=2)
    assert through.state == "approved"
    assert [each["approver"] for each in through.fact["by"]] == ["Bob", "cid"]


def test_all_unattested_names_together_are_one_person() -> None:
    ledger = Ledger()
    ledger.run(quorum=2)
    ledger.say(by="one", channel="acp", attested=False)

    assert ledger.refusal(by="two", channel="acp", attested=False).code == "already-approved"
    ledger.say(by="one")
    assert ledger.run(quorum=2).state == "approved"


def test_only_who_holds_a_role_counts() -> None:
    ledger = Ledger()
    ledger.run(roles=("ops", "lead"))

    assert ledger.refusal(by="eve").code == "role-missing"
    assert ledger.refusal(by="eve", roles=("dev",)).code == "role-missing"
    claimed = ledger.refusal(by="ann", roles=("ops",), channel="acp", attested=False)
    assert claimed.code == "role-missing"
    ledger.say(by="ann", roles=("dev", "lead"))
    assert ledger.run(roles=("ops", "lead")).state == "approved"


def test_nothing_pending_is_answered_with_the_line_that_asks() -> None:
    ledger = Ledger()

    never = ledger.refusal(env="prod")
    ledger.run(gate="other")
    other = ledger.refusal()

    assert never.code == other.code == "nothing-pending"
    assert never.message.endswith("; chant run release --env prod asks")
    assert "(gates that were reached: other)" in other.message


def test_an_approval_that_is_there_needs_no_second() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()

    refusal = ledger.refusal(by="cid")

    assert refusal.code == "nothing-pending"
    assert refusal.message.endswith(
        "is approved by bob already; chant run release --env prod --param version=1 walks through"
    )


def test_a_gate_that_was_used_is_not_pending_any_more() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.run()

    assert "run run-2 walked through with it" in ledger.refusal().message


@pytest.mark.parametrize(
    ("verdict", "did"), [("rejected", "bob rejected it"), ("expired", "bob ended it")]
)
def test_a_gate_that_was_rejected_or_ended_stays_shut_until_it_is_asked_again(
    verdict: Verdict, did: str
) -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say(verdict, note="not today")

    refusal = ledger.refusal()
    again = ledger.run()
    ledger.say()

    assert did in refusal.message
    assert again.fact["because"] == (
        f"run run-1 asked before, but {did} at 2026-11-30T10:15:00.000Z: not today"
    )
    assert ledger.run().state == "approved"


def test_an_approval_can_be_taken_back_before_it_is_used() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.say("rejected", "cid")

    assert ledger.run().state == "pending"


def test_what_has_expired_takes_no_answer_and_opens_nothing() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.wait(48)

    refusal = ledger.refusal()
    reached = ledger.run()

    assert refusal.code == "expired"
    assert "it expired at 2026-12-02T10:15:00.000Z" in refusal.message
    assert reached.state == "pending"
    assert "it expired" in reached.fact["because"]


def test_a_clock_that_went_back_behind_the_question_makes_it_ask_again() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.wait(-1)

    refusal, reached = ledger.refusal(), ledger.run()

    assert refusal.code == "expired"
    assert "the clock has gone back since" in refusal.message
    assert reached.state == "pending"
    ledger.say(run_id=f"run-{ledger.runs}")
    assert ledger.run().state == "approved"


def test_a_clock_that_went_back_does_not_wake_what_had_expired() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.wait(50)
    ledger.run(gate="other")
    ledger.wait(-40)

    assert ledger.run().state == "pending"


def test_clocks_of_two_machines_may_differ_a_little() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.now_s -= 200

    ledger.say()

    assert ledger.run().state == "approved"


def test_no_command_over_acp_answers_a_gate_that_was_reached_over_acp() -> None:
    ledger = Ledger()
    ledger.run(channel="acp")

    for verdict in ("approved", "rejected", "expired"):
        assert ledger.refusal(verdict, channel="acp", attested=False).code == "same-origin"
    ledger.say(channel="acp", attested=False, asked_by_us=True)
    assert ledger.run(channel="acp").state == "approved"


@pytest.mark.parametrize(("asked", "answered"), [("acp", "cli"), ("cli", "acp"), ("cli", "cli")])
def test_other_channels_may_be_mixed(asked: Any, answered: Any) -> None:
    ledger = Ledger()
    ledger.run(channel=asked)

    assert ledger.say(channel=answered)["channel"] == answered


def test_where_ledgers_were_united_time_counts_and_not_the_place_in_the_file() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    ledger.run()
    old = ledger.content
    ledger.wait(1)
    ledger.content = b""
    ledger.run(run_id="elsewhere")
    ledger.say()

    ledger.content += old

    assert ledger.run().state == "approved"


GOOD = with_fact(b"", ASK.pending(NOW_S, ""))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"version": 1, "ki', "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[]", "it is no object"),
        (b'{"kind": "passed"}', "version is missing"),
        (b'{"version": 2}', "its version is 2, and this chant knows 1"),
        (b'{"version": 1, "kind": "opened"}', "its kind is 'opened'"),
        (b'{"version": 1, "kind": "passed"}', "pending is missing"),
        (GOOD.replace(b'"quorum":1', b'"quorum":true').strip(), "quorum has another type"),
        (GOOD.replace(b'"reuse":false', b'"reuse":0').strip(), "reuse has another type"),
        (GOOD.replace(b'"roles":[]', b'"roles":[1]').strip(), "roles has another type"),
        (GOOD.replace(b"10:15:00.000Z", b"10:15").strip(), "since has another type"),
        (b"[" * 100_000, "it is nested too deeply"),
        (GOOD.replace(b'{"version":"1"}', b'["version"]').strip(), "params has another type"),
        (GOOD.replace(b'"run_id":"run-1"', b'"run_id":"\\u001b[31m"').strip(), "run_id is no name"),
        (
            GOOD.replace(b'"quorum":1', b'"quorum":3').strip(),
            "its id, run-1/p2.s1, is that of another question above",
        ),
    ],
)
def test_a_damaged_line_makes_the_whole_file_unreadable_and_is_named(line: bytes, why: str) -> None:
    with pytest.raises(LedgerError) as caught:
        read_facts(GOOD + line + b"\n" + GOOD, gates_path("release"))

    assert caught.value.message == (
        f"line 2 of _gates/release.jsonl on the ledger's branch can't be read: {why}"
    )


def test_an_answer_whose_name_moves_a_terminals_cursor_is_unreadable() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.say()
    content = ledger.content.replace(b'"approver":"bob"', b'"approver":"bob\\u001b[1A"')
    assert content != ledger.content

    with pytest.raises(LedgerError, match=r"line 2 .* approver is no name"):
        read_facts(content, gates_path("release"))


def test_a_key_that_we_do_not_know_is_passed_over() -> None:
    row = {**ASK.pending(NOW_S, ""), "later": {"any": 1}}

    (fact,) = read_facts(json.dumps(row).encode(), "f")

    assert fact.row["later"] == {"any": 1}


@pytest.mark.parametrize("name", ["", "../x", ".x", "a.b", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(LedgerError, match="can't name a file"):
        gates_path(name)


def test_what_waits_is_listed() -> None:
    ledger = Ledger()
    ledger.run()
    ledger.run(env="local")
    ledger.run(gate="other")
    ledger.say(env="local")
    ledger.run(env="local")

    waiting = [(each.gate, each.env, how.state) for each, how in ledger.book.open(ledger.now_s)]

    assert waiting == [("other", "prod", "pending"), ("window", "prod", "pending")]


SOMETHING = st.one_of(
    st.tuples(st.just("run"), st.sampled_from("ab"), st.sampled_from("xy")),
    st.tuples(st.just("say"), st.sampled_from(["approved", "rejected", "expired"]), st.just("")),
    st.tuples(st.just("wait"), st.sampled_from([-30, 1, 30, 60]), st.just("")),
)


@given(story=st.lists(SOMETHING, max_size=20))
def test_no_run_passes_without_a_fresh_approval_of_its_own_plan(
    story: list[tuple[str, Any, str]],
) -> None:
    ledger = Ledger()
    unused: dict[tuple[str, str], int] = {}
    for kind, one, two in story:
        if kind == "wait":
            ledger.wait(one)
        elif kind == "run":
            reached = ledger.run(op_digest=one, params_digest=two)
            if reached.state == "approved":
                unused[one, two] -= 1
                assert unused[one, two] >= 0
        else:
            try:
                line = ledger.say(one)
            except GateRefused:
                continue
            key = line["op_digest"], line["params_digest"]
            unused[key] = 1 if one == "approved" else 0

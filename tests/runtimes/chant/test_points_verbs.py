"""Decision points from the command line: asked, waited for, answered, retracted, refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.chant.stewards import make_box, make_model, says, tip
from tests.runtimes.chant.talk import Said, chant, prompt

if TYPE_CHECKING:
    from pathlib import Path

AS_STEWARD = {"CHANT_STEWARD": "box-steward"}
LINE = re.compile(r"chant workspace points answer (\S+) --answer <yes\|no> --by <you>")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_box(tmp_path / "box")


def ask(box: Path, **env: str) -> str:
    """Run the Op up to its question and return the question's id."""
    ran = chant(box, "run", "release", **env)
    assert ran.code == 3, ran
    found = LINE.search(ran.out)
    assert found is not None, ran.out
    return found[1]


def answer(box: Path, question_id: str, *words: str, **env: str) -> Said:
    return chant(box, "workspace", "points", "answer", question_id, *words, **env)


def questions(box: Path, *words: str) -> list[Any]:
    return list(chant(box, "workspace", "points", *words, "--json").document["questions"])


def test_a_table_answers_and_the_run_goes_on(box: Path) -> None:
    ran = chant(box, "run", "release", "--param", "risk=low", "--json")

    assert ran.code == 0
    assert ran.document["outcomes"] == {"decision": "yes"}
    assert (box / "shipped").exists()
    (question,) = questions(box)
    assert (question["state"], question["by"]) == ("answered", ["table"])
    assert questions(box, "--open") == []


def test_an_open_question_ends_the_run_waiting_without_clean_up(box: Path) -> None:
    ran = chant(box, "run", "release", "--json")

    assert ran.code == 3
    assert (ran.document["status"], ran.document["compensation"]) == ("waiting", "none")
    assert ran.document["point"]["name"] == "ship-it"
    assert ran.document["point"]["step"] == "ask"
    assert [step["status"] for step in ran.document["phases"][0]["steps"]] == [
        "ok",
        "waiting",
        "skipped",
    ]
    assert not (box / "undone").exists()
    assert not (box / "shipped").exists()


def test_the_printed_line_answers_and_the_next_run_goes_through(box: Path) -> None:
    question_id = ask(box)

    said = answer(box, question_id, "--answer", "yes", "--by", "ann", "--note", "looked")
    again = chant(box, "run", "release", "--json")

    assert said.code == 0
    assert f"{question_id} is answered: yes, by ann" in said.out
    assert "next: chant run release --env local --param risk=medium" in said.out
    assert again.code == 0
    assert again.document["outcomes"] == {"decision": "yes"}
    assert len(questions(box)) == 1


def test_the_same_question_is_asked_once_and_another_input_is_another_question(box: Path) -> None:
    first, second = ask(box), ask(box)
    chant(box, "run", "release", "--param", "risk=odd")

    assert first == second
    assert len(questions(box, "--open")) == 2


def test_a_changed_declaration_asks_anew(box: Path) -> None:
    first = ask(box)
    path = box / "points" / "ship-it.toml"
    path.write_text(path.read_text().replace("risk is low", "risk is very low"))

    assert ask(box) != first


def test_a_retracted_answer_stops_the_next_run_again(box: Path) -> None:
    question_id = ask(box)
    answer(box, question_id, "--answer", "yes", "--by", "ann")

    back = chant(box, "workspace", "points", "retract", question_id, "--by", "bob")

    assert back.code == 0
    assert ask(box) == question_id
    (question,) = questions(box, "--open")
    assert question["history"][0]["retracted"]["by"] == "bob"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--answer", "perhaps", "--by", "ann"), 4, "answer-not-candidate"),
        (("--answer", "yes"), 2, "--by needs the name"),
        (("--by", "ann"), 2, "--answer needs"),
        (("--answer", "yes", "--by", "<you>"), 2, "--by needs a name"),
        (("--answer", "yes", "--by", "a\tb"), 2, "--by needs a name"),
    ],
)
def test_what_is_no_answer_leaves_the_ledger_where_it_was(
    box: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    question_id = ask(box)
    before = tip(box)

    refused = answer(box, question_id, *words)

    assert refused.code == code
    assert said in refused.err
    assert tip(box) == before


@pytest.mark.parametrize("question_id", ["nope", "../../x", "ship-it-000000000000"])
def test_an_unknown_question_is_refused(box: Path, question_id: str) -> None:
    ask(box)
    before = tip(box)

    refused = answer(box, question_id, "--answer", "yes", "--by", "ann")

    assert refused.code == 4
    assert "question-unknown" in refused.err
    assert tip(box) == before


@pytest.mark.parametrize("steward", ["box-steward", "somebody-else"])
@pytest.mark.parametrize("verb", ["answer", "retract"])
def test_in_a_stewards_turn_nobody_answers_or_retracts(box: Path, verb: str, steward: str) -> None:
    question_id = ask(box)
    before = tip(box)
    words = ["--answer", "yes"] if verb == "answer" else []

    refused = chant(
        box,
        *("workspace", "points", verb, question_id, *words, "--by", "ann", "--json"),
        CHANT_STEWARD=steward,
    )

    assert refused.code == 4
    assert "answer-in-steward-turn" in refused.err
    assert "answer-in-steward-turn" in refused.document["error"]
    assert tip(box) == before


def test_a_model_proposes_in_a_stewards_turn_and_the_question_stays_open(
    box: Path, tmp_path: Path
) -> None:
    model = make_model(tmp_path / "radian", says("yes", 0.9))

    ran = chant(box, "run", "release", **AS_STEWARD, **model)

    assert ran.code == 3
    assert "asked by: steward box-steward" in ran.out
    assert "proposed by qwen at local: yes (90% sure): so it seems" in ran.out
    (question,) = questions(box, "--open")
    assert question["state"] == "proposed"
    assert question["asked"]["steward"] == "box-steward"


def model_line(box: Path) -> Any:
    (question,) = questions(box)
    return question["deciders"][1]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (says("yes", 0.2), None),
        ({"text": "I would ship it!"}, "its reply is no JSON object"),
        (says("perhaps", 1.0), "none that can be given"),
        ({"error": {"status": 500, "message": "down"}}, "down"),
        (says("yes", 1.0, finish="length"), "its reply ended with 'length'"),
        ({"text": "x" * 100_000}, "longer than 65536 characters"),
    ],
    ids=["unsure", "prose", "unknown", "down", "cut", "long"],
)
def test_a_model_that_does_not_help_leaves_it_to_people(
    box: Path, tmp_path: Path, call: dict[str, object], reason: str | None
) -> None:
    model = make_model(tmp_path / "radian", call)

    ran = chant(box, "run", "release", **AS_STEWARD, **model)

    assert ran.code == 3
    line = model_line(box)
    assert line["outcome"] == ("not sure enough" if reason is None else "not reached")
    assert reason is None or reason in line["reason"]


def test_a_point_may_say_that_an_unreachable_model_is_a_failure(box: Path) -> None:
    path = box / "points" / "ship-it.toml"
    path.write_text(path.read_text().replace('"escalate"', '"fail"'))

    ran = chant(box, "run", "release", **AS_STEWARD, RADIAN_HOME=str(box / "none"))

    assert ran.code == 1
    assert "qwen at local" in ran.out
    assert (box / "undone").exists()
    assert questions(box) == []


@pytest.mark.parametrize("steward", [None, "plain-steward", "undeclared"])
def test_without_the_capability_no_model_is_called(
    box: Path, tmp_path: Path, steward: str | None
) -> None:
    model = make_model(tmp_path / "radian", says("yes", 0.9))
    env = {"CHANT_STEWARD": steward} if steward else {}

    ran = chant(box, "run", "release", **env, **model)

    assert ran.code == 3
    assert "qwen at local was not asked: " in ran.out
    assert model_line(box)["outcome"] == "not reached"


def test_without_the_ledger_only_a_table_answers(box: Path) -> None:
    good = chant(box, "run", "release", "--no-ledger", "--param", "risk=low")
    bad = chant(box, "run", "release", "--no-ledger")

    assert good.code == 0
    assert bad.code == 1
    assert "without the ledger nobody else can be asked" in bad.out
    assert tip(box) == ""


def test_a_quorum_waits_for_its_people(box: Path) -> None:
    path = box / "points" / "ship-it.toml"
    path.write_text(path.read_text().replace("count = 1", "count = 2"))
    question_id = ask(box)

    one = answer(box, question_id, "--answer", "yes", "--by", "ann")
    still = chant(box, "run", "release")
    two = answer(box, question_id, "--answer", "yes", "--by", "bob")

    assert "is open still: yes by 1; 2 people must give the same answer" in one.out
    assert still.code == 3
    assert "answered so far: ann (1 of 2)" in still.out
    assert "is answered: yes, by ann, bob" in two.out
    assert chant(box, "run", "release").code == 0


def test_a_question_can_be_asked_without_a_run(box: Path) -> None:
    known = chant(box, "workspace", "points", "ask", "ship-it", "--input", "risk=high", "--json")
    open_one = chant(box, "workspace", "points", "ask", "ship-it", "--input", "risk=odd")
    wrong = chant(box, "workspace", "points", "ask", "ship-it", "--input", "rsk=odd")
    nothing = chant(box, "workspace", "points", "ask", "ship-it")
    unknown = chant(box, "workspace", "points", "ask", "ship")

    assert (known.code, known.document["answer"]) == (0, "no")
    assert open_one.code == 3
    assert "did you mean risk?" in wrong.err
    assert nothing.code == 2
    assert "needs risk: --input risk=VALUE" in nothing.err
    assert unknown.code == 2
    assert "did you mean ship-it?" in unknown.err


def test_a_session_lists_what_the_command_line_lists(box: Path) -> None:
    ask(box)

    code, document = prompt(box, "workspace points --open")

    assert code == 0
    assert document == chant(box, "workspace", "points", "--open", "--json").document


def test_a_damaged_question_stops_the_run_before_anything_behind_it(box: Path) -> None:
    from ops.ledger import Ledger, open_ledger
    from ops.project import LedgerSettings

    question_id = ask(box)
    opened = open_ledger(str(box), LedgerSettings())
    assert isinstance(opened, Ledger)
    opened.branch.change(f"_answers/{question_id}.json", lambda _: b"{", "damage")

    ran = chant(box, "run", "release")

    assert ran.code == 1
    assert f"_answers/{question_id}.json on the ledger's branch can't be read" in ran.out
    assert not (box / "shipped").exists()

"""Words into invocations: what the table declares is taken, the rest is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.chant.help_text import all_verbs, asked, one_verb
from runtimes.chant.parsing import HelpAsked, Misused, parse
from runtimes.chant.verbs.acp import ACP, ACP_SERVE
from runtimes.chant.verbs.help import HELP_VERB
from runtimes.chant.verbs.run import RUN, plays, request_of
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import MEANINGS, Invocation

ANY_WORDS = st.lists(
    st.sampled_from(
        ["run", "acp", "serve", "x", "--env", "--env=e", "--help", "--", "-", "-x", "--json"]
    ),
    max_size=6,
)


def read(line: str) -> Invocation:
    found = parse(line.split(), VERBS)
    assert isinstance(found, Invocation)
    return found


def reason(line: str) -> str:
    found = parse(line.split(), VERBS)
    assert isinstance(found, Misused)
    return found.reason


def test_flags_and_params_stand_in_any_order() -> None:
    first = read("run --env prod release --param a=1 --param=b=2 --json")
    second = read("run release --json --param a=1 --param b=2 --env=prod")

    assert first == second
    assert first.param("OP") == "release"
    assert first.value("--env") == "prod"
    assert first.values("--param") == ("a=1", "b=2")
    assert first.on("--json")
    assert not first.on("--plan")


def test_the_longest_path_of_a_verb_wins() -> None:
    assert read("acp").verb is ACP
    assert read("acp serve").verb is ACP_SERVE
    assert read("help acp serve").verb is HELP_VERB


def test_after_two_dashes_everything_is_a_plain_word() -> None:
    assert read("run -- --env").param("OP") == "--env"
    assert read("run -").param("OP") == "-"


def test_a_flag_takes_the_next_word_whatever_it_looks_like() -> None:
    assert read("run a --param --x=1").values("--param") == ("--x=1",)


KNOWN = ", ".join(sorted({verb.path[0] for verb in VERBS}))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", f"no verb given; known: {KNOWN}"),
        ("rm -rf /", f"'rm' is not a verb of chant; known: {KNOWN}"),
        ("Run a", f"'Run' is not a verb of chant; known: {KNOWN}; did you mean 'run'?"),
        ("run", "chant run: OP is missing: the Op's name, see chant list"),
        ("run a b", "chant run: unexpected word 'b'"),
        ("run a --env", "chant run: --env needs a value: --env ENV"),
        ("run a --env x --env y", "chant run: --env is given twice"),
        ("run a --json=yes", "chant run: --json takes no value"),
        ("list all", "chant list: unexpected word 'all'"),
    ],
)
def test_what_cannot_be_taken_is_said_with_what_is_known(line: str, said: str) -> None:
    assert reason(line) == said


def test_an_unknown_flag_names_the_known_ones_and_the_nearest() -> None:
    assert reason("run a --enviro x").endswith("--json, --help; did you mean '--env'?")
    assert "--ignore-depends" in reason("run a -x")
    assert "did you mean" not in reason("run a --versoin 3")
    assert reason("run a --version=3").endswith("; a value of one's own: --param version=VALUE")


def test_a_word_of_any_length_is_repeated_only_in_part() -> None:
    assert len(reason("y" * 60_000)) < 300


def test_help_is_shown_for_all_verbs_or_one_and_nothing_else_is_checked() -> None:
    assert parse(["--help"], VERBS) == HelpAsked()
    assert parse(["run", "--help"], VERBS) == HelpAsked(RUN)
    assert parse(["run", "a", "b", "--help"], VERBS) == HelpAsked(RUN)
    assert parse(["workspace", "--help"], VERBS) == HelpAsked(group=("workspace",))
    assert isinstance(parse(["workspaces", "--help"], VERBS), Misused)


def test_help_has_a_short_form_that_a_value_may_still_be() -> None:
    assert parse(["-h"], VERBS) == HelpAsked()
    assert parse(["run", "a", "-h"], VERBS) == HelpAsked(RUN)
    assert parse(["workspace", "-h"], VERBS) == HelpAsked(group=("workspace",))
    assert read("run a --param x=1 --env -h").value("--env") == "-h"


def test_the_beginning_of_verbs_is_explained_by_those_verbs() -> None:
    text = asked(None, ("workspace",), VERBS)

    assert "  workspace points answer ID " in text
    assert "lifecycle" not in text
    assert asked(RUN, (), VERBS).endswith("run log [OP]; run report RUN; run cancel RUN")


@given(ANY_WORDS)
def test_no_words_raise(words: list[str]) -> None:
    assert isinstance(parse(words, VERBS), Invocation | HelpAsked | Misused)


def test_the_help_names_every_verb_flag_and_exit_code() -> None:
    assert all(f"  {' '.join(verb.path)}" in all_verbs(VERBS) for verb in VERBS)
    for verb in VERBS:
        text = " ".join(one_verb(verb).split())
        assert all(flag.name in text and flag.summary in text for flag in verb.flags)
        assert all(MEANINGS[code] in text for code in verb.exit_codes)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_of_help_is_wider_than_the_terminal(width: int) -> None:
    texts = [all_verbs(VERBS, width), asked(None, ("workspace",), VERBS, width)]
    texts += [asked(verb, (), VERBS, width) for verb in VERBS]

    assert max(len(line) for text in texts for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_flag_and_its_value_stay_on_one_line_of_the_usage(width: int) -> None:
    for verb in VERBS:
        usage, _, _ = one_verb(verb, width).partition("\n\n")

        assert all(line.count("[") == line.count("]") for line in usage.splitlines())


def test_the_table_is_sound() -> None:
    assert len({verb.path for verb in VERBS}) == len(VERBS)
    for verb in VERBS:
        assert 1 <= len(verb.path) <= 3
        assert all(flag.name.startswith("--") for flag in verb.flags)
        assert len({flag.name for flag in verb.flags}) == len(verb.flags)


def test_a_run_with_plan_only_answers() -> None:
    assert plays(read("run a"))
    assert not plays(read("run a --plan"))
    assert not plays(read("list"))


def test_an_invocation_of_run_becomes_a_request() -> None:
    words = read("run a --no-ledger --ignore-depends --param x=1 --env prod")
    request = request_of(words, "/there", {"CHANT_STEWARD": "box"}, origin="acp")

    assert (request.op, request.cwd, request.env, request.params) == (
        "a",
        "/there",
        "prod",
        ("x=1",),
    )
    assert (request.no_ledger, request.ignore_depends) == (True, True)
    assert (request.origin, request.steward) == ("acp", "box")

"""``chant help``: what chant can do, or more about one verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.verb import OK, USAGE, Invocation, Outcome, Param, Surroundings, Verb

if TYPE_CHECKING:
    from collections.abc import Sequence


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Show all verbs, those that begin with some words, or one.

    Raises:
        ParamInvalid: No verb begins like that.

    """
    from ops.errors import ParamInvalid
    from runtimes.chant.help_text import asked
    from runtimes.chant.parsing import find_verb, group_of, no_verb
    from runtimes.chant.verbs.table import VERBS

    words = invocation.params.get("VERB", ())
    verb, group = find_verb(words, VERBS), group_of(words, VERBS)
    if not group:
        raise ParamInvalid(_too_many(words, verb) if verb else no_verb(words, VERBS))
    whole = verb if verb and verb.path == tuple(words) else None
    text = asked(whole, words, VERBS, around.width)
    shown = [whole] if whole else group
    document = {
        "verbs": [{"verb": each.name, "summary": each.summary} for each in shown],
        "text": text,
    }
    return Outcome(OK, document, text)


def _too_many(words: Sequence[str], verb: Verb) -> str:
    after = " ".join(words[len(verb.path) :])[:80]
    return f"no verb continues {verb.name!r} with {after!r}; chant help {verb.name} explains it"


HELP_VERB = Verb(
    path=("help",),
    summary="Show all verbs, or more about one",
    handler=answer,
    document='{"verbs": [{"verb", "summary"}], "text"}',
    params=(Param("VERB", "the verb to explain, one to three words", required=False, many=True),),
    exit_codes=(OK, USAGE),
)

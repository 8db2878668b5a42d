"""``chant help``: what chant can do, or more about one verb."""

from __future__ import annotations

from runtimes.chant.verbs.verb import OK, USAGE, Invocation, Outcome, Param, Surroundings, Verb


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Show all verbs, or one."""
    del around
    from runtimes.chant import help_text
    from runtimes.chant.parsing import find_verb
    from runtimes.chant.verbs.table import VERBS

    words = invocation.params.get("VERB", ())
    verb = find_verb(words, VERBS)
    if not words:
        text, verbs, code = help_text.all_verbs(VERBS), list(VERBS), OK
    elif verb is None or verb.path != tuple(words):
        known = ", ".join(each.name for each in VERBS)
        text, verbs, code = f"no verb {' '.join(words)[:80]!r}; known: {known}", [], USAGE
    else:
        text, verbs, code = help_text.one_verb(verb), [verb], OK
    document = {
        "verbs": [{"verb": each.name, "summary": each.summary} for each in verbs],
        "text": text,
    }
    return Outcome(code, document, text)


HELP_VERB = Verb(
    path=("help",),
    summary="Show all verbs, or more about one",
    handler=answer,
    document='{"verbs": [{"verb", "summary"}], "text"}',
    params=(Param("VERB", "the verb to explain, one to three words", required=False, many=True),),
    exit_codes=(OK, USAGE),
)

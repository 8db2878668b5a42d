"""The reference in docs/, made from the tables that the program itself reads: `make reference`.

Each page is Markdown; `pages` is pure, `main` writes them.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ops.activities.table import ACTIVITIES
from ops.lifecycle import CLASSES
from ops.lint.table import RULES
from ops.resources.table import READERS
from runtimes.chant.help_text import long_usage
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import COMMON, MEANINGS, NotInPrompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.activities.activity import Activity
    from ops.resources.reader import Reader
    from runtimes.chant.verbs.verb import Verb

MADE = "<!-- Made by `make reference` from the tables in the code; changes belong there. -->"


def pages() -> dict[str, str]:
    """Return file name to text of every page."""
    made = {
        "README.md": _index(),
        "verbs.md": _verbs(),
        "activities.md": _activities(),
        "resources.md": _resources(),
        "lint.md": _lint(),
    }
    return {name: "\n".join([MADE, "", *lines, ""]) for name, lines in made.items()}


def main(folder: str) -> None:
    """Write the pages into ``folder``; a page that is no longer made is removed."""
    os.makedirs(folder, exist_ok=True)
    made = pages()
    for name in set(os.listdir(folder)) - made.keys():
        os.unlink(os.path.join(folder, name))
    for name, text in made.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as page:
            page.write(text)


def _index() -> Iterator[str]:
    yield from ("# Reference", "")
    yield "- [Verbs](verbs.md): every command line, its flags, exit codes and JSON"
    yield "- [Activities](activities.md): what a step of an Op can do"
    yield "- [Resources](resources.md): readers, their keys and facts, and what a comparison says"
    yield "- [Lint](lint.md): rules and their ids"


def _verbs() -> Iterator[str]:
    yield from ("# Verbs", "")
    yield "`chant VERB --help` says the same. A session's prompt is such a line without `chant`."
    yield ""
    yield from _table(
        ("verb", "what it does"), ((f"[{v.name}](#{_anchor(v)})", v.summary) for v in VERBS)
    )
    yield from ("", "Every verb has these flags:", "")
    yield from _table(("flag", "meaning"), ((f"`{f.name}`", f.summary) for f in COMMON))
    yield from ("", "Exit codes:", "")
    yield from _table(("code", "meaning"), ((str(c), m) for c, m in MEANINGS.items()))
    for verb in VERBS:
        yield from _verb(verb)


def _verb(verb: Verb) -> Iterator[str]:
    yield from ("", f"## chant {verb.name}", "", f"{verb.summary}.", "")
    yield from ("```text", long_usage(verb), "```")
    rows = [(f"`{param.name}`", param.summary) for param in verb.params]
    rows += [(f"`{f.name} {f.value}`".replace(" `", "`"), f.summary) for f in verb.own_flags]
    if rows:
        yield ""
        yield from _table(("word", "meaning"), rows)
    codes = ", ".join(f"{code} ({MEANINGS[code]})" for code in verb.exit_codes)
    yield from ("", f"Exit codes: {codes}.", "", f"With `--json`: `{verb.document}`.")
    if isinstance(verb.in_prompts, NotInPrompts):
        yield from ("", f"Not in a session's prompt: {verb.in_prompts.reason}.")


def _anchor(verb: Verb) -> str:
    return f"chant-{'-'.join(verb.path)}"


def _activities() -> Iterator[str]:
    yield from ("# Activities", "", "What `fn` of a step may be. Every output has `stdout`, too.")
    for activity in ACTIVITIES.values():
        yield from _activity(activity)


def _activity(activity: Activity) -> Iterator[str]:
    yield from ("", f"## {activity.name}", "", f"{activity.summary}.", "")
    yield from _table(
        ("arg", "type", "required", "meaning"),
        (
            (f"`{arg.name}`", arg.type, "yes" if arg.required else "", arg.summary)
            for arg in activity.args
        ),
    )
    if activity.one_of:
        yield from ("", f"Exactly one of {', '.join(activity.one_of)} must be given.")
    if activity.output:
        yield from ("", f"Output: {activity.output}.")


def _resources() -> Iterator[str]:
    yield from ("# Resources", "")
    yield "A resource is declared by `[[resource]]` in chant.toml or in a file `*.resource.toml`."
    yield "Each has these keys, and those of its reader:"
    yield ""
    yield from _table(
        ("key", "meaning"),
        [
            ("`name`", "letters, digits, `_`, `-` and `.`"),
            ("`reader`", "one of those below"),
            ("`description`", "for people"),
            ("`environments`", "where it should exist; everywhere when absent"),
            ("`op`", "the Op that brings it about, for people who read a plan"),
            ("`timeout`", "how long looking may take, 10s when absent, 300s at most"),
            ("`expect`", "a table of facts as they should be; absent: as the last snapshot saw"),
        ],
    )
    yield from ("", "What `chant lifecycle diff` says of a resource:", "")
    yield from _table(("class", "meaning"), CLASSES.items())
    yield from ("", "With `--exit-code`, missing, disappeared, drifted and orphan exit 1.")
    for reader in READERS.values():
        yield from _reader(reader)


def _reader(reader: Reader) -> Iterator[str]:
    yield from ("", f"## {reader.name}", "", f"{reader.summary}.", "")
    yield from _table(
        ("key", "type", "required", "meaning"),
        (
            (f"`{key.name}`", key.kind, "yes" if key.required else "", key.summary)
            for key in reader.keys
        ),
    )
    if reader.one_of:
        yield from ("", f"Exactly one of {', '.join(reader.one_of)} must be given.")
    yield ""
    yield from _table(("fact", "meaning"), ((f"`{n}`", said) for n, said in reader.facts.items()))
    if reader.any_fact:
        yield from ("", "Other facts are possible.")


def _lint() -> Iterator[str]:
    yield from ("# Lint", "")
    yield 'A project turns rules off with `[lint] ignore = ["rule-id"]` in chant.toml.'
    yield ""
    yield from _table(
        ("rule", "level", "holds when", "`--fix`"),
        ((f"`{r.rule_id}`", r.level, r.summary, "yes" if r.mend else "") for r in RULES),
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


if __name__ == "__main__":
    main(sys.argv[1])

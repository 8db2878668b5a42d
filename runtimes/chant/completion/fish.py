"""The completion script for fish.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.completion.words import FILES, places, valued_flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.chant.completion.words import Place
    from runtimes.chant.verbs.verb import Verb

HEAD = """\
# fish completion for chant.  Put it into ~/.config/fish/completions/chant.fish, or load it with:
#   chant completion fish | source
function __chant_path
  set -l taken ""
  set -l skip ""
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip ""
      continue
    end
    switch $word
      case {valued}
        set skip 1
      case '-*'
      case '*'
        switch "$taken$word "
          case {known}
            set taken "$taken$word "
        end
    end
  end
  test "$taken" = "$argv[1]"
end
complete -c chant -f
"""


def fish(verbs: Sequence[Verb]) -> str:
    """Return the script."""
    every = places(verbs)
    head = HEAD.format(
        valued=" ".join(valued_flags(verbs)),
        known=" ".join(f'"{" ".join(place.path)} "' for place in every if place.path),
    )
    return head + "".join(f"{line}\n" for place in every for line in _lines(place))


def _lines(place: Place) -> Iterator[str]:
    path = "".join(f"{word} " for word in place.path)
    begin = f"complete -c chant -n '__chant_path \"{path}\"'"
    for choice in place.words:
        yield f"{begin} -a {choice.word} -d {_quoted(choice.summary)}"
    for flag in place.flags:
        value = "" if not flag.value else " -r -F" if flag.value in FILES else " -x"
        yield f"{begin} -l {flag.name.removeprefix('--')}{value} -d {_quoted(flag.summary)}"
    if place.ops:
        yield f"{begin} -a '(chant list --names 2>/dev/null)' -d Op"
    if place.files:
        yield f"{begin} -F"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

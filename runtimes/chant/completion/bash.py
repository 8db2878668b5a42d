"""The completion script for bash.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.completion.words import places, valued_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.completion.words import Place
    from runtimes.chant.verbs.verb import Verb

SCRIPT = """\
# bash completion for chant.  Load it with:  source <(chant completion bash)
_chant() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} path="" skip="" word words="" ops="" files=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    if [[ $skip ]]; then skip=""; continue; fi
    case "$word" in
      {valued}) skip=1 ;;
      -*) ;;
      *) case "$path$word " in
{known}
        esac ;;
    esac
  done
  if [[ $skip ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  case "$path" in
{cases}
  esac
  [[ $ops && $cur != -* ]] && words+=" $(chant list --names 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ $files && $cur != -* ]] && COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -F _chant chant
"""


def bash(verbs: Sequence[Verb]) -> str:
    """Return the script."""
    every = places(verbs)
    known = "|".join(f'"{" ".join(place.path)} "' for place in every if place.path)
    return SCRIPT.format(
        valued="|".join(valued_flags(verbs)),
        known=f'        {known}) path+="$word " ;;',
        cases="\n".join(map(_case, every)),
    )


def _case(place: Place) -> str:
    path = "".join(f"{word} " for word in place.path)
    words = " ".join(choice.word for choice in place.choices)
    ops = " ops=1" if place.ops else ""
    files = " files=1" if place.files else ""
    return f'    "{path}") words="{words}"{ops}{files} ;;'

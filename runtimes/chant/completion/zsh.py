"""The completion script for zsh.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.completion.words import places, valued_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.completion.words import Choice, Place
    from runtimes.chant.verbs.verb import Verb

SCRIPT = """\
#compdef chant
# zsh completion for chant.  Put it into a folder of $fpath as _chant, or load it with:
#   source <(chant completion zsh)
_chant() {{
  local taken="" skip="" word ops="" files=""
  local -a choices names
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    if [[ -n $skip ]]; then skip=""; continue; fi
    case "$word" in
      {valued}) skip=1 ;;
      -*) ;;
      *) case "$taken$word " in
{known}
        esac ;;
    esac
  done
  if [[ -n $skip ]]; then _files; return; fi
  case "$taken" in
{cases}
  esac
  if [[ -n $ops ]]; then
    names=(${{(f)"$(chant list --names 2>/dev/null)"}})
    compadd -a names
  fi
  [[ -n $files ]] && _files
  _describe -t words 'chant' choices
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _chant "$@"; else compdef _chant chant; fi
"""


def zsh(verbs: Sequence[Verb]) -> str:
    """Return the script."""
    every = places(verbs)
    known = "|".join(f'"{" ".join(place.path)} "' for place in every if place.path)
    return SCRIPT.format(
        valued="|".join(valued_flags(verbs)),
        known=f'        {known}) taken+="$word " ;;',
        cases="\n".join(map(_case, every)),
    )


def _case(place: Place) -> str:
    path = "".join(f"{word} " for word in place.path)
    words = " ".join(map(_quoted, place.choices))
    ops = " ops=1" if place.ops else ""
    files = " files=1" if place.files else ""
    return f'    "{path}") choices=({words}){ops}{files} ;;'


def _quoted(choice: Choice) -> str:
    text = f"{choice.word}:{choice.summary}" if choice.summary else choice.word
    return "'" + text.replace("'", "'\\''") + "'"

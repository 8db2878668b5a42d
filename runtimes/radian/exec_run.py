"""``radian exec``: one prompt, one turn, one exit code; or something to print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from runtimes.radian.exec_flags import FLAGS, check_together
from runtimes.radian.exit_codes import FAILED, NO_SESSION, USAGE
from runtimes.radian.flags import FlagsMisused, read_flags
from runtimes.radian.options import conversation_options
from runtimes.radian.session_errors import (
    ExportExists,
    JournalError,
    NoSuchTurnEnd,
    SessionError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.radian.options import ConversationOptions
    from runtimes.radian.session import AgentSession, SessionPlan
    from runtimes.radian.settings import Settings


def run_exec(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the words after ``radian exec`` say and return the exit code."""
    from runtimes.radian.images import ImageUnusable
    from runtimes.radian.patient_out import lossy
    from runtimes.radian.settings import SettingsError

    sys.stderr = lossy(sys.stderr)
    try:
        return _perform(argv, environ)
    except (FlagsMisused, SettingsError, ImageUnusable) as error:
        return _refuse(error, USAGE)
    except NoSuchTurnEnd as error:
        return _refuse(error, USAGE)
    except SessionError as error:
        return _refuse(error, NO_SESSION)
    except (JournalError, ExportExists) as error:
        return _refuse(error, FAILED)
    except OSError as error:
        # Of a rename, the name that it should have had, which people know.
        where = error.filename2 or error.filename or "output"
        return _refuse(f"{error.strerror or error}: {where}", FAILED)


def _perform(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    given = read_flags(argv, FLAGS)
    command = check_together(given)
    options = conversation_options(given)
    if options.log_level or options.log_file:
        from runtimes.radian.log_file import start_log

        start_log(options)
    if command == "prompt":
        return _converse(given, options, environ)
    from runtimes.models.credentials import radian_home
    from runtimes.radian.printing import print_and_exit

    return print_and_exit(command, given, options, radian_home(environ))


def _converse(
    given: Mapping[str, Any], options: ConversationOptions, environ: Mapping[str, str]
) -> int:
    """Run the turn, or at a terminal without ``-p`` turn after turn."""
    if "prompt" in given or not sys.stdin.isatty():
        return _run(given, options, environ, typed=False)
    from runtimes.radian.typed_line import until_signal

    return until_signal(lambda: _run(given, options, environ, typed=True))


def _run(
    given: Mapping[str, Any],
    options: ConversationOptions,
    environ: Mapping[str, str],
    *,
    typed: bool,
) -> int:
    from runtimes.models.base import Text
    from runtimes.radian.images import keep_images, read_image
    from runtimes.radian.prompt_input import read_prompt
    from runtimes.radian.session import open_session
    from runtimes.radian.settings import settings_for
    from runtimes.radian.turn_shown import begin, run_shown, shown_as

    settings = settings_for(options, environ)
    pictures = tuple(read_image(path) for path in given.get("image", ()))
    _check_images(settings, count=len(pictures))
    prompt = "" if typed else read_prompt(given.get("prompt"))
    session = open_session(_plan(given, options, settings, typed=typed), environ)
    try:
        shown = shown_as(given.get("output", "text"))
        _warm_up(session)
        begin(session, shown)
        images = keep_images(pictures, session.side_files)
        if not typed:
            return run_shown(session, shown, (Text(prompt), *images))
        from runtimes.radian.line_prompt import converse

        return converse(session, shown, images)
    finally:
        session.close()


def _warm_up(session: AgentSession) -> None:
    """Read the certificates, and the library that calls, beside what a turn needs otherwise."""
    import threading

    from runtimes.models.registry import warm_up

    provider = session.desk.model.provider
    threading.Thread(target=warm_up, args=(provider,), name="warm up", daemon=True).start()


def _plan(
    given: Mapping[str, Any], options: ConversationOptions, settings: Settings, *, typed: bool
) -> SessionPlan:
    from runtimes.radian.session import SessionPlan
    from runtimes.radian.settings import UNTRUSTED, trusts
    from runtimes.radian.workspace_path import current_folder

    workspace = options.workspace or current_folder()
    trusted, notice = trusts(options, workspace, settings.home)
    piped = not typed and given.get("prompt", "-") == "-"
    if notice == UNTRUSTED and not piped:
        from runtimes.radian.trust import brings_something

        notice = notice if brings_something(workspace) else ""
    asker = None
    if typed:
        from runtimes.radian.line_prompt import asks_for_trust
        from runtimes.radian.terminal_asker import TerminalAsker

        asker = TerminalAsker()
        trusted = asks_for_trust(workspace, settings.home) if notice else trusted
    elif notice:
        sys.stderr.write(f"radian: {notice}\n")
    return SessionPlan(
        settings,
        workspace,
        options.resume,
        options.session_id,
        trusted=trusted,
        yes=bool(given.get("yes")),
        asker=asker,
    )


def _check_images(settings: Settings, *, count: int) -> None:
    if count and settings.provider.facts(settings.model).images is False:
        message = f"model {settings.model} can't see pictures, says config.toml"
        raise FlagsMisused(message)


def _refuse(why: object, code: int) -> int:
    sys.stderr.write(f"radian exec: {why}\n")
    return code

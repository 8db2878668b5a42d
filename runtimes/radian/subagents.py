"""The subagents of one turn: what each of them is given.

The same model, tools, permissions, hooks and budget as the turn has; a conversation of its own, its
own view of which files were read, and no subagents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runtimes.radian.tools.running import one_line
from runtimes.radian.tools.subagent import NAME

if TYPE_CHECKING:
    from runtimes.radian.model_desk import ModelDesk
    from runtimes.radian.purse import Purse
    from runtimes.radian.question_line import QuestionLine
    from runtimes.radian.subagent import Subagent
    from runtimes.radian.subagent_progress import SubagentProgress
    from runtimes.radian.tool_desk import ToolDesk
    from runtimes.radian.tools.base import Prepared
    from runtimes.radian.turn_desk import TurnDesk

MAX_TITLE = 60
INSTRUCTIONS = """\
You are a subagent: another agent gave you one task, and the person does not see what you write. \
Do the whole task and nothing else. Your last message is all that the other agent gets: say there \
what you found or did, with the paths and facts that it needs, and what you could not do."""


class Subagents:
    """Makes them; see the module.  What they are made of is imported with the first."""

    def __init__(self, desk: TurnDesk, turn: int, purse: Purse) -> None:
        """``purse``: what all conversations of the turn spend from."""
        self._desk = desk
        self._turn = turn
        self._purse = purse
        self._line: QuestionLine | None = None

    def make(self, key: str, agent: str, prepared: Prepared) -> Subagent:
        """Make the subagent of an allowed call.

        ``key`` begins the ids of all that it starts; ``agent`` is the id of the call.
        """
        from runtimes.radian.conversation import Conversation
        from runtimes.radian.question_line import QuestionLine
        from runtimes.radian.subagent import Subagent
        from runtimes.radian.subagent_progress import SubagentProgress
        from runtimes.radian.turn_state import TurnState

        desk, turn = self._desk, self._turn
        self._line = line = self._line or QuestionLine()
        progress = SubagentProgress(turn, agent)
        tools = _tools(desk.tools, _name(prepared), progress, line)
        own = replace(desk, model=_model(desk.model, agent), tools=tools)
        state = TurnState(turn, desk.model.model, desk.limits, desk.used_ids, self._purse)
        return Subagent(
            Conversation(own, turn, key, state),
            turn=turn,
            key=key,
            agent=agent,
            progress=progress,
            line=line,
            monotonic=desk.monotonic,
        )


def _name(prepared: Prepared) -> str:
    """Return how people know a subagent: by its task."""
    return f"subagent ({one_line(prepared.view.title, MAX_TITLE)})"


def _tools(desk: ToolDesk, name: str, progress: SubagentProgress, line: QuestionLine) -> ToolDesk:
    from runtimes.radian.subagent_asker import SubagentAsker
    from runtimes.radian.tool_belt import without
    from runtimes.radian.tools.seen import SeenFiles

    asker = desk.policy.asker
    named = None if asker is None else SubagentAsker(asker, line, name, progress)
    return replace(
        desk,
        tools=without(desk.tools, NAME),
        context=replace(desk.context, seen=SeenFiles()),
        policy=replace(desk.policy, asker=named),
    )


def _model(desk: ModelDesk, agent: str) -> ModelDesk:
    return desk.for_agent(
        agent,
        f"{desk.system}\n\n{INSTRUCTIONS}",
        lambda: tuple(each for each in desk.tools() if each.name != NAME),
    )

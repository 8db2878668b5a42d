"""Times of a schedule: five fields of cron, in UTC.  The only module that knows croniter.

UTC, so that a schedule means the same on every machine, and no hour comes twice or never.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ops.errors import OpsError

FIELDS = 5
DRAWN = re.compile(r"(?:^|,)[hr](?:$|[,(/])", re.IGNORECASE)
"""croniter's ``H`` and ``R``, which stand for a number that is drawn: nobody could say when."""


class CronInvalid(OpsError):  # noqa: N818 - the tree names what happened
    """A text that is no schedule, or one whose time never comes."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule that was checked by `parse_cron`."""

    text: str

    def next_after(self, wall_s: float) -> float:
        """Return the first time after ``wall_s``; both are epoch seconds.

        Raises:
            CronInvalid: There is none within decades.

        """
        from croniter import CroniterError, croniter

        try:
            return float(croniter(self.text, wall_s).get_next(float))
        except CroniterError as error:
            msg = f"schedule {self.text!r} never comes: {error}"
            raise CronInvalid(msg) from error


def parse_cron(text: str) -> Cron:
    """Read a schedule: minute, hour, day, month, weekday.

    Raises:
        CronInvalid: It is none, or its time never comes.

    """
    from croniter import CroniterError, croniter

    fields = text.split()
    if len(fields) != FIELDS or any(map(DRAWN.search, fields)):
        msg = f"schedule {text!r} must have five fields: minute, hour, day, month, weekday"
        raise CronInvalid(msg)
    try:
        croniter.expand(text)
    except CroniterError as error:
        msg = f"schedule {text!r} can't be read: {error}"
        raise CronInvalid(msg) from error
    cron = Cron(" ".join(fields))
    cron.next_after(0.0)
    return cron

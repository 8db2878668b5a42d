"""The activities that a step's ``fn`` can name.  One module each, imported when first prepared."""

from __future__ import annotations

from ops.activities.activity import Activity, Arg
from ops.activities.table import ACTIVITIES, activity, called

__all__ = ["ACTIVITIES", "Activity", "Arg", "activity", "called"]

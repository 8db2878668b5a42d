"""The flags of ``radian acp``: the conversation flags, and two that break the server on purpose."""

from __future__ import annotations

from runtimes.fault_flags import ALLOW_FAULTS, FAULTS
from runtimes.radian.flags import CONVERSATION, Flag

BREAKING = (Flag("--faults", *FAULTS), Flag("--allow-faults", *ALLOW_FAULTS))
FLAGS = (*CONVERSATION, *BREAKING)

"""``chant operator``: runs a steward's scheduled Ops, one at a time, for as long as it lives."""

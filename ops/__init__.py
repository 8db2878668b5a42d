"""Declared operations: loading, checking, planning, running and recording them.

Knows neither ACP nor actors.  Import from the modules: nothing is re-exported, so that a command
pays only for what it uses.
"""

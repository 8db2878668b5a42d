"""MCP servers over stdio: chosen, started, talked to, and offered to the model as tools.

Nothing of it is imported where no server is configured.
"""

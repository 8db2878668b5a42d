"""chant: runs declared operations, on the command line and as an ACP server."""

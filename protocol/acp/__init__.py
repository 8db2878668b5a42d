"""The shapes of ACP after the handshake.  Only here and in `protocol.handshake` is camelCase."""

"""Mailboxes, supervision and backpressure.  Knows the protocol, not the runtimes."""

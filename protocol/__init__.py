"""Bytes to values and values to bytes.  Pure: no thread, clock, file, socket or log."""

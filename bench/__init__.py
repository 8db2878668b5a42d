"""What we measure and how; `make bench` runs it."""

"""The measurements, one subject a file.  Each returns medians by agent, ready for the report."""

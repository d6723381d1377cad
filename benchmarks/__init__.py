"""Timings, one subject a table."""

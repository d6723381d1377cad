"""Timings, one subject a table, and in `studies` the quality of rankings."""

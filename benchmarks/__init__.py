"""Benchmarks: each prints a table measured in one run, side by side with the peers on the same data and threads."""

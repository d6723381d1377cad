"""Does training for GAP rank better? Every competitor tuned alike on real data; see `benchmarks/EFFECTIVENESS.md`."""

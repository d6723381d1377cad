"""Study of rankings by GAP: all competitors tuned alike, see `benchmarks/EFFECTIVENESS.md`."""

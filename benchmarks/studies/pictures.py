"""Style of the figures, which the timings share."""

from benchmarks.pictures import bare, legend_below, line, panels, plt, save

__all__ = ["bare", "legend_below", "line", "panels", "plt", "save"]

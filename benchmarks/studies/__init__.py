"""Questions answered with real data, one package a study, each with its page beside those of the benchmarks.

=================  ===================================================================================
`papers`           what the papers show, item by item
`effectiveness`    whether training for GAP ranks better than the boosters' own objectives
`policy`           false alarms and power of the statistics that all of them use
`records`          saved results: one CSV file, a task's rows at a time
`inference`        bootstrapped intervals
`tables`           numbers and tables in Markdown
`pictures`         what the figures look like
=================  ===================================================================================

A study computes what its results lack and writes its page from them: ``python -m benchmarks.studies.NAME``; with ``--redraw`` it
writes the page alone. The data are expected in ../shared/data.

A folder without code is an archived study. Its page names the commit that has the code.
"""

from pathlib import Path

# Judged collections, where somebody has them: none is part of the project.
DATA = Path(__file__).parents[3] / "shared" / "data"

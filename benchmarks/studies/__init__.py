"""Questions answered with real data. Each study has a page in `benchmarks`.

===============  ============================================================
`papers`         claims of four papers, and what gapboost gives
`effectiveness`  rankers trained for GAP against the boosters' own objectives
`policy`         false alarms and power of the statistics of all studies
`comparisons`    rankers compared on several collections: saved estimates
`records`        saved results: the rows of one finished task at a time
===============  ============================================================

``python -m benchmarks.studies.NAME`` computes what the results lack and writes the page; with
``--redraw`` it only writes the page. The data are expected in ../shared/data. A folder without code
is an archived study: its page names the commit that has the code.
"""

from pathlib import Path

# Judged collections, where somebody has them: none is part of the project.
DATA = Path(__file__).parents[3] / "shared" / "data"

"""Compute what the results lack, and write the tables of POLICY.md.

python -m benchmarks.studies.policy            # everything; rankers take three hours of a core
python -m benchmarks.studies.policy simulated  # or selves, halves; and the tables
"""

import sys
from functools import partial

from benchmarks.studies.effectiveness.data import collections
from benchmarks.studies.policy import RESULTS, SIZES, report, simulation
from benchmarks.studies.policy.rankers import RANDOM, beside_itself, on_halves
from benchmarks.studies.records import Records, Tasks, finish

SIMULATED = Records(RESULTS / "simulated.csv", ("collection", "queries"))
SELVES = Records(RESULTS / "selves.csv", ("collection", "queries", "ranker", "draw"))
HALVES = Records(RESULTS / "halves.csv", ("collection", "draw"))
# Draws of queries, by their number.
DRAWS = {50: 3, 200: 2, 1000: 2}
HALVINGS = 40
HALVED = ("ohsumed", "cranfield")


def simulated() -> Tasks:
    """Return the simulated comparisons."""
    return {(name, str(n)): partial(simulation.rows_of, name, n) for name, n in simulation.cells()}


def selves() -> Tasks:
    """Return the comparisons of rankers with themselves."""
    sources = collections()
    return {
        (source.name, str(n), name, str(draw)): partial(beside_itself, source, n, name, draw)
        for n in SIZES
        for draw in range(DRAWS[n])
        for source in sources
        if len(set(source.data.qid)) >= n
        for name in RANDOM
    }


def halves() -> Tasks:
    """Return the comparisons on halves."""
    sources = [source for source in collections() if source.name in HALVED]
    return {
        (one.name, str(draw)): partial(on_halves, one, draw)
        for draw in range(HALVINGS)
        for one in sources
    }


STUDIES = {
    "simulated": (SIMULATED, simulated),
    "selves": (SELVES, selves),
    "halves": (HALVES, halves),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or STUDIES:
        records, tasks = STUDIES[name]
        finish(records, tasks())
    report.write_page(SIMULATED, SELVES, HALVES)

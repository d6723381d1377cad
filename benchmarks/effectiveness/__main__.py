"""Effectiveness of ours beside the boosters' own objectives.

    python -m benchmarks.effectiveness [--quick] [--redraw] [--seeds N] [--candidates N] [LETOR directory ...]

Trains what is not trained yet, appending to benchmarks/effectiveness/results/, then writes the tables of
benchmarks/EFFECTIVENESS.md and its figures. CatBoost's objectives need `pip install catboost`.
"""

import argparse
import importlib.util
from pathlib import Path

from benchmarks.effectiveness.competitors import COMPETITORS, UNTUNED
from benchmarks.effectiveness.data import sources
from benchmarks.effectiveness.runs import RESULTS, Plan, Results, run


def main() -> None:
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, help="LETOR data sets, each with Fold1 to Fold5")
    parser.add_argument("--quick", action="store_true", help="one seed, one fold, two candidates, 30 trees")
    parser.add_argument("--redraw", action="store_true", help="tables and figures of the saved results, no training")
    parser.add_argument("--seeds", type=int, default=Plan.seeds)
    parser.add_argument("--candidates", type=int, default=Plan.candidates)
    parser.add_argument("--theirs", action="store_true", help="train the boosters' own objectives only")
    arguments = parser.parse_args()
    plan = Plan(arguments.seeds, arguments.candidates)
    directory = RESULTS
    if arguments.quick:
        plan = Plan(seeds=1, candidates=2, rounds=30, folds=(1,))
        directory = RESULTS / "quick"
    found = sources(arguments.directories)
    if not found:
        parser.error("no data found; name LETOR directories")
    competitors = [c for c in COMPETITORS if not (arguments.theirs and c.ours)]
    if any(c.library == "CatBoost" for c in competitors) and importlib.util.find_spec("catboost") is None:
        parser.error("CatBoost is not installed, and three competitors are its own; pip install catboost")
    if not arguments.redraw:
        run("untuned", list(UNTUNED), found, plan, Results("untuned", directory))
        run("tuned", [c.name for c in competitors], found, plan, Results("tuned", directory))


if __name__ == "__main__":
    main()

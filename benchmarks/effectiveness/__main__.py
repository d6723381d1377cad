"""Effectiveness of ours beside the boosters' own objectives.

    python -m benchmarks.effectiveness [--quick] [--redraw] [--seeds N] [--candidates N] [LETOR directory ...]

Trains what is not trained yet, appending to benchmarks/effectiveness/results/, and writes the tables of
benchmarks/EFFECTIVENESS.md and its figures; it can be interrupted at any time. `--quick` takes a minute and writes to
build/effectiveness/ instead. CatBoost's objectives need `pip install catboost`.
"""

import argparse
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from benchmarks.effectiveness import gain, report, variants
from benchmarks.effectiveness.competitors import COMPETITORS, UNTUNED
from benchmarks.effectiveness.data import Source, sources
from benchmarks.effectiveness.figures import draw
from benchmarks.effectiveness.runs import RESULTS, Plan, Results, run
from benchmarks.effectiveness.statistics import load
from benchmarks.workload import FIGURES

QUICK = Path(__file__).parents[2] / "build" / "effectiveness"


def train(found: Sequence[Source], plan: Plan, directory: Path) -> None:
    """Everything that is not trained yet, the comparison of defaults first."""
    run("untuned", list(UNTUNED), found, plan, Results("untuned", directory))
    run("tuned", [c.name for c in COMPETITORS], found, plan, Results("tuned", directory))
    for source in found:
        if source.name == gain.DATA:
            gain.study(source, plan, directory / "gain.csv")


def redraw(found: Sequence[Source], directory: Path, figures: Path, page: Path) -> None:
    """Tables and figures of the seeds that every competitor has finished."""
    untuned = [load(directory / "untuned_queries.csv", s.name, list(UNTUNED)) for s in found]
    tuned = [load(directory / "tuned_queries.csv", s.name, [c.name for c in COMPETITORS]) for s in found]
    untuned, tuned = ([v for v in values if v.seeds] for values in (untuned, tuned))
    names = [f"effectiveness_{v.data.lower().replace(' ', '_')}.png" for v in tuned]
    for values, name in zip(tuned, names, strict=True):
        draw(values, figures / name)
    report.write("conditions", report.conditions_line(), page)
    report.write("untuned", report.untuned_section(untuned), page)
    report.write("tuned", report.tuned_section(tuned, names), page)
    report.write("variants", variants.summary(), page)
    if (directory / "gain.csv").exists():
        report.write("gain", gain.report(figures / "effectiveness_gain.png", directory / "gain.csv"), page)


def main() -> None:
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, help="LETOR data sets, each with Fold1 to Fold5")
    parser.add_argument("--quick", action="store_true", help="one seed, one fold, two candidates, 30 trees")
    parser.add_argument("--redraw", action="store_true", help="tables and figures of the saved results, no training")
    parser.add_argument("--seeds", type=int, default=Plan.seeds)
    parser.add_argument("--candidates", type=int, default=Plan.candidates)
    arguments = parser.parse_args()
    found = sources(arguments.directories)
    if not found:
        parser.error("no data found; name LETOR directories")
    if importlib.util.find_spec("catboost") is None:
        parser.error("CatBoost is not installed, and three competitors are its own; pip install catboost")
    plan, directory, figures, page = Plan(arguments.seeds, arguments.candidates), RESULTS, FIGURES, report.PAGE
    if arguments.quick:
        plan, directory, figures = Plan(seeds=1, candidates=2, rounds=30, folds=(1,)), QUICK, QUICK
        page = QUICK / page.name
        QUICK.mkdir(parents=True, exist_ok=True)
        page.write_text(report.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    if not arguments.redraw:
        train(found, plan, directory)
    redraw(found, directory, figures, page)


if __name__ == "__main__":
    main()

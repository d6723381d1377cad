"""The effectiveness study: `PROTOCOL.md` says what is done, `benchmarks/EFFECTIVENESS.md` what came out.

    python -m benchmarks.studies.effectiveness [--redraw] [--without NAME ...]

Trains what is not trained yet, appending to `results/`. It can be interrupted at any time and goes
on where it stopped; several processes share the work. Then the tables and figures of
the page are written, by `--redraw` without training. CatBoost's objectives need `pip install catboost`.
"""

import argparse
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.studies.effectiveness import report, side_studies
from benchmarks.studies.effectiveness.data import FOLDS, LAST, Collection, collections
from benchmarks.studies.effectiveness.results import Results, Task
from benchmarks.studies.effectiveness.runs import Done, Folds, Plan, finish, main_task, main_tasks

LOCKS = Path(__file__).parents[3] / "build" / "effectiveness"


def tasks(found: Sequence[Collection]) -> list[Task]:
    """All of them, in the order of the protocol."""
    names = [source.name for source in found]
    seen = [source for source in found if source.name != LAST]
    queue = main_tasks(seen, FOLDS[0])
    if "mq2007" in names:
        queue += side_studies.less_data_tasks()
    for name in ("mq2007", "ohsumed"):
        if name in names:
            queue += side_studies.g_tasks(name)
    for fold in FOLDS[1:]:
        queue += main_tasks(seen, fold)
    last = [source for source in found if source.name == LAST]
    queue += [task for fold in FOLDS for task in main_tasks(last, fold)]
    return sorted(queue, key=cost)


def cost(task: Task) -> int:
    """What comes last: CatBoost's, and of them YetiRank where there are most queries, a quarter of an hour a task."""
    if "CatBoost" not in task.competitor:
        return 0
    return 2 if "YetiRank" in task.competitor and task.data == "mq2007" else 1


def doer(found: Sequence[Collection]) -> Callable[[Task], Done]:
    """What trains a task of any study."""
    folds, by_name, plan = Folds(found), {source.name: source for source in found}, Plan()

    def do(task: Task) -> Done:
        if task.study == "less data":
            return side_studies.less_data(task, by_name[task.data])
        if task.study == "g":
            return side_studies.choice_of_g(task, folds.of(task))
        return main_task(task, folds.of(task), plan)

    return do


def main() -> None:
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="tables and figures of the saved results, no training")
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="competitors left for a later run")
    arguments = parser.parse_args()
    results, found = Results(), collections()
    if not arguments.redraw:
        there = [source for source in found if source.there]
        if not there:
            parser.error("no data found")
        if importlib.util.find_spec("catboost") is None:
            parser.error("CatBoost is not installed, and four competitors are its own; pip install catboost")
        wanted = [task for task in tasks(there) if task.competitor not in arguments.without]
        finish(wanted, doer(there), results, LOCKS)
    report.redraw(tasks(found), results)


if __name__ == "__main__":
    main()

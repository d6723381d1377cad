"""Command ``python -m gapboost.comparison FILE``: compare rankers on the data of a file."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._optional import tqdm
from gapboost.comparison.comparison import Comparison
from gapboost.comparison.files import add_data_options, read_data
from gapboost.comparison.rankers import set_categories, standard_rankers, with_query_features
from gapboost.comparison.remaining import progress_of
from gapboost.comparison.report import ComparisonPage, summarize_training
from gapboost.comparison.run import ComparisonRun, prepare_run
from gapboost.comparison.settings import DEFAULT_MEASURES, ComparisonSettings
from gapboost.comparison.tables import categories, table_format
from gapboost.comparison.training import RankerResult


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    given = _parser().parse_args(arguments)
    report = Path(given.report)
    checkpoint = Path(given.checkpoint) if given.checkpoint else report.with_suffix(".checkpoint")
    try:
        run = _prepared(given, report, checkpoint)
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{summarize_training(run.training)} {run.total:,} trainings.\n", flush=True)
    try:
        comparison = _compare(run)
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on from {checkpoint}", file=sys.stderr)
        return 130
    except ValueError as error:  # a ranker that cannot be trained on the rows of a split
        notes = ", ".join(getattr(error, "__notes__", ()))
        print(
            f"\nerror: {error} ({notes}). Finished trainings are in {checkpoint}, and the same "
            "command goes on from there; --leave-out compares the other rankers",
            file=sys.stderr,
        )
        return 1
    _print_results(comparison, given.baseline)
    comparison.report(report, given.baseline)
    print(f"\nreport: {report}")
    return 0


class DeprecatedSeeds(argparse.Action):
    """Option --seeds, the deprecated name of --repeats."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        """Print a warning, and store the number as `repeats`."""
        print(
            "warning: --seeds is deprecated and will be removed in version 0.3; use --repeats",
            file=sys.stderr,
        )
        namespace.repeats = values


def _prepared(given: argparse.Namespace, report: Path, checkpoint: Path) -> ComparisonRun:
    """Check the arguments, and read the files."""
    rankers = (
        with_query_features(standard_rankers()) if given.query_features else standard_rankers()
    )
    left = [name for name in rankers if name not in given.leave_out]
    if given.baseline not in (None, *left):
        raise ValueError(f"--baseline is {given.baseline!r}; expected one of {', '.join(left)}")
    if report.suffix not in (".html", ".md"):
        raise ValueError(
            f"--report is {given.report!r}; expected a path that ends with .html or .md"
        )
    data = read_data(
        [Path(file) for file in given.file], given.label, given.qid, given.drop, given.categorical
    )
    set_categories(rankers, categories(data.X))
    settings = ComparisonSettings(
        rankers=rankers, measures=given.measures, cv=data.folds or given.cv, repeats=given.repeats,
        tune=given.tune, choose_trees=given.choose_trees, choose_by=given.choose_by,
        leave_out=given.leave_out, checkpoint=checkpoint, n_jobs=given.n_jobs,
        source=_source(given, data.categorical),
    )  # fmt: skip
    return prepare_run(settings, data.X, data.y, data.qid)


def _source(given: argparse.Namespace, categorical: Sequence[str]) -> str:
    """Return the report's sentences about the files."""
    source = f"Read from {', '.join(given.file)}."
    if table_format(Path(given.file[0])) is None:
        return source
    source += f" Grades are in the column {given.label}, query ids in {given.qid}."
    for names, what in ((given.drop, "Dropped columns"), (categorical, "Columns of categories")):
        source += f" {what}: {', '.join(names)}." if names else ""
    return source


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gapboost.comparison",
        description="Train the rankers that are installed on folds of whole queries, test them, "
        "and say which is ahead of which.",
    )
    add, cv, repeats = parser.add_argument, ComparisonSettings.cv, ComparisonSettings.repeats
    forms = "LETOR, CSV or Parquet; or train [vali] test; or a folder with Fold1, Fold2, ..."
    add("file", nargs="+", metavar="FILE", help=forms)
    add_data_options(add, DEFAULT_MEASURES)
    add(
        "--cv",
        type=int,
        default=cv,
        help="number of folds, where the files bring none (default: %(default)s)",
    )
    add(
        "--repeats",
        type=int,
        default=repeats,
        help="repeats, each with its own folds and seed (default: %(default)s)",
    )
    add("--seeds", type=int, dest="repeats", action=DeprecatedSeeds, help=argparse.SUPPRESS)
    add(
        "--tune",
        type=int,
        metavar="N",
        help="choose among N candidates of each ranker on validation queries",
    )
    add(
        "--choose-trees",
        action="store_true",
        help="choose each model's number of trees on validation queries",
    )
    add("--choose-by", metavar="MEASURE", help="what chooses (default: the first measure)")
    add(
        "--leave-out",
        nargs="+",
        default=[],
        metavar="NAME",
        help="rankers that are not to be compared",
    )
    add(
        "--query-features",
        action="store_true",
        help="also compare each ranker with query-relative features",
    )
    add(
        "--baseline",
        metavar="NAME",
        help="beside which ranker the others are put (default: the first)",
    )
    add(
        "--report",
        default="comparison.html",
        metavar="PATH",
        help="ends with .html or .md (default: %(default)s)",
    )
    add("--checkpoint", metavar="FOLDER", help="finished trainings (default: beside the report)")
    add("--n-jobs", type=int, default=-1, help="processes (default: one for each core)")
    return parser


def _compare(run: ComparisonRun) -> Comparison:
    """Train; print a line for a ranker on a split when its last model is tested, and the time left.

    Another line says when its candidates are tried.
    """
    measures = list(run.settings.measures)
    width = max(map(len, run.settings.rankers))
    _print(
        f"{'split':>5}  {'ranker':{width}}"
        + "".join(f"{name:>10}" for name in measures)
        + f"{'seconds':>10}"
    )
    models = Counter((task.ranker, task.split, task.search) for task in (*run.searches, *run.tests))
    finished: dict[tuple[str, int, bool], list[RankerResult]] = {}

    def on_result(result: RankerResult) -> None:
        left = advance(result)
        task = result.task
        key = (task.ranker, task.split, task.search)
        results = finished.setdefault(key, [])
        results.append(result)
        if len(results) < models[key]:
            return
        if task.search:
            cells = f"  {f'{models[key]} candidates':<{10 * len(measures) + 8}}"
        else:
            means = [np.mean([r.values[name] for r in results]) for name in measures]
            cells = (
                "".join(f"{mean:10.4f}" for mean in means)
                + f"{np.mean([r.fit_seconds for r in results]):10.2f}"
            )
        _print(f"{task.split + 1:5}  {task.ranker:{width}}{cells}  {left}".rstrip())

    with progress_of(run, None, "trainings") as advance:
        return run.compare(on_result)


def _print_results(comparison: Comparison, baseline: str | None) -> None:
    verdicts = comparison.verdicts(baseline or comparison.rankers[0])
    page = ComparisonPage(comparison.training, comparison.values, verdicts, comparison.best)
    print(f"\nmeans over all test queries\n\n{page.means().aligned()}")
    print(f"\ncompared with {page.verdicts[0].beside}\n\n{page.differences().aligned()}\n")
    print("\n".join(page.decision()))


def _print(line: Any) -> None:
    """Print a line above the progress bar, if there is one."""
    try:
        tqdm().write(line)
    except ImportError:
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""LambdaRank, SoftRank and ApproxRank side by side: cost against list length, and test measures on OHSUMED.

    python -m benchmarks.objectives time [--quick]
    python -m benchmarks.objectives study [--quick] [--data DIR]
    python -m benchmarks.objectives report [--quick]

`time` also draws benchmarks/figures/objectives.png. `study` appends one line a fit to build/objectives.jsonl and leaves out
fits that are there, so it can be interrupted; `report` prints its table. Every objective is tuned over four settings: two of
the booster (leaves of the trees, penalty of gblinear) times two of its own. Rounds and setting are chosen by the training
measure on the validation part.
"""

import argparse
import itertools
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.workload import FIGURES, GRADE_SHARES, conditions, table
from gapboost._data.queries import judged
from gapboost._kernels.smooth.pairs import compare_by_pairs, push_by_pairs, ranks_by_pairs
from gapboost._kernels.smooth.query import documents_for
from gapboost._kernels.smooth.steps import GAUSSIAN, LOGISTIC
from gapboost.datasets import RankingData, load_letor_fold

RESULTS = Path(__file__).parents[1] / "build" / "objectives.jsonl"
OHSUMED = Path(__file__).parents[2] / "shared" / "data" / "ohsumed"
FOLDS = (1, 2, 3, 4, 5)
MEASURES = {"nDCG": gb.nDCG(), "AP": gb.AP(), "GAP": gb.GAP(g=(0.5, 0.5))}
REPORTED = {**MEASURES, "nDCG@10": gb.nDCG(k=10), "P@10": gb.Precision(k=10)}
LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 30_000)
# Lists that are also summed pair by pair: shorter ones would show the cost of calls from Python, longer ones take minutes.
DIRECT = (100, 300, 1_000, 3_000)
UNIFORM = gb.GAP(g=(0.25,) * 4)
# Lines of the figure.
DRAWN = {
    repr(how): name
    for name, how in {
        "LambdaRank(GAP)": gb.LambdaRank(UNIFORM),
        "SoftRank(GAP)": gb.SoftRank(UNIFORM),
        "ApproxRank(GAP)": gb.ApproxRank(UNIFORM),
        "ApproxRank(nDCG())": gb.ApproxRank(gb.nDCG()),
    }.items()
}
ROUNDS = {"trees": 200, "gblinear": 300}


def ways(measure: gb.Measure) -> dict[str, tuple[Any, Any]]:
    """Each objective in two settings of its own."""
    return {
        "LambdaRank": (gb.LambdaRank(measure), gb.LambdaRank(measure, truncation=30)),
        "SoftRank": (gb.SoftRank(measure), gb.SoftRank(measure, sigma=0.1)),
        "ApproxRank": (gb.ApproxRank(measure), gb.ApproxRank(measure, beta=1.0)),
    }


def per_query_range(data: RankingData) -> np.ndarray:
    """Features brought to 0..1 within each query, as the papers' data has them."""
    X = data.X.copy()
    for q in np.unique(data.qid):
        rows = data.qid == q
        low, high = X[rows].min(axis=0), X[rows].max(axis=0)
        X[rows] = (X[rows] - low) / np.where(high > low, high - low, 1.0)
    return X


class Fold:
    """One fold of OHSUMED, binned once."""

    def __init__(self, directory: Path) -> None:
        self.split = load_letor_fold(directory)
        self.features = [per_query_range(part) for part in self.split]
        sizes = [judged(part.y, part.qid).queries.sizes for part in self.split]
        self.trees: list[lightgbm.Dataset] = []
        for X, part, size in zip(self.features, self.split, sizes, strict=True):
            reference = self.trees[0] if self.trees else None
            self.trees.append(lightgbm.Dataset(X, part.y, group=size, reference=reference, params={"verbose": -1}))
        self.linear = [
            xgboost.DMatrix(X, part.y, group=size)
            for X, part, size in zip(self.features, self.split, sizes, strict=True)
        ]

    def fit(self, model: str, how: Any, setting: float, rounds: int) -> tuple[int, float, np.ndarray]:
        """Best round by validation, its validation value, and scores of the test part."""
        measure = how.measure
        if model == "trees":
            history: dict[str, Any] = {}
            booster = lightgbm.train(
                {
                    "objective": gapboost.lightgbm.objective(how, n_jobs=1),
                    "metric": "None",
                    "learning_rate": 0.1,
                    "num_leaves": int(setting),
                    "num_threads": 1,
                    "verbose": -1,
                },
                self.trees[0],
                rounds,
                valid_sets=[self.trees[1]],
                feval=gapboost.lightgbm.eval_metric(measure, n_jobs=1),
                callbacks=[lightgbm.record_evaluation(history), lightgbm.early_stopping(60, verbose=False)],
            )
            values = next(iter(history["valid_0"].values()))
            best = int(np.argmax(values))
            return best, values[best], booster.predict(self.features[2], num_iteration=best + 1)
        parameters = {"booster": "gblinear", "updater": "coord_descent", "nthread": 1, "base_score": 0.0}
        parameters |= {"eta": 0.1, "reg_lambda": setting}
        booster = xgboost.Booster(parameters, [*self.linear])
        gradients = gapboost.xgboost.objective(how, n_jobs=1)
        best, best_value, scores = -1, -1.0, np.empty(0)
        for number in range(rounds):
            booster.update(self.linear[0], number, fobj=gradients)
            vali = booster.predict(self.linear[1], output_margin=True)
            value = gb.evaluate(measure, self.split.vali.y, vali, self.split.vali.qid, n_jobs=1)[measure]
            if value > best_value:
                best, best_value, scores = number, value, booster.predict(self.linear[2], output_margin=True)
            elif number - best >= 60:
                break
        return best, best_value, scores


def planned(quick: bool) -> Iterator[tuple[int, str, str, str, int, float]]:
    """Fold, model, measure, objective, number of its own setting, and setting of the booster."""
    for fold, model, measure, way in itertools.product(
        FOLDS[:1] if quick else FOLDS, ("trees", "gblinear"), MEASURES, ways(gb.AP())
    ):
        for own, setting in itertools.product((0, 1), (7, 15) if model == "trees" else (0.0, 0.01)):
            if not quick or (own, setting) in ((0, 7), (0, 0.01)):
                yield fold, model, measure, way, own, setting


def results_file(quick: bool) -> Path:
    """Quick results have too few rounds to count as results."""
    return RESULTS.with_stem("objectives-quick") if quick else RESULTS


def study(quick: bool, data: Path) -> None:
    """Fit whatever is planned and not there yet."""
    path = results_file(quick)
    path.parent.mkdir(exist_ok=True)
    known = {tuple(json.loads(line)["plan"]) for line in path.open()} if path.exists() else set()
    folds: dict[int, Fold] = {}
    for plan in planned(quick):
        if plan in known:
            continue
        number, model, measure, way, own, setting = plan
        if number not in folds:
            folds = {number: Fold(data / f"Fold{number}")}
        fold = folds[number]
        how = ways(MEASURES[measure])[way][own]
        best, vali, scores = fold.fit(model, how, setting, 20 if quick else ROUNDS[model])
        test = fold.split.test
        values = gb.evaluate(list(REPORTED.values()), test.y, scores, test.qid, n_jobs=1)
        line = {"plan": plan, "round": best, "vali": vali, "test": [values[m] for m in REPORTED.values()]}
        with path.open("a") as results:
            results.write(json.dumps(line) + "\n")


def report(quick: bool) -> None:
    """Means over folds of the setting that was best on validation in each fold."""
    best: dict[tuple[str, str, str], dict[int, tuple[float, list[float], int]]] = defaultdict(dict)
    for line in map(json.loads, results_file(quick).open()):
        fold, model, measure, way, _, _ = line["plan"]
        found = (line["vali"], line["test"], line["round"])
        cell = best[model, measure, way]
        cell[fold] = max(cell.get(fold, found), found)
    rows = []
    for (model, measure, way), cell in sorted(best.items(), key=lambda item: item[0][0], reverse=True):
        tests = np.mean([test for _, test, _ in cell.values()], axis=0)
        vali = np.mean([v for v, _, _ in cell.values()])
        rounds = np.median([r for _, _, r in cell.values()]) + 1
        rows.append([model, measure, way, f"{vali:.4f}", *(f"{t:.4f}" for t in tests), f"{rounds:.0f}", str(len(cell))])
    head = ["model", "trained for", "objective", "its value on validation", *(f"test {m}" for m in REPORTED)]
    print(table([*head, "rounds", "folds"], rows))


def processor_time(run: Callable[[], object]) -> float:
    """Median seconds of three calls by the clock of this thread: what else the machine does hardly counts."""
    seconds = []
    for _ in range(3):
        start = time.thread_time()
        run()
        seconds.append(time.thread_time() - start)
    return statistics.median(seconds)


def timed_queries(length: int, n_documents: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades, scores that know something of them, and query ids."""
    n = n_documents // length * length
    rng = np.random.default_rng(0)
    y = rng.choice(5, p=GRADE_SHARES, size=n)
    y[0] = 4
    return y, 0.5 * y + rng.standard_normal(n), np.arange(n) // length


def direct_passes(length: int) -> dict[str, Callable[[], object]]:
    """The sums of SoftRank(GAP) and ApproxRank(GAP) over all pairs of one list, with the library's loops for short lists."""
    y, scores, _ = timed_queries(length, length)
    order = np.argsort(-scores)
    documents = documents_for(length)
    documents.grade[:] = y[order]
    documents.share[:] = 1.0 / np.arange(1, length + 1)
    (pair,), _ = UNIFORM.tables(np.bincount(y, minlength=5)[None])
    by_grade, by_rank = np.empty((length, 5)), np.empty(length)

    def run(step: int, turning: bool) -> None:
        documents.x[:] = scores[order]
        documents.by_rank[:] = documents.share
        ranks_by_pairs(length, step, documents.x, by_rank)
        compare_by_pairs(length, step, pair, np.empty(5), documents, by_rank, turning)
        push_by_pairs(length, step, pair, not turning, by_grade, documents)

    return {"SoftRank": lambda: run(GAUSSIAN, False), "ApproxRank": lambda: run(LOGISTIC, True)}


def passes(length: int, n_documents: int) -> dict[str, Callable[[], object]]:
    """One gradient pass of each objective that takes lists of this length, on one thread."""
    y, scores, qid = timed_queries(length, n_documents)
    data = judged(y, qid)
    grad, hess = np.empty(len(y), dtype=np.float32), np.empty(len(y), dtype=np.float32)
    found: dict[str, Callable[[], object]] = {}
    for measure in (UNIFORM, gb.nDCG(), gb.nDCG(k=10)):
        for how in (gb.LambdaRank(measure), gb.SoftRank(measure), gb.ApproxRank(measure)):
            if isinstance(how, gb.SoftRank) and isinstance(measure, gb.nDCG) and length > 1_000:
                continue
            prepared = how.prepared(data, 1)
            found[repr(how)] = lambda prepared=prepared: prepared(scores, grad, hess)
    return found


def draw_times(columns: dict[int, dict[str, float]], direct: dict[int, dict[str, float]]) -> None:
    """Nanoseconds a document against list length, log-log."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    colours = dict(zip(DRAWN.values(), ("black", "tab:blue", "tab:orange", "tab:green"), strict=True))
    for name, label in DRAWN.items():
        axes.loglog(columns.keys(), [c[name] for c in columns.values()], marker="o", color=colours[label], label=label)
    for name in ("SoftRank", "ApproxRank"):
        style = {"linestyle": "--", "marker": "s", "color": colours[f"{name}(GAP)"]}
        axes.loglog(direct.keys(), [c[name] for c in direct.values()], **style, label=f"{name}(GAP), pair by pair")
    axes.set_xlabel("documents in a list")
    axes.set_ylabel("nanoseconds a document, one thread")
    axes.set_title("One gradient pass over 30 000 documents")
    axes.grid(which="major", alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / "objectives.png", dpi=130)


def time_passes(quick: bool) -> None:
    """Milliseconds of one gradient pass over 30 000 documents, one thread; and a figure."""
    n_documents = 3_000 if quick else 30_000
    lengths = [n for n in LENGTHS if n <= n_documents]
    seconds: dict[int, dict[str, float]] = {}
    direct: dict[int, dict[str, float]] = {}
    for length in lengths:
        by_name = passes(length, n_documents)
        for run in by_name.values():
            run()  # compiles
        seconds[length] = {name: processor_time(run) for name, run in by_name.items()}
        if length in DIRECT:
            for run in direct_passes(length).values():
                run()
            direct[length] = {name: 1e9 / length * processor_time(run) for name, run in direct_passes(length).items()}
    rows = [[n, *(f"{1e3 * c[n]:.1f}" if n in c else "—" for c in seconds.values())] for n in seconds[lengths[0]]]
    for name in ("SoftRank", "ApproxRank"):
        shown = [f"{1e-6 * n_documents * direct[n][name]:.1f}" if n in direct else "—" for n in lengths]
        rows.append([f"{name}(GAP), pair by pair", *shown])
    print(conditions(), f"\n{n_documents} documents, milliseconds of processor time of one gradient pass, one thread\n")
    print(table(["objective", *(f"lists of {length}" for length in lengths)], rows))
    if not quick:
        draw_times({n: {name: 1e9 / n_documents * t for name, t in c.items()} for n, c in seconds.items()}, direct)


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("time", "study", "report"))
    parser.add_argument("--quick", action="store_true", help="one fold, few rounds, few documents")
    parser.add_argument("--data", type=Path, default=OHSUMED, help="folder that holds Fold1..Fold5")
    arguments = parser.parse_args()
    if arguments.part == "time":
        time_passes(arguments.quick)
    elif arguments.part == "study":
        study(arguments.quick, arguments.data)
    else:
        report(arguments.quick)


if __name__ == "__main__":
    main()

"""LambdaRank, SoftRank and ApproxRank side by side: what a gradient pass costs against list length.

    python -m benchmarks.objectives [--quick]

Also draws benchmarks/figures/objectives.png. How they rank stands in PAPERS.md.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import gapboost as gb
from benchmarks.workload import FIGURES, GRADE_SHARES, conditions, table
from gapboost._data.judged import judged
from gapboost._kernels.smooth.pairs import GAUSSIAN, LOGISTIC, compare_by_pairs, push_by_pairs, ranks_by_pairs
from gapboost._kernels.smooth.query import Documents
from gapboost._pictures import line
from gapboost.measures import RecallBase

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
    documents = Documents(y[order].astype(np.int64), *np.zeros((6, length)))
    documents.share[:] = 1.0 / np.arange(1, length + 1)
    (pair,), _ = UNIFORM.tables(RecallBase.of_whole_grades(np.bincount(y, minlength=5)[None]))
    by_grade, by_rank = np.empty((length, 5)), np.empty(length)

    def run(step: int, turning: bool) -> None:
        documents.x[:] = scores[order]
        documents.by_rank[:] = documents.share
        ranks_by_pairs(step, documents.x, by_rank)
        compare_by_pairs(step, pair, turning, np.empty(5), documents)
        push_by_pairs(step, pair, not turning, by_grade, documents)

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

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for number, (name, label) in enumerate(DRAWN.items()):
        axes.loglog(columns.keys(), [c[name] for c in columns.values()], label=label, **line(number))
    axes.loglog(direct.keys(), [c["SoftRank"] for c in direct.values()], label="SoftRank(GAP), pair by pair", **line(4))
    axes.set_xlabel("documents in a list")
    axes.set_ylabel("nanoseconds a document, one thread")
    axes.set_title("One gradient pass over 30 000 documents")
    axes.grid(which="major", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / "objectives.png", dpi=110, facecolor="white")


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
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few documents")
    time_passes(parser.parse_args().quick)


if __name__ == "__main__":
    main()

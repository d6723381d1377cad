"""Time and memory of gradients, `evaluate` and a short fit against the number of documents.

Usage: ``python -m benchmarks.scale [--quick]``.

Each measurement runs in a process of its own: what it adds to that process's memory at most is what `VmHWM` grows by, on
Linux. The better of two passes counts, as the first may compile; of long fits there is one. A fit is three rounds of LightGBM on
four features.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.workload import FIGURES, conditions, table

# Documents in a list, or None for one list of all; grades 0..c.
SHAPES = {
    "lists of 10": (10, 4),
    "one list": (None, 4),
    "lists of 10, 31 grades": (10, 30),
    "one list, 31 grades": (None, 30),
}
SIZES = {
    "lists of 10": (10_000, 100_000, 1_000_000, 5_000_000, 10_000_000),
    "one list": (10_000, 100_000, 1_000_000),
    "lists of 10, 31 grades": (10_000, 100_000, 1_000_000, 5_000_000),
    "one list, 31 grades": (10_000, 100_000, 1_000_000),
}
WHAT = ("gradients", "evaluate", "fit")
WORK = """
import json, sys, time
import numpy as np
import gapboost as gb
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import judged
what, n, length, top = json.loads(sys.argv[1])
def peak():
    return [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
rng = np.random.default_rng(0)
y = np.minimum(rng.geometric(0.5 if top < 10 else 0.15, size=n) - 1, top).astype(np.int32)
qid = np.repeat(np.arange(n // length), length)
scores = rng.standard_normal(n)
g = (1 / top,) * top
measure = gb.GAP(g=g)
if what == "gradients":
    gb.LambdaRank(measure).gradients(y[:40], scores[:40], qid[:40] // 20)
    before = peak()
    prepared = gb.LambdaRank(measure).prepared(judged(y, qid, limit=GradeLimit(top, "")))
    grad, hess = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    work = lambda: prepared(scores, grad, hess)
elif what == "evaluate":
    gb.evaluate(measure, y[:40], scores[:40], qid[:40])
    before = peak()
    work = lambda: gb.evaluate(measure, y, scores, qid)
else:
    from gapboost.lightgbm import LGBMGAPRanker
    X = np.column_stack([y + rng.standard_normal(n) for _ in range(4)]).astype(np.float32)
    before = peak()
    work = lambda: LGBMGAPRanker(measure=measure, n_estimators=3, verbose=-1).fit(X, y, qid=qid)
seconds = []
for _ in range(1 if what == "fit" and n > 500_000 else 2):
    start = time.perf_counter()
    work()
    seconds.append(time.perf_counter() - start)
print(json.dumps([min(seconds), (peak() - before) / 1024]))
"""


def measured(what: str, n: int, length: int | None, top: int) -> tuple[float, float]:
    """Seconds, and MB added at most."""
    arguments = json.dumps([what, n, length or n, top])
    done = subprocess.run([sys.executable, "-c", WORK, arguments], capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def draw(found: dict[str, dict[str, list[tuple[int, float, float]]]], path: Path) -> None:
    """Time and memory against documents, log-log, a panel each; dotted: linear growth."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, len(WHAT), figsize=(11, 6.5), sharex=True, layout="constrained")
    for column, what in enumerate(WHAT):
        for shape, by_what in found.items():
            for row, label in enumerate(("seconds", "MB added")):
                axes = panels[row, column]
                axes.loglog(
                    [r[0] for r in by_what[what]], [r[row + 1] for r in by_what[what]], "o-", label=shape, markersize=4
                )
                axes.set_ylabel(label)
        for row, axes in enumerate(panels[:, column]):
            # A straight line through the largest measurement.
            n, *largest = max(by_what[what][-1] for by_what in found.values())
            axes.plot(
                [n / 1000, n], [largest[row] / 1000, largest[row]], ":", color="grey", linewidth=1, label="linear"
            )
            axes.grid(alpha=0.3)
        panels[0, column].set_title(what)
        panels[1, column].set_xlabel("documents")
    panels[0, 0].legend(fontsize=7, frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print the table and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 100 000 documents, no picture")
    quick = parser.parse_args().quick
    print(conditions("lightgbm"), "\n")
    found: dict[str, dict[str, list[tuple[int, float, float]]]] = {}
    rows = []
    for shape, (length, top) in SHAPES.items():
        for what in WHAT:
            for n in SIZES[shape][: 2 if quick else None]:
                seconds, megabytes = measured(what, n, length, top)
                found.setdefault(shape, {}).setdefault(what, []).append((n, seconds, megabytes))
                cost = [f"{1e9 * seconds / n:.0f}", f"{1024 * 1024 * megabytes / n:.0f}"]
                rows.append([shape, what, f"{n:,}".replace(",", " "), f"{seconds:.4f}", f"{megabytes:.0f}", *cost])
                print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    print(table(["lists", "what", "documents", "s", "MB added", "ns a document", "bytes a document"], rows))
    if not quick:
        draw(found, FIGURES / "scale.png")


if __name__ == "__main__":
    main()

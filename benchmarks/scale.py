"""Time and memory by the number of documents, and memory after many fits. Linux only.

Each row of `scale` is a process of its own. "MB added" is the growth of its peak memory over that
of the data. The better of two runs counts, since the first may compile.
"""

import gc
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import BOOSTERS, HERE, Row, Subject, output_of

PAGE = HERE / "SCALE.md"
STATUS = Path("/proc/self/status")
# Documents in a list, or 0 for one list of all; the highest grade.
SHAPES = {
    "lists of 10": (10, 4),
    "one list": (0, 4),
    "lists of 10, 31 grades": (10, 30),
    "one list, 31 grades": (0, 30),
}
SIZES = (10_000, 100_000, 1_000_000)
LARGEST = {"lists of 10": (10_000_000,)}
WHAT = ("gradients", "evaluate", "fit")
WORK = """
import json, sys, time
import lightgbm
import numpy as np
import gapboost as gb
import gapboost.lightgbm
what, n, length, top = json.loads(sys.argv[1])
def peak():
    lines = open("/proc/self/status")
    return [int(line.split()[1]) for line in lines if line.startswith("VmHWM")][0]
rng = np.random.default_rng(0)
y = np.minimum(rng.geometric(0.5 if top < 10 else 0.15, size=n) - 1, top).astype(np.int32)
qid = np.repeat(np.arange(n // length), length)
scores = rng.standard_normal(n)
measure = gb.GAP(g=(1 / top,) * top)
if what == "gradients":
    gb.LambdaRank(measure).gradients(y[:40], scores[:40], qid[:40] // 20)
    params = {"verbose": -1}
    data = lightgbm.Dataset(scores[:, None], y, group=np.bincount(qid), params=params).construct()
    before = peak()
    callback = gapboost.lightgbm.objective(measure)
    work = lambda: callback(scores, data)
elif what == "evaluate":
    gb.evaluate(measure, y[:40], scores[:40], qid[:40])
    before = peak()
    work = lambda: gb.evaluate(measure, y, scores, qid)
else:
    X = np.column_stack([y + rng.standard_normal(n) for _ in range(4)]).astype(np.float32)
    ranker = gapboost.lightgbm.LGBMGAPRanker(measure=measure, n_estimators=3, verbose=-1)
    before = peak()
    work = lambda: ranker.fit(X, y, qid=qid)
seconds = []
for _ in range(2):
    start = time.perf_counter()
    work()
    seconds.append(time.perf_counter() - start)
print(json.dumps([min(seconds), (peak() - before) / 1024]))
"""


def costs(smoke: bool) -> Iterator[Row]:
    """Yield seconds and added memory of gradients, `evaluate` and a short fit."""
    for shape, (length, top) in SHAPES.items():
        for what in WHAT:
            for n in SIZES[:1] if smoke else (*SIZES, *LARGEST.get(shape, ())):
                output = output_of(WORK, json.dumps([what, n, length or n, top]))
                seconds, megabytes = json.loads(output)
                cost = {"s": seconds, "MB added": megabytes, "ns a document": 1e9 * seconds / n}
                row = {"lists": shape, "work": what, "documents": n, **cost}
                yield {**row, "bytes a document": megabytes * 2**20 / n}


def draw(rows: Sequence[Row]) -> Any:
    """Return time and memory against documents, a panel each."""
    from benchmarks.pictures import log_log

    points = [
        (f"{row['work']}, {key}", key, row["lists"], row["documents"], row[key])
        for key in ("s", "MB added")
        for row in rows
    ]
    return log_log(points, "documents")


def memory_after_fits(n_fits: int, every: int) -> list[float]:
    """Return the memory of this process in MB after each `every` fits of both boosters in turn."""
    from gapboost.datasets import load_digits_ranking
    from gapboost.lightgbm import LGBMGAPRanker
    from gapboost.xgboost import XGBGAPRanker

    train, vali, _ = load_digits_ranking((60, 20, 20), 20)
    light = LGBMGAPRanker(n_estimators=10, n_jobs=1, verbose=-1)
    rankers = (light, XGBGAPRanker(n_estimators=10, n_jobs=1))
    measured = []
    for fit in range(1, n_fits + 1):
        ranker = rankers[fit % 2]
        sets = {"eval_set": [(vali.X, vali.y)], "eval_qid": [vali.qid]}
        ranker.fit(train.X, train.y, qid=train.qid, **sets)
        ranker.score(vali.X, vali.y, qid=vali.qid)
        if fit % every == 0:
            gc.collect()
            resident = STATUS.read_text(encoding="utf-8").partition("VmRSS:")[2].split()[0]
            measured.append(int(resident) / 1024)
    return measured


def soak(smoke: bool) -> Iterator[Row]:
    """Yield the memory after fits in one process."""
    every = 2 if smoke else 50
    for number, megabytes in enumerate(memory_after_fits(5 * every, every), start=1):
        yield {"fits": number * every, "MB in use": megabytes}


BY_SIZE = "time and memory by the number of documents"
SUBJECTS = [
    Subject("scale", BY_SIZE, costs, ("lightgbm",), draw=draw, page=PAGE),
    Subject("soak", "memory after hundreds of fits in one process", soak, BOOSTERS, page=PAGE),
]

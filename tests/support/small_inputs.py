"""Results of all compiled code on small inputs, for a comparison with plain numpy.

`write_plain` writes those of plain numpy, under NUMBA_DISABLE_JIT=1.
"""

import numpy as np
from numba import config

import gapboost as gb

MEASURES = {
    "gap": gb.GAP(g=(0.1, 0.2, 0.3, 0.4)),
    "xgap": gb.xGAP(g=(0.217, 0.504, 0.079, 0.2)),
    "egap at 20": gb.eGAP(g=(0.0, 0.4, 0.0, 0.6), k=20),
    "ndcg at 5": gb.nDCG(k=5),
}

# Lengths of queries, by the way LambdaRank takes through all of their pairs.
QUERIES = {"by pairs": [1, 2, 9, 30, 17], "by moments": [140, 90]}

SCORES = {
    "even": lambda n, rng: rng.standard_normal(n),
    "tied": lambda n, rng: rng.integers(0, 4, n) / 2,
    "equal": lambda n, rng: np.zeros(n),
    "far": lambda n, rng: 200 * rng.standard_normal(n),
    "as far as can be": lambda n, rng: rng.uniform(-1.0, 1.0, n) * np.finfo(float).max,
    "tiny": lambda n, rng: rng.standard_normal(n) * 1e-300,
}


def rows(sizes, scores, seed=0):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    return rng.integers(0, 5, n), SCORES[scores](n, rng), np.repeat(np.arange(len(sizes)), sizes)


def lambdarank_results():
    for way, sizes in QUERIES.items():
        for measure in MEASURES:
            objective = gb.LambdaRank(MEASURES[measure])
            yield (
                f"lambdarank {way}, {measure}",
                objective.gradients(*rows(sizes, "even"), n_jobs=2),
            )
        for scores in SCORES:
            objective = gb.LambdaRank(MEASURES["xgap"], sigma=3.0, normalize=False)
            yield f"lambdarank {way}, {scores}", objective.gradients(*rows(sizes, scores))
        y, s, qid = rows(sizes, "even")
        objective = gb.LambdaRank(MEASURES["gap"], truncation=10, random_state=3)
        yield f"lambdarank {way}, truncated", objective.gradients(y, s.astype(np.float32), qid)
        yield f"lambdarank {way}, one grade", objective.gradients(np.ones_like(y), s, qid)
        yield f"ranknet {way}", gb.RankNet(MEASURES["gap"]).gradients(y, s, qid)


def smooth_results():
    for kind in (gb.SoftRank, gb.ApproxRank):
        for measure in MEASURES:
            for scores in ("even", "tied", "far"):
                yield from of_smooth(kind(MEASURES[measure]), [12, 1, 25], scores)
        # lists of which the sums are taken by cells
        for scores in ("even", "tied", "equal", "far"):
            yield from of_smooth(kind(MEASURES["xgap"]), [150, 70], scores)


def of_smooth(objective, sizes, scores):
    y, s, qid = rows(sizes, scores)
    name = f"{objective} of {sizes}, {scores}"
    yield name, objective.gradients(y, s, qid)
    yield f"{name}: value", objective.value(y, s, qid, per_query=True)
    yield f"{name}: ranks", objective.ranks(s, qid)


def evaluate_results():
    for scores in SCORES:
        for ties in ("expected", "row"):
            y, s, qid = rows([1, 2, 9, 60], scores)
            values = gb.evaluate(
                [*MEASURES.values(), gb.AP(), gb.Precision(k=3)],
                y,
                s,
                qid,
                ties=ties,
                per_query=True,
            )
            yield f"evaluate {scores}, ties {ties}", list(values.values())


def results():
    """Arrays by name."""
    found = {}
    for some in (lambdarank_results(), smooth_results(), evaluate_results()):
        found.update({name: np.array(arrays) for name, arrays in some})
    return found


def filled_with_nan(shape, dtype=float):
    """Return an array like `np.empty`, whose old contents must not matter."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


def write_plain(path):
    """Write the results to a file; memory is NaN until it is written."""
    assert config.DISABLE_JIT, "expected NUMBA_DISABLE_JIT=1"
    np.empty = filled_with_nan
    np.savez(path, **results())

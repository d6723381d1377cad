"""After `gapboost.warmup` nothing is left to compile."""

import pytest
from installed import needs
from own_process import run_python

# In a process of its own, where nothing has been called yet. Types that a function was compiled
# for, or loaded for from the disk, are its signatures; whether other tests have left something on
# the disk changes nothing.
PROGRAM = """
import importlib, pkgutil
import numpy as np
import gapboost as gb
import gapboost._kernels
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.warmup import warm_up
from gapboost.xgboost import XGBGAPRanker

found = pkgutil.walk_packages(gapboost._kernels.__path__, "gapboost._kernels.")
# Those for a GPU need CuPy.
modules = [importlib.import_module(m.name) for m in found if not m.name.endswith(".cuda")]
kernels = {id(k): k for m in modules for k in vars(m).values() if hasattr(k, "py_func")}.values()
assert len(kernels) > 9

def signatures():
    name = "{0.__module__}.{0.__name__}".format
    return {f"{name(k.py_func)}{s}" for k in kernels for s in k.signatures}

warm_up()
warm = signatures()
assert len(warm) > 5

def nothing_new(what):
    assert signatures() == warm, (what, signatures() - warm)

rng = np.random.default_rng(0)
X = rng.random((17_000, 2))
y = rng.integers(0, 3, len(X))
score = X[:, 0]

for dtype in (np.float64, np.float32):
    for length in (10, 300, len(X)):
        qid = np.arange(len(X)) // length
        for ranker in (LGBMGAPRanker(verbose=-1), XGBGAPRanker()):
            ranker.set_params(n_estimators=2, n_jobs=2)
            first = {"eval_set": [(X[:300], y[:300])], "eval_qid": [qid[:300]]}
            ranker.fit(X.astype(dtype), y, qid=qid, **first)
            ranker.predict(X)
            nothing_new((ranker, dtype, length))

X, score, y, qid = X[:300], score[:300], y[:300], np.arange(300) // 20
weights, fractions = np.ones(15), np.arange(300) % 40 / 20
for dtype in (np.float64, np.float32):
    for measure in (gb.GAP(), gb.AP(), gb.nDCG(k=5), gb.Precision(k=3)):
        smooth = gb.SoftRank(measure), gb.ApproxRank(measure)
        for objective in (gb.LambdaRank(measure, truncation=5), *smooth):
            objective.gradients(y, score.astype(dtype), qid, sample_weight=weights)
            # nothing is relevant
            objective.gradients(np.zeros(300, int), score.astype(dtype))
            objective.gradients(fractions, score.astype(dtype))
            nothing_new((objective, dtype))
        for ties in ("expected", "row"):
            gb.evaluate(measure, y.tolist(), score.astype(dtype), qid, ties=ties, empty=1)
            gb.evaluate(measure, fractions, score.astype(dtype), ties=ties, empty=1)
            nothing_new((measure, dtype, ties))
    for objective in (gb.SoftRank(gb.AP()), gb.ApproxRank(gb.AP())):
        objective.value(y, score.astype(dtype), qid)
        objective.ranks(score.astype(dtype), qid)
        nothing_new((objective, dtype, "value, ranks"))

for name in ("softrank", "approxrank"):
    for ranker in (LGBMGAPRanker(verbose=-1), XGBGAPRanker()):
        ranker.set_params(n_estimators=2, n_jobs=1, objective=name).fit(X, y, qid=qid)
        nothing_new((ranker, name))
print("done")
"""


@pytest.mark.slow
@needs("lightgbm")
@needs("xgboost")
def test_nothing_is_left_to_compile():
    assert run_python(PROGRAM).endswith("done\n")

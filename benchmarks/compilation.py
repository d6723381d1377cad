"""Processor seconds of compilation: the first evaluation, the first fits, each objective.

Each row is a process of its own: "compiled" with a copy of the package without compiled code, "from
the cache" with the code that this process has left. Imports and calls that come before are not
counted. The data are small, so that the call itself takes little.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import BOOSTERS, HERE, Row, Subject, output_of
from benchmarks.latency import PAGE

PROCESS = """
import logging, time
import numpy as np
import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.warmup import warm_up
from gapboost.xgboost import XGBGAPRanker
logging.disable(logging.WARNING)  # about code that is being compiled
def lists(*lengths):
    n = sum(lengths)
    return np.arange(n) % 3, np.linspace(0.0, 1.0, n), np.repeat(np.arange(len(lengths)), lengths)
def fit(Ranker, **options):
    y, x, qid = lists(10, 200)
    ranker = Ranker(n_estimators=2, n_jobs=1, **options)  # more threads would wait, and be counted
    ranker.fit(x[:, None], y, qid=qid, eval_set=[(x[:, None], y)], eval_qid=[qid])
{before}
begun = time.process_time()
{call}
print(time.process_time() - begun)
"""
EVALUATE = "gb.evaluate([gb.GAP(), gb.nDCG(k=10)], *lists(10, 200))"
LIGHTGBM, XGBOOST = "fit(LGBMGAPRanker, verbose=-1)", "fit(XGBGAPRanker)"
GRADIENTS = "gb.{}(gb.GAP()).gradients(*lists({}), n_jobs=1)"
# Calls by name, and the call that comes before in the same process.
CALLS = {
    "the first `evaluate`": (EVALUATE, ""),
    "then the first fit, LightGBM": (LIGHTGBM, EVALUATE),
    "then the first fit, XGBoost": (XGBOOST, EVALUATE),
    "a fit of LightGBM alone": (LIGHTGBM, ""),
    "a fit of XGBoost alone": (XGBOOST, ""),
    "`LambdaRank`, lists of 10 and 200": (GRADIENTS.format("LambdaRank", "10, 200"), ""),
    "`LambdaRank`, one list of 20,000": (GRADIENTS.format("LambdaRank", "20_000"), ""),
    "`SoftRank`": (GRADIENTS.format("SoftRank", "10"), ""),
    "`ApproxRank`": (GRADIENTS.format("ApproxRank", "10"), ""),
    "everything, `gapboost.warmup`": ("warm_up()", ""),
}


def costs(smoke: bool) -> Iterator[Row]:
    """Yield the processor seconds of each call, one run each."""
    for name, (call, before) in list(CALLS.items())[: 1 if smoke else None]:
        code = PROCESS.replace("{before}", before).replace("{call}", call)
        with tempfile.TemporaryDirectory() as folder:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(HERE.parent / "gapboost", Path(folder, "gapboost"), ignore=ignored)
            first, second = (float(output_of(code, cwd=folder, env={})) for _ in range(2))
        yield {"processor seconds": name, "compiled": first, "from the cache": second}


ABOUT = "processor seconds of compilation, once on a machine"
SUBJECTS = [Subject("compilation", ABOUT, costs, BOOSTERS, page=PAGE)]

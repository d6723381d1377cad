"""`evaluate` beside ranx, pytrec_eval and ir_measures: nDCG@10, AP and P@10.

Each peer reads its own loaded form, made beforehand. Ours reads arrays with string query ids.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import gapboost as gb
from benchmarks.harness import GRADE_SHARES, Row, Subject, race

MEASURES = [gb.nDCG(k=10, gains=(0, 1, 2, 3, 4)), gb.AP(), gb.Precision(k=10)]
LENGTH = 100


def contestants(n_queries: int) -> dict[str, Callable[[], list[float]]]:
    """Return the evaluations of the same rankings."""
    import ir_measures
    import pytrec_eval
    import ranx

    rng = np.random.default_rng(0)
    y = rng.choice(5, p=GRADE_SHARES, size=(n_queries, LENGTH))
    scores = y + 2 * rng.standard_normal(y.shape)
    ids = [f"q{q:05d}" for q in range(n_queries)]
    documents = [f"d{d:03d}" for d in range(LENGTH)]

    def by_query(values: np.ndarray) -> dict[str, dict[str, Any]]:
        lists = zip(ids, values.tolist(), strict=True)
        return {q: dict(zip(documents, of_query, strict=True)) for q, of_query in lists}

    qrels, run = by_query(y), by_query(scores)
    flat_y, flat_scores, qid = y.ravel(), scores.ravel(), np.repeat(ids, LENGTH)

    loaded_by_ranx = ranx.Qrels(qrels), ranx.Run(run), ["ndcg@10", "map", "precision@10"]
    names = ("ndcg_cut_10", "map", "P_10")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names))
    wanted = [ir_measures.nDCG @ 10, ir_measures.AP, ir_measures.P @ 10]
    loaded = ir_measures.evaluator(wanted, qrels)

    def by_pytrec_eval() -> list[float]:
        found = evaluator.evaluate(run).values()
        return [float(np.mean([values[name] for values in found])) for name in names]

    def by_ir_measures() -> list[float]:
        means = loaded.calc_aggregate(run)
        return [means[measure] for measure in wanted]

    return {
        "gapboost": lambda: list(gb.evaluate(MEASURES, flat_y, flat_scores, qid).values()),
        "pytrec_eval": by_pytrec_eval,
        "ranx": lambda: list(ranx.evaluate(*loaded_by_ranx).values()),
        "ir_measures": by_ir_measures,
    }


def costs(smoke: bool) -> list[Row]:
    """Return the times; the values are compared first."""
    runs = contestants(50 if smoke else 10_000)
    values = {name: run() for name, run in runs.items()}
    for found in values.values():
        np.testing.assert_allclose(found, values["gapboost"], atol=1e-6)
    return race(runs, "pytrec_eval", 1 if smoke else 5)


ABOUT = "`evaluate` beside ranx, pytrec_eval and ir_measures"
PEERS = ("ranx", "pytrec_eval-terrier", "ir_measures")
SUBJECTS = [Subject("evaluation", ABOUT, costs, PEERS)]

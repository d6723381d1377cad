"""Time of `evaluate` beside ranx, pytrec_eval and ir_measures: 10 000 queries of 100 documents, nDCG@10, AP and P@10.

Usage: ``python -m benchmarks.evaluation [--quick]``.

Needs ``pip install ranx pytrec_eval-terrier ir-measures``. Each peer reads its own loaded form, made beforehand; ours reads
arrays with string query ids. The values are compared before anything is timed.
"""

import argparse

import ir_measures
import numpy as np
import pytrec_eval
import ranx

import gapboost as gb
from benchmarks.workload import conditions, medians, table

MEASURES = [gb.nDCG(k=10, gains=(0, 1, 2, 3, 4)), gb.AP(), gb.Precision(k=10)]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the queries, fewer repetitions")
    quick = parser.parse_args().quick
    n_queries, length, repetitions = (1_000 if quick else 10_000), 100, (3 if quick else 5)

    rng = np.random.default_rng(0)
    y = rng.choice(5, p=(0.52, 0.32, 0.13, 0.023, 0.007), size=(n_queries, length))
    scores = (y + 2 * rng.standard_normal(y.shape)).astype(np.float64)
    # Documents in falling score: no peer sorts then (some resort), and none depends on its rule for ties.
    ids = [f"q{q:05d}" for q in range(n_queries)]
    documents = [f"d{d:03d}" for d in range(length)]
    qrels = {q: dict(zip(documents, map(int, grades), strict=True)) for q, grades in zip(ids, y, strict=True)}
    run = {q: dict(zip(documents, map(float, s), strict=True)) for q, s in zip(ids, scores, strict=True)}
    flat_y, flat_scores, qid = y.ravel(), scores.ravel(), np.repeat(ids, length)

    ranx_qrels, ranx_run = ranx.Qrels(qrels), ranx.Run(run)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10", "map", "P_10"})
    wanted = [ir_measures.nDCG @ 10, ir_measures.AP, ir_measures.P @ 10]
    loaded = ir_measures.evaluator(wanted, qrels)

    competitors = {
        "gapboost": lambda: list(gb.evaluate(MEASURES, flat_y, flat_scores, qid).values()),
        "ranx": lambda: list(ranx.evaluate(ranx_qrels, ranx_run, ["ndcg@10", "map", "precision@10"]).values()),
        "pytrec_eval": lambda: [
            float(np.mean([by_measure[m] for by_measure in results.values()]))
            for results in [evaluator.evaluate(run)]
            for m in ("ndcg_cut_10", "map", "P_10")
        ],
        "ir_measures": lambda: [results[m] for results in [loaded.calc_aggregate(run)] for m in wanted],
    }
    values = {name: compute() for name, compute in competitors.items()}
    for name, found in values.items():
        assert np.allclose(found, values["gapboost"], atol=1e-6), (name, found, values["gapboost"])
    seconds = medians(competitors, repetitions)
    print(conditions("ranx", "pytrec_eval-terrier", "ir_measures"), f"\n{n_queries} queries x {length} documents\n")
    rows = [[name, f"{1e3 * s:.1f}", f"{seconds['gapboost'] / s:.4f}"] for name, s in seconds.items()]
    print(table(["library", "ms", "ours / theirs"], rows))


if __name__ == "__main__":
    main()

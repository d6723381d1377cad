"""The doses: informativeness of each measure by maximum entropy, on rankings of rankers that know no measure."""

from functools import partial
from pathlib import Path

import lightgbm
import numpy as np

from benchmarks.studies.boosters import Part
from benchmarks.studies.informativeness.data import CASCADES, MEASURES, PRIMARY, Source
from benchmarks.studies.records import Records, Row, finish
from gapboost import analysis
from gapboost._kernels import Array

RESULTS = Records(Path(__file__).parent / "results" / "doses.csv", ("collection",))
FOLDS = 5


def scores(data: Part) -> Array:
    """Of regressions on the grades, each query by one that has not seen it."""
    queries, number = np.unique(data.qid, return_inverse=True)
    part = (np.random.default_rng(31).permutation(len(queries)) % FOLDS)[number]
    found = np.zeros(len(data.y))
    for k in range(FOLDS):
        model = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1)
        found[part == k] = model.fit(data.X[part != k], data.y[part != k]).predict(data.X[part == k])
    return found


def task(source: Source) -> list[Row]:
    """A row a measure: errors of the inferred precision-recall curve, and the spread of its values over queries."""
    rows = source.collection.data
    data = Part(rows.X, rows.y, rows.qid)
    by = scores(data)
    told = analysis.informativeness(list(MEASURES.values()), analysis.ranked_lists(data.y, by, data.qid), n_jobs=1)
    every = MEASURES | CASCADES
    spread = [float(np.nanstd(values)) for values in data.values(list(every.values()), by)]
    return [
        {
            "measure": name,
            **{f"rms {rel}": told.mean_rms[m, rel - 1] if name in MEASURES else None for rel in (1, 2)},
            "lists": int(told.compared.sum()),
            "not converged": int(told.not_converged[m]) if name in MEASURES else None,
            "spread": spread[m],
        }
        for m, name in enumerate(every)
    ]


def run() -> None:
    """Compute what is missing."""
    finish(RESULTS, {(source.name,): partial(task, source) for source in PRIMARY if source.collection.there})

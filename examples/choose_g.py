"""Choose g on OHSUMED by cross-validation, beside each booster's own objective.

    python examples/choose_g.py path/to/ohsumed [picture.png]

The directory holds Fold1 to Fold5, each with test.txt (plain or .gz): together they are all
queries. It takes a minute.
"""

import sys
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from matplotlib import pyplot
from sklearn.model_selection import GroupKFold

import gapboost as gb
from gapboost.datasets import load_letor
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, simplex_grid
from gapboost.plotting import plot_g
from gapboost.xgboost import XGBGAPRanker

FOLDS, STEPS, TREES, TARGET = 5, 5, range(10, 101, 10), gb.nDCG(k=10)
PARAMETERS = {"learning_rate": 0.1, "n_jobs": 1, "random_state": 0}


def lightgbm_lambdarank(X, y, qid):
    """Predictions of LightGBM's own objective with the first t trees."""
    _, sizes = np.unique(qid, return_counts=True)
    ranker = lightgbm.LGBMRanker(n_estimators=max(TREES), verbose=-1, **PARAMETERS)
    ranker.fit(X, y, group=sizes)
    return lambda X, t: ranker.predict(X, num_iteration=t)


def xgboost_ndcg(X, y, qid):
    """Predictions of XGBoost's own objective with the first t trees."""
    ranker = xgboost.XGBRanker(n_estimators=max(TREES), **PARAMETERS).fit(X, y, qid=qid)
    return lambda X, t: ranker.predict(X, iteration_range=(0, t))


def cross_validated(fit, data):
    """Mean over the folds of the target, for each number of trees."""
    values = []
    for train, test in GroupKFold(FOLDS).split(data.X, data.y, data.qid):
        predict = fit(data.X[train], data.y[train], data.qid[train])
        scores = [predict(data.X[test], t) for t in TREES]
        values.append(
            [gb.evaluate(TARGET, data.y[test], s, data.qid[test])[TARGET] for s in scores]
        )
    return np.mean(values, axis=0)


def main(directory, picture):
    """Search, print and draw."""
    data = load_letor(
        [next(Path(directory, f"Fold{fold}").glob("test.txt*")) for fold in range(1, 6)]
    )
    rows = np.argsort(data.qid, kind="stable")  # the built-in objectives take rows query by query
    data = type(data)(data.X[rows], data.y[rows], data.qid[rows])
    grid = {"g": simplex_grid(int(data.y.max()), STEPS), "n_estimators": TREES}
    print(f"{data}\n{FOLDS} folds of whole queries, target {TARGET}", flush=True)
    figure = pyplot.figure(figsize=(11, 4), layout="constrained")
    rankers = {
        "LightGBM": (LGBMGAPRanker(verbose=-1, **PARAMETERS), "lambdarank", lightgbm_lambdarank),
        "XGBoost": (XGBGAPRanker(**PARAMETERS), "rank:ndcg", xgboost_ndcg),
    }
    for part, (name, (ranker, builtin, fit)) in zip(
        figure.subfigures(1, 2), rankers.items(), strict=True
    ):
        print(f"\n{name:22}{'mean':>8}{'trees':>7}", flush=True)
        search = GSearchCV(ranker, grid, scoring=TARGET, cv=FOLDS).fit(data.X, data.y, qid=data.qid)
        best = cross_validated(fit, data)
        by_g = {}
        for params, mean in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        ):
            by_g.setdefault(params["g"], []).append((mean, params["n_estimators"]))
        for g, means in by_g.items():
            mean, trees = max(means)
            print(
                f"  GAP, g = {g!s:12}{mean:8.4f}{trees:7}"
                f"{'  <- best' if g == search.best_params_['g'] else ''}"
            )
        print(f"  {builtin:20}{best.max():8.4f}{TREES[best.argmax()]:7}")
        axes = plot_g(search, figure=part).axes[0]
        axes.axhline(best.max(), color="0.4", linestyle="--")
        axes.set_title(f"{name}; dashed: built-in {builtin}")
    figure.savefig(picture, dpi=120)
    print(
        f"\nEach row shows its best number of trees of {len(TREES)}. A best of many is a little "
        "lucky: to compare methods, hold\n"
        f"out other queries. The picture is {picture}; its bars are standard errors of differences "
        "within folds."
    )


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "choose_g.png")

"""Rankers with the same tuning budget, by number of training queries: `protocols/tuned.md`.

Searches that the result files hold are not repeated.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.model_selection import GroupKFold

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.collections import FILES, read
from benchmarks.harness import BOOSTERS, HERE, Row, Subject, first_number, signed
from benchmarks.scaling import PAGE, Task, made_task, trained
from gapboost.analysis.standard_errors import independent

N_SETTINGS, N_TREES, PATIENCE, N_TESTED = 16, 400, 20, 3_000
N_FOLDS, MARGIN = 5, 0.002
COMPARISONS = [
    ("LightGBM GAP", "LightGBM lambdarank"),
    ("LightGBM GAP", "LightGBM rank_xendcg"),
    ("LightGBM GAP", "LightGBM nDCG@10"),
    ("LightGBM nDCG@10", "LightGBM lambdarank"),
    ("XGBoost GAP", "XGBoost rank:ndcg"),
    ("XGBoost GAP", "XGBoost nDCG@10"),
]
RANKERS = list(dict.fromkeys(itertools.chain(*COMPARISONS)))
MEASURES = ("GAP", "nDCG@10", "AP")

Part = tuple[np.ndarray, ...]


class Fold(NamedTuple):
    """A fold of a collection, and a ranker to tune on it."""

    collection: str
    seed: int
    fold: int
    ranker: str


STAGES = [[(300, 30), (1_000, 30)], [(3_000, 30)], [(1_000, 10), (1_000, 200)], [(10_000, 30)]]
TASKS = [
    Task(*size, teacher, noise, seed, ranker)
    for stage in STAGES
    for seed, size, teacher, noise, ranker in itertools.product(
        range(500, 505), stage, ("smooth", "trees"), (0.3, 0.7, 2.0), RANKERS
    )
]
FOLDS = [Fold(*f) for f in itertools.product(FILES, (19, 20, 21), range(N_FOLDS), RANKERS)]


def settings(seed: int) -> Iterator[dict[str, Any]]:
    """Yield the settings of trees, the same for all rankers of a task."""
    rng = np.random.default_rng([seed, N_SETTINGS])
    for _ in range(N_SETTINGS):
        yield {
            "rate": float(np.exp(rng.uniform(*np.log([0.05, 0.3])))),
            "leaves": int(rng.choice([8, 16, 31, 63])),
            "bins": int(rng.choice([31, 63, 127, 255])),
            "smoothing": float(rng.choice([0, 20, 200, 1_000])),
            "penalty": float(np.exp(rng.uniform(*np.log([0.01, 100])))),
            "features": float(rng.uniform(0.3, 1)),
            "least": float(rng.uniform()),
            "truncation": int(rng.choice([10, 30, 100])),
        }


class Trained(NamedTuple):
    """Validation values of each metric after each tree, and scores by the first trees."""

    curves: list[list[float]]
    predict: Callable[[np.ndarray, int], np.ndarray]


def with_lightgbm(
    objective: Any, chosen: Mapping[str, Any], train: Part, vali: Part, metrics: list[gb.Measure]
) -> Trained:
    """Train LightGBM; early stopping watches the first metric."""
    truncation = {"lambdarank_truncation_level": chosen["truncation"]}
    theirs = isinstance(objective, str)
    parameters = {
        "objective": objective if theirs else gapboost.lightgbm.objective(objective, n_jobs=1),
        "learning_rate": chosen["rate"],
        "num_leaves": chosen["leaves"],
        "max_bin": chosen["bins"],
        "path_smooth": chosen["smoothing"],
        "lambda_l2": chosen["penalty"] / 10,
        "feature_fraction": chosen["features"],
        "min_data_in_leaf": round(5 * 20 ** chosen["least"]),
        **{"metric": "None", "verbose": -1, "num_threads": 1, "seed": 0},
        **(truncation if objective == "lambdarank" else {}),
    }
    data = lightgbm.Dataset(train[0], train[1], group=np.bincount(train[2]))
    watched = lightgbm.Dataset(vali[0], vali[1], group=np.bincount(vali[2]), reference=data)
    values: dict[str, dict[str, list[float]]] = {}
    stop = lightgbm.early_stopping(PATIENCE, first_metric_only=True, verbose=False)
    booster = lightgbm.train(
        parameters,
        data,
        N_TREES,
        [watched],
        feval=gapboost.lightgbm.eval_metric(metrics, n_jobs=1),
        callbacks=[stop, lightgbm.record_evaluation(values)],
    )
    curves = list(values["valid_0"].values())
    return Trained(curves, lambda X, n: np.asarray(booster.predict(X, num_iteration=n)))


def with_xgboost(
    objective: Any, chosen: Mapping[str, Any], train: Part, vali: Part, metrics: list[gb.Measure]
) -> Trained:
    """Train XGBoost; early stopping watches the first metric."""
    truncation = {"lambdarank_num_pair_per_sample": chosen["truncation"]}
    theirs = isinstance(objective, str)
    parameters = {
        "objective": objective if theirs else "rank:ndcg",
        "learning_rate": chosen["rate"],
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": chosen["leaves"],
        "max_bin": chosen["bins"] + 1,
        "reg_lambda": chosen["penalty"],
        "colsample_bytree": chosen["features"],
        "min_child_weight": 0.01 * 1_000 ** chosen["least"],
        **{"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1, "seed": 0},
        **(truncation if theirs else {}),
    }
    data, watched = (xgboost.DMatrix(X, y, qid=qid, nthread=1) for X, y, qid in (train, vali))
    values: dict[str, dict[str, list[float]]] = {}
    first = metrics[0].name
    stop = xgboost.callback.EarlyStopping(rounds=PATIENCE, metric_name=first, maximize=True)
    booster = xgboost.train(
        parameters,
        data,
        N_TREES,
        evals=[(watched, "watched")],
        obj=None if theirs else gapboost.xgboost.objective(objective, n_jobs=1),
        custom_metric=gapboost.xgboost.eval_metric(metrics, n_jobs=1),
        callbacks=[stop],
        evals_result=values,
        verbose_eval=False,
    )
    curves = list(values["watched"].values())
    return Trained(curves, lambda X, n: booster.inplace_predict(X, iteration_range=(0, n)))


def parts(task: Task | Fold) -> tuple[Part, ...]:
    """Return training, validation and test queries."""
    if isinstance(task, Task):
        sizes = (task.queries, max(100, task.queries // 3), N_TESTED)
        return tuple(made_task(task, n, part) for n, part in zip(sizes, (0, 2, 1), strict=True))
    X, y, qid = read(task.collection)
    keys = np.random.default_rng(task.seed).random(len(y))  # ties are broken by the order of rows
    order = np.lexsort((keys, qid))
    X, y, qid = X[order], y[order], qid[order]
    folds = [
        f for _, f in GroupKFold(N_FOLDS, shuffle=True, random_state=task.seed).split(X, y, qid)
    ]
    folds = folds[task.fold :] + folds[: task.fold]
    taken = (np.sort(np.concatenate(folds[2:])), folds[1], folds[0])
    return tuple((X[rows], y[rows], np.unique(qid[rows], return_inverse=True)[1]) for rows in taken)


def search(task: Task | Fold) -> dict[str, str]:
    """Return test values of the settings and trees that are best on the validation queries.

    nDCG@10 decides; in a second choice from the same trainings, GAP.
    """
    train, vali, test = parts(task)
    highest = int(max(part[1].max() for part in (train, vali, test)))
    measures = dict(
        zip(MEASURES, (gb.GAP(g=(1 / highest,) * highest), gb.nDCG(k=10), gb.AP()), strict=True)
    )
    booster, _, name = task.ranker.partition(" ")
    run = {"LightGBM": with_lightgbm, "XGBoost": with_xgboost}[booster]
    objective, begun = measures.get(name, name), time.process_time()
    best: dict[str, tuple[float, int, Trained]] = {}
    for chosen in settings(task.seed):
        found = run(objective, chosen, train, vali, [measures["nDCG@10"], measures["GAP"]])
        for label, curve in zip(("nDCG@10", "GAP"), found.curves, strict=True):
            n = int(np.argmax(curve))
            if label not in best or curve[n] > best[label][0]:
                best[label] = curve[n], n + 1, found
    row = {key: str(value) for key, value in task._asdict().items()}
    row["processor s"] = f"{time.process_time() - begun:.1f}"
    for label, (_, n, found) in best.items():
        scores = found.predict(test[0], n)
        values = gb.evaluate(list(measures.values()), test[1], scores, test[2], n_jobs=1)
        row |= {f"{k} by {label}": f"{values[m]:.5f}" for k, m in measures.items()}
    return row


def values(smoke: bool) -> pd.DataFrame:
    """Return all values by size, unit and part; a column for each ranker and value."""
    results = HERE / "results"
    if smoke:
        made = trained(
            None, [Task(20, 10, "smooth", 0.7, 0, ranker) for ranker in RANKERS], search, 1
        )
        real = trained(None, [Fold("trec-news", 0, 0, ranker) for ranker in RANKERS], search, 1)
    else:
        made = trained(results / "tuned_values.csv", TASKS, search)
        real = trained(results / "tuned_collections.csv", FOLDS, search)
    columns = [f"{measure} by {label}" for measure in MEASURES for label in ("nDCG@10", "GAP")]
    tasks, folds = pd.DataFrame(made), pd.DataFrame(real, columns=[*Fold._fields, *columns])
    tasks["size"] = tasks.queries + " × " + tasks.length
    tasks["unit"], tasks["part"] = tasks.teacher + " " + tasks.seed, tasks.noise
    folds["size"], folds["unit"] = "collections", folds.collection
    folds["part"] = folds.seed + " " + folds.fold
    found = pd.concat([tasks, folds])
    found = found.astype(dict.fromkeys(columns, float))
    return found.pivot(index=["size", "unit", "part"], columns="ranker", values=columns)


def statement(differences: np.ndarray) -> str:
    """Return mean, simultaneous 95 % interval and verdict of the differences of some units."""
    if len(differences) < 2:
        return f"{signed(float(differences[0]))} (one unit)"
    found, family = independent(differences), len(COMPARISONS)
    ends = " … ".join(map(signed, found.interval(family=family)))
    return f"{signed(found.mean)} ({ends}) {found.verdict(family=family, margin=MARGIN)}"


def differences(smoke: bool) -> Iterator[Row]:
    """Yield a row for each size and comparison."""
    by_size = dict(iter(values(smoke).groupby("size")))
    for size in sorted(by_size, key=lambda size: (len(size), size)):
        of_size = by_size[size]
        for ranker, other in COMPARISONS:
            row: dict[str, Any] = {"size": size, "difference": f"{ranker} − {other}"}
            for column in of_size.columns.levels[0]:
                lead = (of_size[column, ranker] - of_size[column, other]).dropna()
                of_unit = lead.groupby("unit")
                by_unit = of_unit.mean()[of_unit.size() == of_unit.size().max()]
                row["units"] = len(by_unit)
                row[column] = statement(by_unit.to_numpy())
            yield row


def draw(rows: Sequence[Row]) -> Any:
    """Return the mean differences in GAP and nDCG@10 at each size."""
    from benchmarks.pictures import legend_below, line, panels

    figure, axes = panels(2, sharey=True)
    for ax, measure in zip(axes, ("GAP", "nDCG@10"), strict=True):
        ax.axhline(0, color="black", linewidth=1)
        for number, names in enumerate(COMPARISONS):
            difference, style = " − ".join(names), line(number)
            heights = {
                row["size"].replace(" ", "\n", 1): first_number(row[f"{measure} by nDCG@10"])
                for row in rows
                if row["difference"] == difference
            }
            sizes = [size for size in heights if size.endswith(" 30")]
            others = [size for size in heights if size not in sizes]
            ax.plot(sizes, [heights[size] for size in sizes], label=difference, **style)
            style["linestyle"] = "none"
            ax.plot(others, [heights[size] for size in others], **style)
        ax.margins(x=0.2)
        ax.set(title=f"difference in {measure}", xlabel="training queries × documents")
    legend_below(figure, axes[0], columns=2)
    return figure


ABOUT = "rankers with the same tuning budget, by number of training queries"
SUBJECTS = [Subject("tuned", ABOUT, differences, (*BOOSTERS, "pandas"), draw=draw, page=PAGE)]

"""The recipe for Ray: its workers report what one process does, and rank as it does."""

from pathlib import Path

import pandas as pd
import pytest
import xgboost
from blocks import run, sections
from communicator import ranking

import gapboost as gb
import gapboost.xgboost

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[train]'")

# What Ray and XGBoost warn of in each other is not ours.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("default")]

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "cluster.md"


def frame(n_queries, seed):
    X, y, sizes, *_ = ranking(n_queries, seed)
    query = [f"query {q}" for q, size in enumerate(sizes) for _ in range(size)]
    rows = pd.DataFrame(X, columns=list("abde")).assign(label=y, qid=query)
    return rows.sample(frac=1.0, random_state=seed)


def test_the_recipe(tmp_path, monkeypatch):
    """Two workers stop where one does, with the same mean over the queries of both."""
    pytest.importorskip("ray.train")
    # Two of them share what the machine has.
    monkeypatch.setenv("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "200")
    paths = {f"{name}_path": str(tmp_path / f"{name}.parquet") for name in ("train", "valid")}
    train, valid = frame(60, 0), frame(30, 1)
    train.to_parquet(paths["train_path"])
    valid.to_parquet(paths["valid_path"])
    (section,) = (section for section in sections(PAGE) if section.title == "On Ray")
    stored = f'num_workers=2), run_config=ray.train.RunConfig(storage_path="{tmp_path}")'
    small = {
        "=500": "=30",
        "early_stopping_rounds=50": "early_stopping_rounds=3",
        "num_workers=2)": stored,
    }
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        names = run(section.of("python"), paths, small)
    finally:
        ray.shutdown()
    booster, features = names["booster"], valid[list("abde")]
    best = booster.best_iteration
    scores = booster.predict(xgboost.DMatrix(features), iteration_range=(0, best + 1))
    (value,) = gb.evaluate(gb.GAP(g=(0.5, 0.5)), valid.label, scores, valid.qid).values()
    assert booster.best_score == pytest.approx(value, abs=2e-6)
    local = gapboost.xgboost.XGBGAPRanker(g=(0.5, 0.5), n_estimators=best + 1, n_jobs=1)
    local.fit(train[list("abde")], train.label, train.qid)
    assert value == pytest.approx(local.score(features, valid.label, valid.qid), abs=0.03)

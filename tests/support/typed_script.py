"""A script of a user, for type checkers: a line that ends in `type: ignore` holds a mistake."""

from typing import assert_type

import numpy as np
import numpy.typing as npt

import gapboost as gb
from gapboost.evaluation import PerQuery, Values
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

X = np.zeros((4, 2))
y = np.array([0, 1, 0, 2])
qid = np.array([0, 0, 1, 1])

lgbm = LGBMGAPRanker(measure="ndcg@10", n_estimators=10, num_leaves=7, max_bin=15).fit(
    X, y, qid=qid
)
scores: npt.NDArray[np.float64] = lgbm.predict(X)
lgbm.predict(X, raw_score=True, num_iteration=3)
xgb = XGBGAPRanker(
    measure=gb.GAP(g=(0.5, 0.5)), n_estimators=10, max_depth=3, eval_metric=["ap", gb.nDCG(k=10)]
)
xgb.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
leaves: npt.NDArray[np.float32] = xgb.apply(X)
xgb.predict(X, iteration_range=(0, 3))[0]
assert_type(xgb.score(X, y, qid=qid), float)
assert_type(lgbm.measure_, gb.Measure)

means = gb.evaluate(["gap", gb.nDCG(k=10)], y, scores, qid, empty="skip")
assert_type(means, Values)
assert_type(means.by_label(), dict[str, float])
by_query = gb.evaluate("ap", y, scores, qid, per_query=True)
assert_type(by_query, PerQuery)
value: float = means[gb.nDCG(k=10)]
label: str = gb.nDCG(k=10).label
plot = gb.plotting.plot_g

lgbm.fit(X, y, qid=["a", "a", "b", "b"], eval_set=[(X, y)], eval_qid=[qid])
LGBMGAPRanker(measure=3)  # type: ignore[arg-type]
lgbm.predict(X, validate_features=3.5)  # type: ignore[arg-type]
gb.evaluate(3, y, scores)  # type: ignore[call-overload]
gb.evaluate("ap", None, scores)  # type: ignore[call-overload]
xgb.fit(X, None, qid=qid)  # type: ignore[arg-type]
gb.evaluate("ap", y, scores, qid, empty="drop")  # type: ignore[call-overload]
by_query.by_label()  # type: ignore[attr-defined]

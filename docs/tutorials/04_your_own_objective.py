"""
An objective of your own
========================

Define an objective by its gradients, and train with it on both boosters.

An objective is a frozen dataclass over a measure, which early stopping uses. Its method
``prepared`` returns a pass: a function from scores to gradients. Numpy is enough. The example is
the listwise softmax: the cross entropy of the shares of the gains and the softmax of the scores.
"""

from dataclasses import dataclass

import numpy as np

import gapboost as gb
from gapboost.objectives import Objective, Pass


class SoftmaxPass(Pass):
    """Cross entropy of the shares of the grades and the softmax of the scores, by query."""

    def __init__(self, data):
        self.offsets = data.queries.offsets
        self.grades = data.grades
        self.weights = data.weights

    def __call__(self, scores, grad, hess):
        """Write gradients and hessians, return nothing.

        Rows of query q are ``offsets[q]:offsets[q + 1]``.
        """
        for q, weight in enumerate(self.weights):
            rows = slice(self.offsets[q], self.offsets[q + 1])
            likely = np.exp(scores[rows] - scores[rows].max())
            likely /= likely.sum()
            gains = 2.0 ** self.grades[rows] - 1
            grad[rows] = weight * (gains.sum() * likely - gains)
            hess[rows] = weight * np.maximum(gains.sum() * likely * (1 - likely), 1e-9)


@dataclass(frozen=True, repr=False)
class Softmax(Objective):
    """The listwise softmax; `measure` is what early stopping reports."""

    def prepared(self, data, n_jobs=None):
        """Prepare what stays the same between iterations."""
        return SoftmaxPass(data)


# %%
# Check the gradients against the numerical derivative of the loss.

y, s = np.array([2, 0, 1, 0]), np.array([0.3, -0.2, 0.1, 0.5])
grad, _ = Softmax("gap").gradients(y, s)


def loss(s):
    """The sum whose derivative the pass writes."""
    gains = 2.0**y - 1
    return -(gains * (s - np.log(np.exp(s).sum()))).sum()


numeric = [(loss(s + h) - loss(s - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
np.abs(grad - numeric).max() < 1e-8

# %%
# Pass it to the rankers of both boosters.

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

train, vali, test = load_digits_ranking()
curves = {}
for objective in (Softmax(gb.GAP(g=(0.5, 0.5))), gb.LambdaRank(gb.GAP(g=(0.5, 0.5)))):
    for Ranker, options in ((LGBMGAPRanker, {"verbose": -1}), (XGBGAPRanker, {})):
        ranker = Ranker(objective=objective, n_estimators=80, **options)
        ranker.fit(
            train.X, train.y, qid=train.qid, eval_set=[(vali.X, vali.y)], eval_qid=[vali.qid]
        )
        (log,) = ranker.evals_result_.values()
        (curves[f"{Ranker.__name__}, {type(objective).__name__}"],) = log.values()
        value = ranker.score(test.X, test.y, qid=test.qid)
        print(f"{Ranker.__name__:15} {type(objective).__name__:12} GAP {value:.3f}")

# %%
# The picture shows GAP of the validation queries after each tree.

from matplotlib import pyplot as plt

_, ax = plt.subplots(figsize=(6, 3.2))
for name, curve in curves.items():
    ax.plot(range(1, len(curve) + 1), curve, label=name)
ax.set(xlabel="trees", ylabel="mean GAP")
ax.legend(loc="lower right", fontsize=8)
plt.tight_layout()

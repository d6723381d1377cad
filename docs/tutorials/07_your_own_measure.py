"""
A measure of your own
=====================

A measure is data: a discount for each rank, what a document of a grade gains by itself, and what a
pair of grades gains together. From these three arrays gapboost evaluates, ties included, and
trains.

Here: users look at rank n with probability ``1 / n^a`` and are pleased by grade 2 alone.
"""

from dataclasses import dataclass, field

import numpy as np

import gapboost as gb
from gapboost.measures import Measure


@dataclass(frozen=True, repr=False)
class Zipf(Measure):
    """``sum_n 1/n^a 1{i_n >= 2}`` over the same sum of an ideal ranking."""

    a: float = field(default=1.0, metadata={"always_shown": True})

    @property
    def short_name(self) -> str:
        """Its name in logs."""
        return "zipf"

    def discount_at(self, ranks):
        """Discount at real ranks and its derivative, which smooth objectives use."""
        return ranks**-self.a, -self.a * ranks ** (-self.a - 1)

    def tables(self, base):
        """Return the tables from ``base.counts``, documents of each grade in each query.

        Pairs gain nothing. Grade 2 gains 1 / ideal.
        """
        n_queries, n_levels = base.counts.shape
        wanted = base.counts[:, base.levels >= 2].sum(axis=1)
        wanted = wanted if self.k is None else np.minimum(wanted, self.k)  # an ideal ranking is cut off too
        ideal = np.array([(np.arange(1, n + 1) ** -self.a).sum() if n else np.inf for n in wanted])
        own = (base.levels >= 2) / ideal[:, None]
        return np.zeros((n_queries, n_levels, n_levels)), own


# %%
# The discount of Zipf for three values of a:

from matplotlib import pyplot as plt

ranks = np.arange(1, 21)
_, ax = plt.subplots(figsize=(6, 3))
for a in (0.5, 1.0, 2.0):
    ax.plot(ranks, Zipf(a=a).discount_at(ranks.astype(float))[0], marker="o", markersize=3, label=f"a = {a:g}")
ax.set(xlabel="rank", ylabel="probability to look", title="How deep the users of Zipf(a) look")
ax.legend()
plt.tight_layout()

# %%
# A measure with ``tables`` takes up to 64 different grades in a query. Define ``worth`` instead for
# any number of grades: it returns the worth of levels by themselves and the terms of pairs. Here
# that would be ``return own, ()``.
#
# Evaluate. Two documents with equal scores share what they would have in either order:

gb.evaluate(Zipf(a=1.0), y_true=[0, 2, 1], y_score=[2.0, 2.0, 1.0])

# %%
# The ideal is cut off too, so a perfect ranking has 1 with any k. Without the line about `self.k`
# this would be .675:

(value,) = gb.evaluate(Zipf(a=1.0, k=3), y_true=[2] * 8, y_score=-np.arange(8.0)).values()
round(value, 3)

# %%
# Train. All three objectives take the measure, on both boosters, and early stopping uses it.

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, vali, test = load_digits_ranking()
for measure in (Zipf(a=1.0), gb.GAP(g=(0.5, 0.5))):
    ranker = LGBMGAPRanker(measure=measure, n_estimators=80, verbose=-1).fit(train.X, train.y, qid=train.qid)
    values = gb.evaluate([Zipf(a=1.0), gb.GAP(g=(0.5, 0.5))], test.y, ranker.predict(test.X), test.qid)
    print(f"trained for {measure!s:20}", {str(m): round(v, 3) for m, v in values.items()})

# %%
# In a sum with other measures it keeps its own discount, and needs a pass of its own. To share a
# discount, give it as a value: ``discount_at = Reciprocal()`` instead of the method.
# `gapboost.measures.discounts` has more of them, and any frozen dataclass that can be called is
# one. The sum with AP is a single measure then, and the smooth objectives train for it too.

mixed = 0.5 * Zipf(a=1.0) + 0.5 * gb.AP()
gb.evaluate(mixed, y_true=[0, 2, 1], y_score=[2.0, 2.0, 1.0])

# %%
# To test your measure, write its definition as a plain loop and compare on random rankings. The
# tests of gapboost do that for all of its measures.

rng = np.random.default_rng(0)
for _ in range(100):
    y, s = rng.integers(0, 4, size=12), rng.permutation(12)
    ranked = y[np.argsort(-s)]
    naive = sum(1 / n for n, grade in enumerate(ranked, 1) if grade >= 2)
    best = sum(1 / n for n in range(1, (y >= 2).sum() + 1)) or 1
    (value,) = gb.evaluate(Zipf(a=1.0), y, s).values()
    assert abs(value - naive / best) < 1e-12

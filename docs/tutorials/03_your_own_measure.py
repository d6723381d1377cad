"""
A measure of your own
=====================

Define a measure by three arrays, then evaluate and train by it.

The arrays are a discount for each rank, a gain for a document of each grade, and a gain for each
pair of grades. In this example, users look at rank n with probability ``1 / n^a``. They accept
grade 2 alone.
"""

from dataclasses import dataclass, field

import numpy as np

import gapboost as gb
from gapboost.measures import QuadraticForm


@dataclass(frozen=True, repr=False)
class Zipf(QuadraticForm):
    """``sum_n 1/n^a 1{i_n >= 2}`` over the same sum of an ideal ranking."""

    a: float = field(default=1.0, metadata={"always_shown": True})

    def discount_at(self, ranks):
        """Discount at real ranks and its derivative, which smooth objectives use."""
        return ranks**-self.a, -self.a * ranks ** (-self.a - 1)

    def tables(self, base):
        """Return the tables from ``base.counts``, documents of each grade in each query.

        Pairs gain nothing. Grade 2 gains 1 / ideal.
        """
        n_queries, n_levels = base.counts.shape
        wanted = base.counts[:, base.levels >= 2].sum(axis=1)
        # An ideal ranking is cut off too.
        wanted = wanted if self.k is None else np.minimum(wanted, self.k)
        ideal = np.array([(np.arange(1, n + 1) ** -self.a).sum() if n else np.inf for n in wanted])
        own = (base.levels >= 2) / ideal[:, None]
        return np.zeros((n_queries, n_levels, n_levels)), own


# %%
# The discounts of three values of ``a``. That of GAP is 1 / n, as ``a = 1``.

from matplotlib import pyplot as plt

ranks = np.arange(1, 21)
_, ax = plt.subplots(figsize=(6, 3))
for a in (0.5, 1.0, 2.0):
    ax.plot(
        ranks,
        Zipf(a=a).discount_at(ranks.astype(float))[0],
        marker="o",
        markersize=3,
        label=f"a = {a:g}",
    )
ax.set(xlabel="rank", ylabel="probability to look", title="How deep the users of Zipf(a) look")
ax.legend()
plt.tight_layout()

# %%
# Evaluate by it. Two documents with equal scores get the expected value over both orders:

gb.evaluate(Zipf(a=1.0), y_true=[0, 2, 1], y_score=[2.0, 2.0, 1.0])

# %%
# The ideal ranking is cut off at ``k`` too, so a perfect ranking has 1 for any ``k``.
#
# Without the line about `self.k` this would be .675:

(value,) = gb.evaluate(Zipf(a=1.0, k=3), y_true=[2] * 8, y_score=-np.arange(8.0)).values()
round(value, 3)

# %%
# Train for it, on both boosters, by any of the three objectives. It can also stop the training.

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, vali, test = load_digits_ranking()
for measure in (Zipf(a=1.0), gb.GAP(g=(0.5, 0.5))):
    ranker = LGBMGAPRanker(measure=measure, n_estimators=80, verbose=-1).fit(
        train.X, train.y, qid=train.qid
    )
    values = gb.evaluate(
        [Zipf(a=1.0), gb.GAP(g=(0.5, 0.5))], test.y, ranker.predict(test.X), test.qid
    )
    print(f"trained for {measure!s:20}", {str(m): round(v, 3) for m, v in values.items()})

# %%
# Add it to other measures. Each discount costs one pass over the documents.
#
# Measures with the same discount can share a pass. Write ``discount_at = Reciprocal()`` instead of
# the method, as AP does. The smooth objectives then train for the sum too.
# `gapboost.measures.discounts` has more discounts. Any callable frozen dataclass is one.

mixed = 0.5 * Zipf(a=1.0) + 0.5 * gb.AP()
gb.evaluate(mixed, y_true=[0, 2, 1], y_score=[2.0, 2.0, 1.0])

# %%
# Test your measure: write its definition as a plain loop, and compare on random rankings. The tests
# of gapboost do this for every measure.

rng = np.random.default_rng(0)
for _ in range(100):
    y, s = rng.integers(0, 4, size=12), rng.permutation(12)
    ranked = y[np.argsort(-s)]
    naive = sum(1 / n for n, grade in enumerate(ranked, 1) if grade >= 2)
    best = sum(1 / n for n in range(1, (y >= 2).sum() + 1)) or 1
    (value,) = gb.evaluate(Zipf(a=1.0), y, s).values()
    assert abs(value - naive / best) < 1e-12

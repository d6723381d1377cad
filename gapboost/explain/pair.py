"""Contributions to the score difference of two rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.arguments import whole
from gapboost._data.features import column_names, rows_of
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.explain.model import feature_contributions, table_of
from gapboost.explain.pictures import POSITIVE_NEGATIVE, axes_of_height, number, short, top_features


@dataclass(frozen=True, eq=False)
class PairContributions:
    """Contributions of the features to the score of row a minus the score of row b.

    Attributes
    ----------
    a, b : int
        The rows, counted from 0.
    feature_names : tuple of str
    contributions : float64 ndarray of shape (n_features,)
        Their sum is ``score_a - score_b``.
    values_a, values_b : list
        Values of the features in the rows.
    score_a, score_b : float
        Scores as the ranker predicts them.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = explain.pair(ranker, test.X, 0, 1)
    >>> list(found.to_pandas().columns)
    ['a', 'b', 'contribution']
    """

    a: int
    b: int
    feature_names: tuple[str, ...]
    contributions: Array
    values_a: list[Any]
    values_b: list[Any]
    score_a: float
    score_b: float

    def to_pandas(self) -> Any:
        """Return a frame with one row a feature, the largest contribution first.

        The columns are ``a`` and ``b``, the values of the feature in the rows, and
        ``contribution``.
        """
        columns = {
            "feature": self.feature_names,
            "a": self.values_a,
            "b": self.values_b,
            "contribution": self.contributions,
        }
        return frame(columns, ["feature"]).iloc[
            np.argsort(-np.abs(self.contributions), kind="stable")
        ]

    def plot(self, ax: Any = None, *, max_display: int = 10) -> Any:
        """Draw a waterfall from a difference of 0 to the score difference. Return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None makes a figure.
        max_display : int, default=10
            Number of features with a bar. One more bar is the sum of all other features.
        """
        chosen, others = top_features(self.contributions, max_display)
        bars = self.contributions[chosen].tolist()
        labels = [self._label(feature) for feature in chosen]
        if len(others):
            bars.append(float(self.contributions[others].sum()))
            labels.append(f"{len(others)} other feature{'s' * (len(others) > 1)}")
        ends = np.cumsum(bars)
        starts = ends - bars
        total = float(self.contributions.sum())
        ax = axes_of_height(ax, len(bars) + 1)
        for place, (start, end, bar) in enumerate(zip(starts, ends, bars, strict=True)):
            ax.barh(
                place,
                bar,
                left=start,
                height=0.7,
                edgecolor="0.25",
                **POSITIVE_NEGATIVE[int(bar < 0)],
            )
            ax.annotate(
                number(bar, bars),
                (max(start, end), place),
                (4, 0),
                textcoords="offset points",
                va="center",
            )
            ax.plot([end, end], [place - 0.35, place + 1.35], color="0.5", linewidth=0.8)
        ax.barh(len(bars), total, height=0.7, color="0.75", edgecolor="0.25")
        ax.annotate(
            number(total, bars),
            (max(total, 0), len(bars)),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
        ax.axvline(0, color="0.25", linewidth=0.8)
        low, high = min(0.0, *ends), max(0.0, *ends)
        room = (high - low) or 1.0
        ax.set_xlim(low - 0.04 * room, high + 0.25 * room)
        ax.set_ylim(len(bars) + 0.6, -0.6)
        ax.set_yticks(range(len(bars) + 1), [*labels, "score difference"])
        ax.set_xlabel("contribution to the score difference")
        ax.set_title(
            f"Score of row {self.a} minus score of row {self.b}\n"
            f"{self.score_a:.4g} minus {self.score_b:.4g}; values: row {self.a} | row {self.b}",
            fontsize="medium",
            loc="right",  # long names of features leave room on that side
        )
        return ax

    def _label(self, feature: int) -> str:
        a, b = (_shown(values[feature]) for values in (self.values_a, self.values_b))
        return f"{short(self.feature_names[feature])}: {a} | {b}"


def pair(ranker: Any, X: Any, a: int, b: int, qid: Any = None) -> PairContributions:
    """Return the contributions of the features to the score of row `a` minus the score of row `b`.

    Parameters
    ----------
    ranker : fitted ranker, Booster, or Pipeline that ends in one
        Of gapboost, LightGBM or XGBoost.
    X : array-like of shape (N, n_features)
        Columns as in training; a column ``qid`` of a data frame is left out.
    a, b : int
        Rows of `X`, counted from 0.
    qid : array-like of shape (N,), optional
        Query id of each row. Only steps of a pipeline that request it, such as query-relative
        features, use it.

    Returns
    -------
    PairContributions

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    NotFittedError
        Before `fit`.

    Notes
    -----
    The contributions are exact Shapley values of the trees, as ``pred_contrib`` of the libraries
    computes them; of a linear model, a weight times the difference of two values. They sum to the
    score difference, up to the rounding of the library: 1e-12 of the scores with LightGBM.
    XGBoost's `predict` adds up trees in float32: its differences are rounded by up to 1.2e-7 of the
    largest score for each tree.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = explain.pair(ranker, test.X, 0, 1)
    >>> bool(abs(found.contributions.sum() - (found.score_a - found.score_b)) < 1e-6)
    True
    """
    ranker, X, names = table_of(ranker, X, qid)
    rows = [_row(a, "a", X.shape[0]), _row(b, "b", X.shape[0])]
    both = rows_of(X, np.array(rows))
    found = feature_contributions(ranker, both, names)
    values_a, values_b = _values(both)
    return PairContributions(
        rows[0],
        rows[1],
        names,
        found.values[0] - found.values[1],
        values_a,
        values_b,
        *found.scores.tolist(),
    )


def _row(row: Any, name: str, n_rows: int) -> int:
    number = whole(row, name, 0, "a row of X, counted from 0,")
    if number >= n_rows:
        raise ValueError(
            f"{name} is {number}, but X has {n_rows} rows; expected a row from 0 to {n_rows - 1}"
        )
    return number


def _values(both: Any) -> tuple[list[Any], list[Any]]:
    """Return the values of two rows."""
    if sparse.issparse(both) or isinstance(both, np.ndarray):
        a, b = (both.toarray() if sparse.issparse(both) else both).tolist()
        return a, b
    columns = [both[name] for name in column_names(both)]
    pairs = [
        (column.to_pylist if hasattr(column, "to_pylist") else column.to_list)()
        for column in columns
    ]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else short(str(value), 16)

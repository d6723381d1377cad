"""Contributions centered within each query."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import shown, whole
from gapboost._data.features import split
from gapboost._data.queries import grouped_rows
from gapboost._kernels import Array
from gapboost._optional import axes, imported
from gapboost.explain.model import feature_contributions, table_of
from gapboost.explain.pictures import number, short, top_features


@dataclass(frozen=True, eq=False)
class QueryContributions:
    """Contributions of the features to the scores, minus their means in the query.

    Attributes
    ----------
    feature_names : tuple of str
    contributions : float64 ndarray of shape (N, n_features)
        The sum of a row is its score minus the mean score of the query.
    scores : float64 ndarray of shape (N,)
        Scores as the ranker predicts them.
    qid : ndarray of shape (N,)
        Query id of each row.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = explain.query(ranker, test.X, test.qid)
    >>> bool(abs(found.contributions[test.qid == test.qid[0]].sum()) < 1e-9)
    True
    """

    feature_names: tuple[str, ...]
    contributions: Array
    scores: Array
    qid: Array

    def to_pandas(self) -> Any:
        """Return one row a document and one column a feature, indexed by ``qid`` and ``row``."""
        pandas = imported("pandas", "analysis", "for a pandas view")
        ids = pandas.Index(self.qid, tupleize_cols=False)
        index = pandas.MultiIndex.from_arrays([ids, np.arange(len(self.qid))], names=["qid", "row"])
        return pandas.DataFrame(self.contributions, index=index, columns=list(self.feature_names))

    def plot(
        self, ax: Any = None, *, qid: Any = None, max_display: int = 10, max_documents: int = 20
    ) -> Any:
        """Draw a heat map of one query: documents by score, features by size. Return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None makes a figure.
        qid : query id, optional
            The query; None takes the only one.
        max_display : int, default=10
            Number of features with a column. One more column is the sum of all other features.
        max_documents : int, default=20
            Number of documents, from the highest score on.

        Raises
        ------
        ValueError
            If there is no such query, or several and `qid` is None.
        """
        most = whole(max_documents, "max_documents")
        rows = self._rows(qid)
        order = rows[np.argsort(-self.scores[rows], kind="stable")][:most]
        chosen, others = top_features(np.abs(self.contributions[rows]).mean(axis=0), max_display)
        cells = self.contributions[np.ix_(order, chosen)]
        labels = [short(self.feature_names[feature]) for feature in chosen]
        if len(others):
            cells = np.column_stack((cells, self.contributions[np.ix_(order, others)].sum(axis=1)))
            labels.append(f"{len(others)} other feature{'s' * (len(others) > 1)}")
        new = ax is None
        ax = axes(ax)
        if new:
            ax.figure.set_size_inches(2.2 + 0.62 * cells.shape[1], 2.2 + 0.28 * cells.shape[0])
        largest = np.abs(cells).max() or 1.0
        image = ax.imshow(cells, cmap="PuOr", vmin=-largest, vmax=largest, aspect="auto")
        for (row, column), value in np.ndenumerate(cells):
            color = "white" if abs(value) > 0.6 * largest else "black"
            ax.text(
                column, row, number(value, cells), ha="center", va="center", fontsize=7, color=color
            )
        ax.set_xticks(range(len(labels)), labels, rotation=50, ha="right", rotation_mode="anchor")
        ax.set_yticks(
            range(len(order)),
            [f"row {row}: {self.scores[row]:.4g}" for row in order],
            fontsize="small",
        )
        ax.set_ylabel("document: score")
        documents = (
            f"{len(order)} documents"
            if len(order) == len(rows)
            else f"first {len(order)} of {len(rows)} documents"
        )
        ax.set_title(
            f"Contributions minus the mean of query {self.qid[rows[0]]!s}\n{documents}",
            fontsize="medium",
        )
        ax.figure.colorbar(image, ax=ax, label="contribution minus the mean of the query")
        return ax

    def _rows(self, qid: Any) -> Array:
        codes = grouped_rows(self.qid, len(self.qid))
        if qid is None and len(codes) > 1:
            raise ValueError(
                f"qid is None, but the result has {len(codes)} queries; expected the id of one of "
                "them"
            )
        ids = codes.ids.tolist()
        if qid is not None and qid not in ids:
            raise ValueError(f"qid is {shown(qid)}; expected one of the query ids {shown(ids)}")
        rows: Array = np.flatnonzero(codes.codes == (0 if qid is None else ids.index(qid)))
        return rows


def query(ranker: Any, X: Any, qid: Any = None) -> QueryContributions:
    """Return the contributions of the features to the scores, minus their means in the query.

    Parameters
    ----------
    ranker, X
        As in `pair`.
    qid : array-like of shape (N,), optional
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        Without either, all rows are one query.

    Returns
    -------
    QueryContributions

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    NotFittedError
        Before `fit`.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> explain.query(ranker, test.X, test.qid).to_pandas().shape
    (800, 23)
    """
    _, qid = split(X, qid)
    ranker, X, names = table_of(ranker, X, qid)
    queries = grouped_rows(qid, X.shape[0], rows_of="X")
    found = feature_contributions(ranker, X, names)
    grouped = queries.grouped(found.values)
    means = np.add.reduceat(grouped, queries.offsets[:-1]) / queries.sizes[:, None]
    centered = queries.ungrouped(grouped - np.repeat(means, queries.sizes, axis=0))
    return QueryContributions(names, centered, found.scores, queries.ids[queries.codes])

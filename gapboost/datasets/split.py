"""Training, validation and test data, of one fold and of several."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gapboost.data import Array, RankingDataset


class RankingSplit(NamedTuple):
    """Training, validation and test data with the same columns; unpacks in this order.

    Attributes
    ----------
    train : RankingDataset
        Data to train on.
    vali : RankingDataset
        Data for early stopping and the choice of parameters.
    test : RankingDataset
        Data for the final measurement.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> train, vali, test = load_digits_ranking()
    >>> [len(part.y) for part in (train, vali, test)]
    [9600, 2400, 4000]
    """

    train: RankingDataset
    vali: RankingDataset
    test: RankingDataset


@dataclass(frozen=True, eq=False, repr=False)
class RankingFolds:
    """Data of all folds of a collection; iterates over their training, validation and test data.

    Attributes
    ----------
    data : RankingDataset
        The test data of all folds.
    parts : list of (train, vali, test)
        Rows of `data` in each fold, int64 arrays, as ``cv=`` of `compare_rankers` takes them.

    Examples
    --------
    See `load_letor_folds`.

    >>> import numpy as np
    >>> from gapboost.datasets import RankingFolds, load_digits_ranking
    >>> data = load_digits_ranking().test
    >>> parts = [(np.arange(100), np.arange(100, 200), np.arange(200, 300))]
    >>> [len(part) for part in next(iter(RankingFolds(data, parts)))]
    [100, 100, 100]
    """

    data: RankingDataset
    parts: list[tuple[Array, Array, Array]]

    @property
    def cv(self) -> list[tuple[Array, Array]]:
        """Training and test rows of each fold, as ``cv=`` of searches takes them."""
        return [(train, test) for train, _, test in self.parts]

    def __repr__(self) -> str:
        return f"RankingFolds({len(self)} folds of {self.data!r})"

    def __len__(self) -> int:
        """Return the number of folds."""
        return len(self.parts)

    def __iter__(self) -> Iterator[RankingSplit]:
        for fold in self.parts:
            yield RankingSplit(*map(self._part, fold))

    def _part(self, rows: Array) -> RankingDataset:
        d = self.data
        docid = None if d.docid is None else d.docid[rows]
        return RankingDataset(d.X[rows], d.y[rows], d.qid[rows], docid, d.feature_names)

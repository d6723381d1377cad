"""Training, validation and test data."""

from typing import NamedTuple

from gapboost.data import RankingDataset


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

"""Ranking data: readers of LETOR files, and a small real task that needs no download.

==========  ==============================================================
`split`     training, validation and test data, and folds
`letor`     the readers of LETOR files
`digits`    a graded task from scikit-learn's images of handwritten digits
==========  ==============================================================
"""

from gapboost.datasets.digits import load_digits_ranking
from gapboost.datasets.letor import load_letor, load_letor_fold, load_letor_folds
from gapboost.datasets.split import RankingFolds, RankingSplit

__all__ = [
    "RankingFolds",
    "RankingSplit",
    "load_digits_ranking",
    "load_letor",
    "load_letor_fold",
    "load_letor_folds",
]

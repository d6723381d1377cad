"""Data sets of the study: five folds of training, validation and test queries for every seed.

OHSUMED and any LETOR directory come with their parts. The two small sets have none worth testing on (5 and 50 test queries),
so all of their queries are dealt into five parts anew for every seed, and folded as OHSUMED is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import gapboost as gb
from gapboost._data.queries import Array, Judged, judged
from gapboost.datasets import RankingData, RankingSplit, load_digits_ranking, load_letor, load_letor_fold
from gapboost.evaluation import query_values

SHARED = Path(__file__).parents[3] / "shared" / "data"
FOLDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of some queries, each query in one piece.

    Attributes
    ----------
    X : float64 ndarray of shape (N, n_features)
    y : int32 ndarray of shape (N,)
    qid : ndarray of shape (N,)
    """

    X: Array
    y: Array
    qid: Array

    @cached_property
    def judged(self) -> Judged:
        """Queries and grades as the measures want them."""
        return judged(self.y, self.qid)

    @property
    def sizes(self) -> Array:
        """Documents of each query."""
        return self.judged.queries.sizes

    def values(self, measures: Sequence[gb.Measure], scores: Array) -> list[Array]:
        """One value a query of each measure."""
        data = self.judged.up_to_grade(max((m.n_grades or 0 for m in measures), default=0) or None)
        return query_values(measures, data, np.ascontiguousarray(scores, dtype=np.float64), n_jobs=1)


@dataclass(frozen=True)
class Source:
    """One data set.

    Attributes
    ----------
    name : str
    directory : Path or None
        Holds Fold1 to Fold5; None: the queries are dealt into parts.
    files : tuple of Path
        Read where `directory` is None.
    """

    name: str
    directory: Path | None = None
    files: tuple[Path, ...] = ()

    def splits(self, seed: int) -> list[RankingSplit]:
        """Five folds; the documents of a query in a random order, by which the boosters break ties."""
        rng = np.random.default_rng(seed)
        if self.name == "digits":
            return [shuffled(load_digits_ranking(random_state=10 * seed + fold), rng) for fold in FOLDS]
        if self.directory is not None:
            return [shuffled(load_letor_fold(self.directory / f"Fold{fold}"), rng) for fold in FOLDS]
        return [shuffled(split, rng) for split in dealt(load_letor(self.files), rng)]


def dealt(data: RankingData, rng: np.random.Generator) -> list[RankingSplit]:
    """Fold K trains on parts K, K+1, K+2, validates on K+3 and tests on K+4, cyclic over five parts."""
    queries = rng.permutation(np.unique(data.qid))
    parts = [queries[i::5] for i in range(5)]

    def rows(*numbers: int) -> RankingData:
        chosen = np.isin(data.qid, np.concatenate([parts[n % 5] for n in numbers]))
        return RankingData(data.X[chosen], data.y[chosen], data.qid[chosen])

    return [RankingSplit(rows(k, k + 1, k + 2), rows(k + 3), rows(k + 4)) for k in range(5)]


def shuffled(split: RankingSplit, rng: np.random.Generator) -> RankingSplit:
    """Every part with the documents of each query in a random order, queries in one piece."""
    found = []
    for data in split:
        number = np.unique(data.qid, return_inverse=True)[1]
        order = np.lexsort((rng.random(len(data.y)), number))
        found.append(RankingData(data.X[order], data.y[order], data.qid[order]))
    return RankingSplit(*found)


def sources(directories: Sequence[Path] = ()) -> list[Source]:
    """The three data sets that are there, and the LETOR directories named."""
    lightgbm, news = SHARED / "lightgbm-lambdarank", SHARED / "trec-news-2018"
    known = [
        Source("OHSUMED", SHARED / "ohsumed"),
        Source("LightGBM example", None, (lightgbm / "rank.train.gz", lightgbm / "rank.test.gz")),
        Source("TREC News", None, (news / "trec_news_2018.train", news / "trec_news_2018.test")),
    ]
    there = [s for s in known if all(p.exists() for p in (*s.files, *([s.directory] if s.directory else [])))]
    return there + [Source(directory.name, directory) for directory in directories]

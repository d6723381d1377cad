"""The collections of the study and their folds."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.studies import DATA
from gapboost._kernels import Array
from gapboost.datasets import RankingData, RankingSplit, load_letor

FOLDS = (1, 2, 3)
FILES = {
    "mq2007": ("mq2007/mq2007.txt.gz",),
    "ohsumed": tuple(f"ohsumed/Fold1/{part}.txt.gz" for part in ("train", "vali", "test")),
    "lightgbm": ("lightgbm-lambdarank/rank.train.gz", "lightgbm-lambdarank/rank.test.gz"),
    "cranfield": ("cranfield/cranfield.txt.gz",),
    "mslr": ("mslr/mslr.txt.gz",),
    "trec-news": ("trec-news-2018/trec_news_2018.train", "trec-news-2018/trec_news_2018.test"),
    "dbpedia": ("dbpedia-entity/dbpedia-entity.txt.gz",),
}
# Trained, and so tested, after everything else.
LAST = "dbpedia"
# The defaults of the rankers were chosen on validation parts of these.
OF_DEFAULTS = ("ohsumed", "lightgbm", "trec-news")


@dataclass(frozen=True)
class Collection:
    """One data set, by the name that results carry, and the files that hold all of its queries."""

    name: str
    files: tuple[Path, ...]

    @property
    def there(self) -> bool:
        """Whether its files are."""
        return all(file.exists() for file in self.files)

    @cached_property
    def data(self) -> RankingData:
        """All rows; the documents of a query in a random order, by which the boosters break ties."""
        data = load_letor(self.files)
        number = np.unique(data.qid, return_inverse=True)[1]
        order = np.lexsort((self.generator().random(len(data.y)), number))
        return RankingData(data.X[order], data.y[order], data.qid[order])

    @cached_property
    def splits(self) -> list[RankingSplit]:
        """The folds."""
        return dealt(self.data, self.generator())

    @property
    def n_grades(self) -> int:
        """Grades above 0, in all of the collection."""
        return int(self.data.y.max())

    def generator(self) -> np.random.Generator:
        """The same for everyone who asks."""
        return np.random.default_rng(list(self.name.encode()))


def rows(data: RankingData, queries: Array) -> RankingData:
    """Those of some queries."""
    chosen = np.isin(data.qid, queries)
    return RankingData(data.X[chosen], data.y[chosen], data.qid[chosen])


def dealt(data: RankingData, rng: np.random.Generator) -> list[RankingSplit]:
    """Queries dealt into nine parts: fold K tests on the Kth three, validates on the two after them, trains on the other four."""
    queries = rng.permutation(np.unique(data.qid))
    parts = [queries[i::9] for i in range(9)]

    def joined(first: int, n: int) -> RankingData:
        return rows(data, np.concatenate([parts[i % 9] for i in range(first, first + n)]))

    return [RankingSplit(joined(k + 5, 4), joined(k + 3, 2), joined(k, 3)) for k in (0, 3, 6)]


def collections() -> list[Collection]:
    """All seven, whether or not their files are there."""
    return [Collection(name, tuple(DATA / file for file in files)) for name, files in FILES.items()]

"""The seven collections of the study."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies import DATA
from gapboost.datasets import RankingData, load_letor

FILES = {
    "mq2007": ("mq2007/mq2007.txt.gz",),
    "ohsumed": tuple(f"ohsumed/Fold1/{part}.txt.gz" for part in ("train", "vali", "test")),
    "lightgbm": ("lightgbm-lambdarank/rank.train.gz", "lightgbm-lambdarank/rank.test.gz"),
    "cranfield": ("cranfield/cranfield.txt.gz",),
    "mslr": ("mslr/mslr.txt.gz",),
    "trec-news": ("trec-news-2018/trec_news_2018.train", "trec-news-2018/trec_news_2018.test"),
    "dbpedia": ("dbpedia-entity/dbpedia-entity.txt.gz",),
}


@dataclass(frozen=True)
class Collection:
    """A collection: its name in results, and the files that hold all of its queries."""

    name: str
    files: tuple[Path, ...]

    @cached_property
    def data(self) -> RankingData:
        """All rows, with the documents of each query in a random order that is always the same."""
        data = load_letor(self.files)
        number = np.unique(data.qid, return_inverse=True)[1]
        random = np.random.default_rng(list(self.name.encode())).random(len(data.y))
        order = np.lexsort((random, number))
        return RankingData(data.X[order], data.y[order], data.qid[order])


def rows(data: RankingData, queries: Any) -> RankingData:
    """Return the rows of some queries."""
    chosen = np.isin(data.qid, queries)
    return RankingData(data.X[chosen], data.y[chosen], data.qid[chosen])


def collections() -> list[Collection]:
    """Return those of the seven collections whose files exist."""
    found = [
        Collection(name, tuple(DATA / file for file in files)) for name, files in FILES.items()
    ]
    return [one for one in found if all(file.exists() for file in one.files)]

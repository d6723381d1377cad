"""The lists of the study: made ones of any length, and real collections with long lists, which are looked for in `DATA`."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.studies import DATA
from benchmarks.studies.boosters import Part
from benchmarks.studies.effectiveness.data import collections, rows
from gapboost._kernels import Array
from gapboost.analysis.trec import read_qrels, read_run
from gapboost.datasets import RankingData

WORLDS = (1, 2, 3, 4, 5)
N_FEATURES = 10
# Of the relevant documents: those of grade 1, 2, 3, 4.
GRADES = (0.5, 0.3, 0.1, 0.1)
ROBUST = "robust03"
REAL = (ROBUST, "dbpedia", "ohsumed", "mslr", "cranfield")


@dataclass(frozen=True)
class Made:
    """Made lists of one length; `relevant` documents in each, or half of them where it is None."""

    length: int
    relevant: int | None

    @property
    def name(self) -> str:
        """As results call it."""
        return f"made {self.length} {self.relevant or 'half'}"

    @property
    def there(self) -> bool:
        """Always."""
        return True

    @property
    def longest(self) -> int:
        """Documents of a list."""
        return self.length

    def training(self, world: int) -> Part:
        """Lists of 20 000 documents together, two at least."""
        return self.part(world, 0, max(2, 20_000 // self.length))

    def trio(self, world: int) -> tuple[Part, Part, Part]:
        """Lists to train on, to validate on and to test on."""
        n = (100_000 if self.length > 1_000 else 40_000) // self.length
        return self.part(world, 1, n), self.part(world, 2, n // 2), self.part(world, 3, n)

    def part(self, world: int, number: int, n_lists: int) -> Part:
        """Lists of a world; other numbers are other lists."""
        w = np.random.default_rng(world).standard_normal(N_FEATURES)
        rng = np.random.default_rng([world, self.length, self.relevant or 0, number])
        X = rng.standard_normal((n_lists * self.length, N_FEATURES))
        signal = X @ w + X[:, 0] * X[:, 1] / 2 + 2 * rng.standard_normal(len(X))
        order = np.argsort(signal.reshape(n_lists, self.length), axis=1)
        counts = grade_counts(self.relevant or self.length // 2)
        y = np.zeros((n_lists, self.length), dtype=np.int32)
        best_last = np.repeat(np.arange(len(counts) + 1), [self.length - counts.sum(), *counts])
        np.put_along_axis(y, order, best_last[None, :].astype(np.int32), axis=1)
        return Part(X, y.ravel(), np.repeat(np.arange(n_lists), self.length))


def grade_counts(n_relevant: int) -> Array:
    """Documents of grades 1, 2, ...: `GRADES` of `n_relevant` by largest remainders."""
    exact = n_relevant * np.array(GRADES)
    counts = np.floor(exact + 1e-9).astype(int)
    counts[np.argsort(counts - exact, kind="stable")[: n_relevant - counts.sum()]] += 1
    return counts


@cache
def collection(name: str) -> RankingData:
    """One of `REAL`, the documents of a query in a random order; a `KeyError` where its files are missing."""
    if name == ROBUST:
        return robust()
    return {c.name: c for c in collections() if c.there}[name].data


def robust() -> RankingData:
    """The Robust track of TREC 2003: of each topic, all documents of twelve runs.

    A feature is a run's score, scaled to 0 ... 1 within the topic, or its reciprocal rank; 0 for what the run did not
    return. What was not judged has grade 0.
    """
    folder = DATA / "robust03"
    judgements = read_qrels(folder / "qrels.txt.gz")
    runs = [read_run(path) for path in sorted((folder / "runs").glob("*.gz"))]
    rng = np.random.default_rng(0)
    blocks = []
    for topic, judged in judgements.items():
        returned = [run.get(topic, {}) for run in runs]
        documents = rng.permutation(sorted(set().union(*returned))).tolist()
        number = {document: row for row, document in enumerate(documents)}
        X = np.zeros((len(documents), 2 * len(runs)))
        for k, scores in enumerate(returned):
            at = np.array([number[document] for document in scores], dtype=int)
            values = np.array(list(scores.values()))
            X[at, 2 * k] = (values - values.min()) / (np.ptp(values) or 1.0)
            X[at[np.argsort(-values, kind="stable")], 2 * k + 1] = 1 / np.arange(1, len(at) + 1)
        blocks.append((X, [judged.get(d, 0) for d in documents], np.full(len(documents), int(topic))))
    X, y, qid = (np.concatenate(columns) for columns in zip(*blocks, strict=True))
    return RankingData(X, y.astype(np.int32), qid)


@dataclass(frozen=True)
class Real:
    """One of `REAL`; fold k tests on the kth of five parts of the queries, validates on the next, trains on the others.

    Attributes
    ----------
    name : str
    repeat : int, default=0
        Number of the deal of queries into parts.
    """

    name: str
    repeat: int = 0

    @property
    def there(self) -> bool:
        """Whether its files are."""
        if self.name == ROBUST:
            return (DATA / "robust03" / "qrels.txt.gz").exists()
        return any(c.name == self.name and c.there for c in collections())

    @property
    def longest(self) -> int:
        """Documents of the longest list."""
        return int(np.unique(collection(self.name).qid, return_counts=True)[1].max())

    def training(self, fold: int) -> Part:
        """The lists to train on."""
        return self.trio(fold)[0]

    def trio(self, fold: int) -> tuple[Part, Part, Part]:
        """Lists to train on, to validate on and to test on."""
        data = collection(self.name)
        seed = [self.repeat] * (self.repeat > 0) + list(self.name.encode())
        queries = np.random.default_rng(seed).permutation(np.unique(data.qid))
        parts = np.array_split(queries, len(WORLDS))

        def joined(first: int, n: int) -> Part:
            chosen = rows(data, np.concatenate([parts[(first + i) % len(parts)] for i in range(n)]))
            return Part(chosen.X, chosen.y, chosen.qid)

        return joined(fold + 1, 3), joined(fold, 1), joined(fold - 1, 1)

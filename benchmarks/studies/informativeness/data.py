"""The collections, their resplits, and the measures that are trained for."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gapboost as gb
from benchmarks.studies.effectiveness.data import Collection, collections, rows
from gapboost.datasets import RankingData, RankingSplit

RESPLITS = tuple(range(10))
# Training queries, each four times those before; OHSUMED has half of 106.
SIZES = {"ohsumed": (12, 50), "dbpedia": (12, 50, 200), "mq2007": (12, 50, 200)}
COLLECTIONS = {one.name: one for one in collections()}

G = (0.5, 0.5)
# What is trained for, by the names of the results.
MEASURES: dict[str, gb.Measure] = {
    "GAP": gb.GAP(g=G),
    "xGAP": gb.xGAP(g=G),
    "eGAP": gb.eGAP(g=G),
    "grAP": gb.grAP(top=2),
    "AP": gb.AP(),
    "Q": gb.QMeasure(),
    "nDCG": gb.nDCG(),
    "tau": gb.KendallTau(),
    "RBP .8": gb.RBP(p=0.8),
    "RBP .95": gb.RBP(p=0.95),
    "R-precision": gb.RPrecision(),
    "GAP@10": gb.GAP(g=G, k=10),
    "AP@10": gb.AP(k=10),
    "nDCG@10": gb.nDCG(k=10),
    "nDCG@3": gb.nDCG(k=3),
    "P@10": gb.Precision(k=10),
}
# Tested besides; maximum entropy is not defined for them here.
CASCADES: dict[str, gb.Measure] = {"ERR": gb.ERR(top=2), "RR": gb.RR()}
CUT_OFF = tuple(name for name in MEASURES if "@" in name)
# Measures that see only relevant or not.
BINARY = ("AP", "RBP .8", "RBP .95", "R-precision", "AP@10", "P@10")
# Measures that differ in a cut-off or a parameter alone.
FAMILIES = {
    **dict.fromkeys(("GAP", "xGAP", "eGAP", "grAP", "GAP@10"), "GAP"),
    **dict.fromkeys(("AP", "AP@10"), "AP"),
    **dict.fromkeys(("nDCG", "nDCG@10", "nDCG@3"), "nDCG"),
    **dict.fromkeys(("RBP .8", "RBP .95"), "RBP"),
}


@dataclass(frozen=True)
class Source:
    """A collection as the study takes it, with two grades above 0.

    Attributes
    ----------
    name : str
    label : str
        For readers.
    judges : bool
        Whether training and validation go by means of three judges, drawn around the grades.
    """

    name: str
    label: str
    judges: bool = False

    @property
    def collection(self) -> Collection:
        """Where its rows come from."""
        return COLLECTIONS[self.name.split()[0]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of training queries."""
        return SIZES[self.collection.name]


PRIMARY = (Source("ohsumed", "OHSUMED"), Source("dbpedia", "DBpedia"), Source("mq2007", "MQ2007"))
# The queries of MQ2007 once more, and so no place in the primary model.
JUDGES = Source("mq2007 judges", "MQ2007, three simulated judges", judges=True)


def mean_of_judges(y: NDArray[Any], draw: int) -> NDArray[np.float64]:
    """Return the mean grade of three judges, who see the true grades through noise."""
    noise = np.random.default_rng([29, draw]).normal(scale=0.7, size=(3, len(y)))
    return np.asarray(np.clip(np.rint(y + noise), 0, y.max()).mean(axis=0))


@cache
def labelled(source: Source, resplit: int) -> RankingData:
    """All rows, by what trains."""
    data = source.collection.data
    return RankingData(data.X, mean_of_judges(data.y, resplit), data.qid) if source.judges else data


def split(source: Source, resplit: int, size: int) -> RankingSplit:
    """A third of the queries to test, a sixth to validate, and of the others the first `size` to train."""
    data = source.collection.data
    queries = np.random.default_rng([31, resplit, *source.collection.name.encode()]).permutation(np.unique(data.qid))
    test, vali, train = np.split(queries, [len(queries) // 3, len(queries) // 2])
    labels = labelled(source, resplit)
    return RankingSplit(rows(labels, train[:size]), rows(labels, vali), rows(data, test))

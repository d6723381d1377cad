"""One grid of trainings that several tables of the papers read: measures times objectives times models, on three collections."""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pandas as pd

import gapboost as gb
from benchmarks.papers.results import Parts, Rows, load
from benchmarks.papers.training import DATA, GAP, OBJECTIVES, Fold

TRAINED = {"nDCG": gb.nDCG(), "AP": gb.AP(), "GAP": GAP, "P@10": gb.Precision(k=10), "nDCG@10": gb.nDCG(k=10)}
WHOLE_LIST = ("nDCG", "AP", "GAP")
LETOR = {"discount_by": "letor", "short_is_zero": True}
TESTED = {
    **TRAINED,
    "nDCG@10, linear gain": gb.nDCG(k=10, gains="linear"),
    "nDCG, linear gain": gb.nDCG(gains="linear"),
    "nDCG, LETOR": gb.nDCG(**LETOR),
    **{f"nDCG@{k}, LETOR": gb.nDCG(k=k, **LETOR) for k in range(1, 11)},
}
# Leaves of a tree, or the penalty of the coefficients; the best on validation counts.
SETTINGS = {"trees": (7, 15), "linear": (0.0, 0.01)}
# OHSUMED has three grades; MQ2007 has three and most queries; MSLR five grades and most features.
PLANS = {"OHSUMED": (1, 2, 3, 4, 5), "MQ2007": (1,), "MSLR": (1, 2, 3, 4, 5)}


def objectives_for(name: str) -> tuple[str, ...]:
    """A cut-off is no part of [qin2008]'s experiments."""
    return ("LambdaRank", "SoftRank", "ApproxRank") if name in WHOLE_LIST else ("LambdaRank", "SoftRank")


@cache
def fold_of(collection: str, number: int, data: Path) -> Fold:
    """Binned once."""
    return Fold(collection, number, data)


def measures_for(collection: str) -> dict[str, gb.Measure]:
    """What is trained for: GAP is for two positive grades, and uniform over four on MSLR."""
    uniform = gb.GAP(g=(0.25,) * 4) if collection == "MSLR" else GAP
    return {**TRAINED, "GAP": uniform}


def fitted(collection: str, number: int, model: str, name: str, objective: str, setting: float, data: Path) -> Rows:
    """Values on the test part of one training."""
    fold = fold_of(collection, number, data)
    measures = measures_for(collection)
    best, value, scores = fold.fit(model, OBJECTIVES[objective](measures[name]), setting)
    tested = {label: fold.value(measure, 2, scores) for label, measure in (TESTED | {"GAP": measures["GAP"]}).items()}
    row = {"fold": number, "model": model, "trained": name, "objective": objective, "setting": setting}
    return [row | {"round": best + 1, "validation": value} | tested]


def slow(objective: str, name: str) -> bool:
    """SoftRank with distributions over ranks."""
    return objective == "SoftRank" and name not in ("AP", "GAP")


def planned(collection: str) -> Iterator[tuple[int, str, str, str, float]]:
    """Fold, model, training measure, objective and setting; one setting will do on the larger collections."""
    for number in PLANS[collection]:
        for model in SETTINGS if collection == "OHSUMED" else ("trees",):
            for name in TRAINED:
                for objective in objectives_for(name):
                    for setting in SETTINGS[model] if collection == "OHSUMED" else SETTINGS[model][-1:]:
                        yield number, model, name, objective, setting


def parts(collection: str, data: Path = DATA) -> Parts:
    """One part a training, the quick ones first."""
    return {
        f"fold {number} {model} {objective}({name}) {setting}": partial(
            fitted, collection, number, model, name, objective, setting, data
        )
        for number, model, name, objective, setting in sorted(planned(collection), key=lambda p: slow(p[3], p[2]))
    }


def chosen(collection: str) -> pd.DataFrame:
    """The rows of each fold whose setting was best on validation."""
    rows = load(f"trained_{collection.lower()}")
    best = rows.groupby(["fold", "model", "trained", "objective"])["validation"].idxmax()
    return rows.loc[best]

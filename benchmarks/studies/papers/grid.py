"""One grid of trainings for several tables: measures, objectives and models, on two collections."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import gapboost as gb
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import FOLDS, GAP, OBJECTIVES, Fold

WHOLE_LIST = {"nDCG": gb.nDCG(), "AP": gb.AP(), "GAP": GAP}
TRAINED = {**WHOLE_LIST, "P@10": gb.Precision(k=10), "nDCG@10": gb.nDCG(k=10)}
LETOR = {"discount_by": "letor", "short_is_zero": True}
TESTED = {
    **TRAINED,
    "nDCG@10, linear gain": gb.nDCG(k=10, gains="linear"),
    "nDCG, linear gain": gb.nDCG(gains="linear"),
    "nDCG, LETOR": gb.nDCG(**LETOR),
    **{f"nDCG@{k}, LETOR": gb.nDCG(k=k, **LETOR) for k in range(1, 11)},
}
# Leaves of a tree, or the penalty of the coefficients; chosen on validation.
SETTINGS = {"trees": (7, 15), "linear": (0.0, 0.01)}
COLLECTIONS = ("OHSUMED", "MQ2007")


@cache
def fold_of(collection: str, number: int) -> Fold:
    """Return a fold, whose features are binned once."""
    return Fold(collection, number)


def fitted(
    collection: str, number: int, model: str, name: str, objective: str, setting: float
) -> Rows:
    """Return the row of one training: values on the test part."""
    fold = fold_of(collection, number)
    best, value, scores = fold.fit(model, OBJECTIVES[objective](TRAINED[name]), setting)
    tested = {label: fold.value(measure, 2, scores) for label, measure in TESTED.items()}
    row = {"fold": number, "model": model, "trained": name, "objective": objective}
    return [{**row, "setting": setting, "round": best + 1, "validation": value, **tested}]


def planned(collection: str) -> Iterator[tuple[int, str, str, str, float]]:
    """Yield fold, model, training measure, objective and setting.

    On MQ2007 there are trees of one size alone, and no SoftRank for nDCG: rank distributions of
    whole lists take ten times as long as those of the first ten ranks. ApproxRank is trained for
    whole lists of OHSUMED, as in [qin2008].
    """
    for number, name, objective in product(FOLDS, TRAINED, OBJECTIVES):
        if objective == "ApproxRank" and (collection != "OHSUMED" or name not in WHOLE_LIST):
            continue
        if (collection, objective, name) == ("MQ2007", "SoftRank", "nDCG"):
            continue
        if collection == "OHSUMED":
            for model, settings in SETTINGS.items():
                yield from ((number, model, name, objective, setting) for setting in settings)
        else:
            yield number, "trees", name, objective, SETTINGS["trees"][-1]


def parts(collection: str) -> Parts:
    """Return one part a training."""
    found = {}
    for training in planned(collection):
        number, model, name, objective, setting = training
        part = f"fold {number} {model} {objective}({name}) {setting}"
        found[part] = partial(fitted, collection, *training)
    return found

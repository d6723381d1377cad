"""Evaluation sets in the forms of `lightgbm.LGBMRanker.fit`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost._boosters.evaluation_sets import EvaluationSet
from gapboost.validation import short_repr


def evaluation_pairs(eval_set: object, X: object, y: object) -> Any:
    """Return `eval_set`, or `eval_X` and `eval_y` in its form."""
    if X is None and y is None:
        return eval_set
    if isinstance(X, list) and X and np.ndim(X[0]) > 1:
        raise ValueError(f"eval_X is a list of {len(X)} tables; expected a tuple of them, or one")
    tables, labels = (given if isinstance(given, tuple) else (given,) for given in (X, y))
    if eval_set is not None or X is None or y is None or len(tables) != len(labels):
        raise ValueError(
            f"eval_X has {len(tables)} entries and eval_y {len(labels)}; expected as many of both "
            "and no eval_set"
        )
    return list(zip(tables, labels, strict=True))


def check_training_sets(given: Sequence[EvaluationSet], arguments: Mapping[str, object]) -> None:
    """Raise ValueError if the training set is an evaluation set with other ids or weights."""
    for each in given:
        if each.has_rows_of(arguments["X"], arguments["y"]) and not each.holds(arguments):
            raise ValueError(
                f"{each.names['X']} is that of the training set, but its query ids, weights or "
                "initial scores are others; expected the same, or a copy of X"
            )


def check_set_names(
    eval_names: str | Sequence[str] | None, sets: Sequence[object], train: object
) -> None:
    """Raise ValueError if evaluation sets would share a name, or one never stops training.

    LightGBM stops by no set that is called "training".
    """
    if eval_names is None:
        return
    names = [eval_names] if isinstance(eval_names, str) else list(eval_names)
    held_out = [name for name, data in zip(names, sets, strict=False) if data is not train]
    if len(set(names)) < len(names) or len(names) != len(sets) or "training" in held_out:
        raise ValueError(
            f"eval_names is {short_repr(eval_names)}; expected a different name for each of "
            f'{len(sets)} evaluation sets, "training" for the training set alone'
        )

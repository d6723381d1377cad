"""Evaluation sets of a fit, and early stopping by them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gapboost.data import DataSummary, RankingDataset, check_names
from gapboost.data.grades import GradeLimit
from gapboost.validation import as_integer, short_repr, warn


class EvaluationSet(NamedTuple):
    """Arguments of `fit` that belong to one evaluation set.

    Attributes
    ----------
    given : dict {argument of `RankingDataset.of`: value}
    names : dict {argument of `RankingDataset.of`: the caller's name of it}
    """

    given: dict[str, Any]
    names: dict[str, str]

    def has_rows_of(self, X: object, y: object) -> bool:
        """Return True if the set has these very objects."""
        return self.given["X"] is X and self.given["y"] is y

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Return True if it has the rows of these arguments, and nothing else that differs."""
        return self.has_rows_of(arguments["X"], arguments["y"]) and all(
            value is None or value is arguments[name] or np.array_equal(value, arguments[name])
            for name, value in self.given.items()
        )

    def check(self, n_features: int, n_in_training: int, summary: DataSummary) -> None:
        """Raise ValueError for another number of features; warn of grades that are all equal.

        `summary` is that of the set.
        """
        if n_features != n_in_training:
            raise ValueError(
                f"{self.names['X']} has {n_features} columns but X has {n_in_training}; expected "
                "the same number"
            )
        if not summary.n_mixed_grades:
            warn(
                f"{self.names['y']} holds no query with two different grades (grades "
                f"{short_repr(summary.grades)}): all measures stay constant, and early stopping "
                "would end at the first tree; expected some queries with different grades",
            )


def evaluation_sets(eval_set: Any, metadata: Mapping[str, tuple[str, Any]]) -> list[EvaluationSet]:
    """Return the arguments of each evaluation set.

    Parameters
    ----------
    eval_set : list of (X, y), one (X, y), or None
    metadata : mapping {argument of `RankingDataset.of`: (argument of `fit`, list or None)}

    Raises
    ------
    ValueError
        If an argument has another form.
    """
    pairs = [] if eval_set is None else eval_set
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple | list):
        pairs = [pairs]
    if not isinstance(pairs, list | tuple):
        raise ValueError(f"eval_set is {short_repr(pairs)}; expected a list of pairs (X, y)")
    for name, values in metadata.values():
        if values is None:
            continue
        if not isinstance(values, list | tuple) or len(values) != len(pairs):
            raise ValueError(
                f"{name} is {short_repr(values)}; expected a list with an entry for each of "
                f"{len(pairs)} evaluation sets"
            )
    sets = []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)")
        given = {"X": pair[0], "y": pair[1]}
        names = {"X": f"eval_set[{i}] X", "y": f"eval_set[{i}] y"}
        for argument, (name, values) in metadata.items():
            given[argument] = None if values is None else values[i]
            names[argument] = f"{name}[{i}]"
        sets.append(EvaluationSet(given, names))
    return sets


def evaluation_data(
    sets: Sequence[EvaluationSet],
    train: RankingDataset,
    arguments: Mapping[str, object],
    limit: GradeLimit,
) -> list[RankingDataset]:
    """Return the evaluation sets, checked and grouped.

    Parameters
    ----------
    sets : sequence of EvaluationSet
    train : RankingDataset
    arguments : mapping {argument of `RankingDataset.of`: value}
        Of the training set: `train` stands for a set that holds them.
    limit : GradeLimit

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    found = []
    for each in sets:
        if each.holds(arguments):
            found.append(train)
            continue
        data = RankingDataset.of(**each.given, limit=limit, names=each.names).grouped()
        check_names(data.frame_columns, train.frame_columns, each.names["X"])
        each.check(data.n_features, train.n_features, data.query_data.summary)
        found.append(data)
    return found


def check_callbacks(callbacks: object) -> None:
    """Raise TypeError for callbacks that are in no list."""
    if not isinstance(callbacks, list | tuple | None):
        raise TypeError(f"callbacks is {short_repr(callbacks)}; expected a list of callbacks")


def check_stopping(callbacks: Any, kind: type, rounds: int | None, sets: Sequence[object]) -> None:
    """Raise ValueError if early stopping is asked for without an evaluation set.

    Parameters
    ----------
    callbacks : list or None
    kind : type
        The booster's callback of early stopping.
    rounds : int or None
        The ranker's `early_stopping_rounds`; 0 and None are off.
    sets : sequence

    Raises
    ------
    TypeError
        If the callbacks are in no list, or `rounds` is no whole number.
    """
    check_callbacks(callbacks)
    if rounds is not None:
        rounds = as_integer(rounds, "early_stopping_rounds", 0)
    stops = bool(rounds) or any(isinstance(one, kind) for one in callbacks or ())
    if stops and not sets:
        raise ValueError("eval_set is missing; expected one, which early stopping watches")

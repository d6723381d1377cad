"""What the caller of `fit` asks for, in words that both boosters share; nothing of the data is checked yet."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.features import without_qid


class Names(NamedTuple):
    """What a caller calls the parts of a data set: errors name them so."""

    X: str = "X"
    y: str = "y"
    qid: str = "qid"
    weight: str = "sample_weight"
    start: str = "start"


class Words(NamedTuple):
    """How `fit` of a booster's own ranker calls scores to start from, and weights and such scores of evaluation sets."""

    start: str
    eval_weight: str
    eval_start: str


@dataclass(frozen=True, eq=False)
class Given:
    """One data set as a caller gives it.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    y, qid, start : array-like of shape (N,), the last two or None
    weight : array-like of shape (Q,) or (N,), or None
    names : Names
    """

    X: Any
    y: Any
    qid: Any
    weight: Any = None
    start: Any = None
    names: Names = Names()  # noqa: RUF009, it is immutable

    def consists_of(self, other: "Given") -> bool:
        """Whether all its parts are the very objects that another one has."""
        return (
            self.X is other.X
            and self.y is other.y
            and self.qid is other.qid
            and self.weight is other.weight
            and self.start is other.start
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class FitRequest:
    """The arguments of `fit` that both boosters know.

    Attributes
    ----------
    X, y, qid, weight, start
        The training set, as in `Given`.
    eval_set : list of (X, y), one such tuple, or None
    eval_qid, eval_weight, eval_start : list of array-like, or None
        Of each evaluation set.
    eval_metric : str, Measure, list of them, or None
        Reported beside the measure that is trained for.
    words : Words
    """

    X: Any
    y: Any
    qid: Any
    weight: Any
    start: Any
    eval_set: Any
    eval_qid: Any
    eval_weight: Any
    eval_start: Any
    eval_metric: Any
    words: Words

    def data_sets(self) -> tuple[Given, list[Given]]:
        """The training set and the evaluation sets; the training set itself stands for one that is the same.

        Both boosters know the training set again as the same object: nothing is binned or scored twice.

        Raises
        ------
        ValueError, TypeError
            Where the arguments about evaluation sets do not go together.
        """
        train = Given(self.X, self.y, self.qid, self.weight, self.start, Names(start=self.words.start))
        evals = [self._evaluation_set(i, *parts) for i, parts in enumerate(self._parts_of_evaluation_sets())]
        return train, [train if one.consists_of(train) else one for one in evals]

    def _evaluation_set(self, i: int, X: Any, y: Any, qid: Any, weight: Any, start: Any) -> Given:
        names = Names(
            X=f"eval_set[{i}] X",
            y=f"eval_set[{i}] y",
            qid=f"eval_qid[{i}]",
            weight=f"{self.words.eval_weight}[{i}]",
            start=f"{self.words.eval_start}[{i}]",
        )
        return Given(X, y, qid, weight, start, names)

    def _parts_of_evaluation_sets(self) -> list[tuple[Any, ...]]:
        """``(X, y, qid, weight, start)`` of each evaluation set."""
        eval_set = self.eval_set
        named = {
            "eval_qid": self.eval_qid,
            self.words.eval_weight: self.eval_weight,
            self.words.eval_start: self.eval_start,
        }
        if eval_set is None:
            for name, value in named.items():
                if value is not None:
                    raise ValueError(f"{name} is given without eval_set; expected both or neither")
            return []
        if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
            eval_set = [eval_set]
            named = {name: _alone(value) for name, value in named.items()}
        for name, value in {"eval_set": eval_set, **named}.items():
            if value is None:
                continue
            if not isinstance(value, list | tuple) and np.ndim(value) == 0:
                raise TypeError(f"{name} is {value!r}; expected a list with an entry for each evaluation set")
            if len(value) != len(eval_set):
                raise ValueError(f"{name} has {len(value)} entries; expected one for each of {len(eval_set)} eval sets")
        for i, pair in enumerate(eval_set):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ValueError(f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)")
        if self.eval_qid is None and any(without_qid(X)[1] is None for X, _ in eval_set):
            raise ValueError("eval_qid is missing; expected a list with the query ids of each pair in eval_set")
        columns = ([None] * len(eval_set) if value is None else value for value in named.values())
        return [(*pair, *parts) for pair, *parts in zip(eval_set, *columns, strict=True)]


def _alone(value: Any) -> Any:
    """What belongs to the only evaluation set, as a list; it may be one already."""
    if value is None or (isinstance(value, list | tuple) and len(value) == 1 and np.ndim(value[0]) == 1):
        return value
    return [value]

"""What the caller of `fit` asks for, in words that both boosters share; nothing of the data is checked yet."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._boosters.library import Words
from gapboost._data.columns import raveled
from gapboost._data.features import without_qid


class Names(NamedTuple):
    """What a caller calls the parts of a data set: errors name them so."""

    X: str = "X"
    y: str = "y"
    qid: str = "qid"
    weight: str = "sample_weight"
    start: str = "start"
    position: str = "position"
    group: str = "group"


@dataclass(frozen=True, eq=False)
class Beside:
    """What a caller gives of a data set beside features, grades and query ids.

    Attributes
    ----------
    weight : array-like of shape (Q,) or (N,), or None
    start, position : array-like of shape (N,), or None
    group : array-like of shape (Q,), or None
        Sizes of the queries, where there are no query ids.
    names : Names
    """

    weight: Any = None
    start: Any = None
    position: Any = None
    group: Any = None
    names: Names = Names()  # noqa: RUF009, it is immutable


@dataclass(frozen=True, eq=False)
class Given:
    """One data set as a caller gives it.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    qid : array-like of shape (N,), or None
    beside : Beside
    """

    X: Any
    y: Any
    qid: Any
    beside: Beside

    def raveled(self) -> Self:
        """The same, in which what has one value a row has one dimension; scikit-learn's warning where it was of shape (N, 1)."""
        beside, names = self.beside, self.beside.names
        columns = {
            names.y: self.y,
            names.weight: beside.weight,
            names.start: beside.start,
            names.position: beside.position,
        }
        y, weight, start, position = raveled(columns)
        return replace(self, y=y, beside=replace(beside, weight=weight, start=start, position=position))

    def is_training_set(self, train: "Given", *, inherits: bool) -> bool:
        """True if this evaluation set is the training set `train`, so that a booster need not read it twice.

        Features and grades must be the same objects, as for both boosters' own rankers. Query ids, group sizes, weights and
        initial scores must be equal. `inherits` says that weights and initial scores which are left out are those of `train`.
        Positions count in training only.
        """
        if self.X is not train.X or self.y is not train.y:
            return False
        here, there = self.beside, train.beside
        return (
            _equal(self.qid, train.qid)
            and _equal(here.group, there.group)
            and all(
                _equal(own, of_train) or (inherits and own is None)
                for own, of_train in ((here.weight, there.weight), (here.start, there.start))
            )
        )


def _equal(a: Any, b: Any) -> bool:
    """True if two array-likes have equal values; Dask collections, which nothing computes here, must be the same object."""
    if a is b:
        return True
    if a is None or b is None or hasattr(a, "__dask_graph__") or hasattr(b, "__dask_graph__"):
        return False
    # Unusable values are refused later, under the name of their argument.
    with suppress(TypeError, ValueError):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))
    return False


@dataclass(frozen=True, eq=False, kw_only=True)
class FitRequest:
    """What `fit` was asked for beside the features, grades and query ids of the training set, in words of both boosters.

    Attributes
    ----------
    beside : Beside
        Of the training set.
    eval_set : list of (X, y), one such tuple, or None
    eval_X, eval_y : tuple of array-like, one array-like, or None
        LightGBM's other way to write `eval_set`.
    eval_qid, eval_group, eval_weight, eval_start : list of array-like, or None
        Of each evaluation set.
    eval_metric : str, Measure, list of them, or None
        Reported beside the measure that is trained for.
    eval_at : list of int or None
        LightGBM's cut-offs of what is reported.
    words : Words
    """

    beside: Beside
    eval_set: Any
    eval_X: Any = None
    eval_y: Any = None
    eval_qid: Any
    eval_group: Any
    eval_weight: Any
    eval_start: Any
    eval_metric: Any
    eval_at: Any = None
    words: Words

    def evaluation_sets(self) -> list[Given]:
        """The evaluation sets. One that consists of the training set is not to be binned or scored twice.

        Raises
        ------
        ValueError, TypeError
            Where the arguments about evaluation sets do not go together.
        """
        pairs, of_each = self._pairs(), self._of_each()
        if pairs is None:
            for name, value in of_each.items():
                if value is not None:
                    raise ValueError(f"{name} is given without eval_set; expected both or neither")
            return []
        if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple):
            pairs = [pairs]
            of_each = {name: _alone(value) for name, value in of_each.items()}
        _check_entries(pairs, of_each)
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ValueError(f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)")
        nameless = self.eval_qid is None and self.eval_group is None
        if nameless and any(without_qid(X, f"eval_set[{i}] X")[1] is None for i, (X, _) in enumerate(pairs)):
            raise ValueError(
                "eval_qid is missing; expected a list with the query ids of each pair in eval_set, or eval_group with the sizes "
                "of their queries"
            )
        columns = ([None] * len(pairs) if value is None else value for value in of_each.values())
        return [self._evaluation_set(i, *parts) for i, parts in enumerate(zip(pairs, *columns, strict=True))]

    def _of_each(self) -> dict[str, Any]:
        """What has an entry for each evaluation set, under the caller's names."""
        return {
            "eval_qid": self.eval_qid,
            self.words.eval_weight: self.eval_weight,
            self.words.eval_start: self.eval_start,
            "eval_group": self.eval_group,
        }

    def _pairs(self) -> Any:
        """`eval_set`, or `eval_X` and `eval_y` as one."""
        given = {name: getattr(self, name) for name in ("eval_X", "eval_y") if getattr(self, name) is not None}
        if not given:
            return self.eval_set
        name = next(iter(given))
        if self.eval_set is not None:
            raise ValueError(f"{name} is given, and eval_set too; expected one of them")
        if len(given) == 1:
            raise ValueError(f"{name} is given without {'eval_y' if name == 'eval_X' else 'eval_X'}; expected both")
        X, y = given.values()
        if isinstance(X, tuple) != isinstance(y, tuple) or (isinstance(X, tuple) and len(X) != len(y)):
            raise ValueError(
                f"eval_X is {_how_many(X)} but eval_y is {_how_many(y)}; expected tuples of one length, or one table and its "
                "grades"
            )
        return list(zip(X, y, strict=True)) if isinstance(X, tuple) else (X, y)

    def _evaluation_set(self, i: int, pair: Any, qid: Any, weight: Any, start: Any, group: Any) -> Given:
        apart = self.eval_set is None
        names = Names(
            X=f"eval_X[{i}]" if apart else f"eval_set[{i}] X",
            y=f"eval_y[{i}]" if apart else f"eval_set[{i}] y",
            qid=f"eval_qid[{i}]",
            weight=f"{self.words.eval_weight}[{i}]",
            start=f"{self.words.eval_start}[{i}]",
            group=f"eval_group[{i}]",
        )
        X, y = pair
        return Given(X, y, qid, Beside(weight, start, group=group, names=names))


def _check_entries(pairs: Any, of_each: dict[str, Any]) -> None:
    """Refuse what is no list, or none with an entry for each evaluation set."""
    for name, value in {"eval_set": pairs, **of_each}.items():
        if value is None:
            continue
        if not isinstance(value, list | tuple) and np.ndim(value) == 0:
            raise TypeError(f"{name} is {value!r}; expected a list with an entry for each evaluation set")
        if len(value) != len(pairs):
            raise ValueError(f"{name} has {len(value)} entries; expected one for each of {len(pairs)} eval sets")


def _how_many(value: Any) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else f"a {type(value).__name__}"


def _alone(value: Any) -> Any:
    """What belongs to the only evaluation set, as a list; it may be one already."""
    if value is None or (isinstance(value, list | tuple) and len(value) == 1 and np.ndim(value[0]) == 1):
        return value
    return [value]

"""The arguments of `fit`, in terms of both boosters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._boosters.data_set import ArgumentNames, DataSet
from gapboost._boosters.library import BoosterTerms
from gapboost._data.features import without_qid


@dataclass(frozen=True, eq=False, kw_only=True)
class FitArguments:
    """Arguments of `fit`, as a caller gives them.

    Attributes
    ----------
    train : DataSet
    eval_set : list of (X, y), one such tuple, or None
    eval_X, eval_y : tuple of array-like, one array-like, or None
        LightGBM's other way to write `eval_set`.
    eval_qid, eval_group, eval_weight, eval_start : list of array-like, or None
        Metadata of each evaluation set.
    eval_metric : str, Measure, callable, list of them, or None
        Extra metrics to report.
    eval_at : list of int or None
        LightGBM's cutoffs of extra metrics.
    terms : BoosterTerms
    of_booster : dict {name: value}
        Arguments of `fit` that only one booster has.
    """

    train: DataSet
    eval_set: Any
    eval_X: Any = None
    eval_y: Any = None
    eval_qid: Any
    eval_group: Any
    eval_weight: Any
    eval_start: Any
    eval_metric: Any
    eval_at: Any = None
    terms: BoosterTerms
    of_booster: dict[str, Any]

    def evaluation_sets(self) -> list[DataSet]:
        """Return the evaluation sets.

        Raises
        ------
        ValueError, TypeError
            If the arguments about evaluation sets do not go together.
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
                raise ValueError(
                    f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)"
                )
        nameless = self.eval_qid is None and self.eval_group is None
        if nameless and any(
            without_qid(X, f"eval_set[{i}] X")[1] is None for i, (X, _) in enumerate(pairs)
        ):
            raise ValueError(
                "eval_qid is missing; expected a list with the query ids of each pair in eval_set, "
                "or eval_group with the sizes of their queries"
            )
        columns = ([None] * len(pairs) if value is None else value for value in of_each.values())
        return [
            self._evaluation_set(i, *parts)
            for i, parts in enumerate(zip(pairs, *columns, strict=True))
        ]

    def _of_each(self) -> dict[str, Any]:
        """Return the arguments with an entry for each evaluation set, by name."""
        return {
            "eval_qid": self.eval_qid,
            self.terms.eval_weight: self.eval_weight,
            self.terms.eval_start: self.eval_start,
            "eval_group": self.eval_group,
        }

    def _pairs(self) -> Any:
        """Return `eval_set`, made of `eval_X` and `eval_y` if these are given."""
        given = {
            name: getattr(self, name)
            for name in ("eval_X", "eval_y")
            if getattr(self, name) is not None
        }
        if not given:
            return self.eval_set
        name = next(iter(given))
        if self.eval_set is not None:
            raise ValueError(f"{name} is given, and eval_set too; expected one of them")
        if len(given) == 1:
            raise ValueError(
                f"{name} is given without {'eval_y' if name == 'eval_X' else 'eval_X'}; expected "
                "both"
            )
        X, y = given.values()
        if isinstance(X, tuple) != isinstance(y, tuple) or (
            isinstance(X, tuple) and len(X) != len(y)
        ):
            raise ValueError(
                f"eval_X is {_how_many(X)} but eval_y is {_how_many(y)}; expected tuples of one "
                "length, or one table and its grades"
            )
        return list(zip(X, y, strict=True)) if isinstance(X, tuple) else (X, y)

    def _evaluation_set(
        self, i: int, pair: Any, qid: Any, weight: Any, start: Any, group: Any
    ) -> DataSet:
        apart = self.eval_set is None
        names = ArgumentNames(
            X=f"eval_X[{i}]" if apart else f"eval_set[{i}] X",
            y=f"eval_y[{i}]" if apart else f"eval_set[{i}] y",
            qid=f"eval_qid[{i}]",
            weight=f"{self.terms.eval_weight}[{i}]",
            start=f"{self.terms.eval_start}[{i}]",
            group=f"eval_group[{i}]",
        )
        X, y = pair
        return DataSet(X, y, qid, weight, start, group=group, names=names)


def _check_entries(pairs: Any, of_each: dict[str, Any]) -> None:
    """Raise an error unless each is a list with an entry for each evaluation set."""
    for name, value in {"eval_set": pairs, **of_each}.items():
        if value is None:
            continue
        if not isinstance(value, list | tuple) and np.ndim(value) == 0:
            raise TypeError(
                f"{name} is {value!r}; expected a list with an entry for each evaluation set"
            )
        if len(value) != len(pairs):
            raise ValueError(
                f"{name} has {len(value)} entries; expected one for each of {len(pairs)} eval sets"
            )


def _how_many(value: Any) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else f"a {type(value).__name__}"


def _alone(value: Any) -> Any:
    """Return what belongs to the only evaluation set as a list; it may be one already."""
    if value is None or (
        isinstance(value, list | tuple) and len(value) == 1 and np.ndim(value[0]) == 1
    ):
        return value
    return [value]

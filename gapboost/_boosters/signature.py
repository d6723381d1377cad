"""Parameters of a ranker, its own and the booster's, and the argument order of `fit`."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from gapboost._boosters.own_parameters import OwnParameter

Init = TypeVar("Init", bound=Callable[..., None])
Fit = TypeVar("Fit", bound=Callable[..., Any])

# Arguments by position that `fit` of a ranker takes: X, y, qid and sample_weight.
OURS = 4


def taking(
    parent: type[Any] | None, first: Sequence[OwnParameter] = (), last: tuple[str, ...] = ()
) -> Callable[[Init], Init]:
    """Decorate an ``__init__`` with ``**kwargs``: its signature lists other parameters too.

    `inspect.signature`, `help`, completion and scikit-learn's `get_params` and `repr` read it.

    Parameters
    ----------
    parent : type or None
        The class whose keyword parameters are added after those of the ``__init__`` itself.
    first : sequence of OwnParameter
        Parameters that stand before all others.
    last : tuple of str
        Parameters of the ``__init__`` that stand after all others.
    """

    def decorated(init: Init) -> Init:
        own = {parameter.name: parameter.in_signature for parameter in first}
        self, *rest = inspect.signature(init).parameters.values()
        own |= {p.name: p for p in rest}
        kwargs = own.pop("kwargs")
        theirs = {} if parent is None else inspect.signature(parent.__init__).parameters
        others = [p for name, p in theirs.items() if name not in own and p.kind is p.KEYWORD_ONLY]
        ends = [own.pop(name) for name in last]
        signature = inspect.Signature([self, *own.values(), *others, *ends, kwargs])
        init.__signature__ = signature  # type: ignore[attr-defined]
        return init

    return decorated


def also_in_order_of(theirs: Callable[..., Any]) -> Callable[[Fit], Fit]:
    """Decorate `fit`: take calls by position that only fit the order of the booster's `fit`.

    Those are calls with more arguments by position than ours takes, and those with weights in the
    third place, where ours has `qid`, beside `group`. What could be either is an error.
    """

    def decorated(fit: Fit) -> Fit:
        @wraps(fit)
        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            beside_group = kwargs.get("group") is not None and any(
                value is not None for value in args[2:]
            )
            if len(args) > OURS or (beside_group and _is_theirs(args, kwargs["group"])):
                named = inspect.signature(theirs).bind_partial(self, *args).arguments
                named.pop("self")
                return fit(self, **named, **kwargs)
            return fit(self, *args, **kwargs)

        return called  # type: ignore[return-value]

    return decorated


def _is_theirs(args: tuple[Any, ...], group: Any) -> bool:
    """Return True if the third argument can only be weights, as in LightGBM's own `fit`.

    Raises
    ------
    ValueError
        If the third argument could be query ids, or the fourth weights.
    """
    if args[2] is not None and not _could_be_ids(args[2], group):
        return True
    fourth = ("fourth", "sample_weight", "init_score")
    place, here, there = fourth if args[2] is None else ("third", "qid", "sample_weight")
    raise ValueError(
        f"group is given, and a {place} argument by position, which is {here} here and {there} in "
        "LGBMRanker.fit; expected it by name"
    )


def _could_be_ids(values: Any, group: Any) -> bool:
    """Return True if the values can be query ids: as many distinct ones as queries, all whole.

    Dask collections and values that are no numbers always can.
    """
    if hasattr(values, "__dask_graph__"):
        return True
    found = np.asarray(values)
    if found.dtype.kind not in "biuf":
        return True
    found = np.unique(found)
    return len(found) == np.size(group) and not (found % 1 != 0).any()

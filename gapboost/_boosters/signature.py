"""What a ranker's parameters are: its own and those of the booster that is installed."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Init = TypeVar("Init", bound=Callable[..., None])


def taking(parent: type[Any]) -> Callable[[Init], Init]:
    """Decorator of an ``__init__`` with ``**kwargs``: its signature lists the parameters of `parent` too.

    `inspect.signature`, `help`, completion and scikit-learn's `get_params` and `repr` go by it.
    """

    def decorated(init: Init) -> Init:
        own = dict(inspect.signature(init).parameters)
        kwargs = own.pop("kwargs")
        theirs = inspect.signature(parent.__init__).parameters
        others = [p for name, p in theirs.items() if name not in own and p.kind is p.KEYWORD_ONLY]
        init.__signature__ = inspect.Signature([*own.values(), *others, kwargs])  # type: ignore[attr-defined]
        return init

    return decorated

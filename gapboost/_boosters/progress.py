"""Progress bar over the rounds of a fit, for the callbacks of both boosters."""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gapboost._optional import tqdm


class Best(NamedTuple):
    """Best value so far, and its round, counted from 1."""

    value: float
    round: int


class Bar(threading.local):
    """Progress bar of the fit in this thread. Copies and pickles have none."""

    n_rounds: int | None = None  # told by our ranker
    best: Best | None = None
    continued: Best | None = None  # that of the model that XGBoost continues
    _tqdm: Any = None

    def __reduce__(self) -> Any:
        return Bar, ()

    def start(self, total: int | None, done: int = 0) -> None:
        """Start a new bar after `done` rounds; end the bar of an earlier fit."""
        self.end()
        self.best = None
        self._tqdm = tqdm()(total=total, unit="round", initial=done)

    def show(self, values: dict[str, float], rounds: int) -> None:
        """Show the values after this round, and the best."""
        text = [f"{name}={value:.4g}" for name, value in values.items()]
        if self.best is not None:
            text.append(f"best {self.best.value:.4g} in round {self.best.round}")
        self._tqdm.set_postfix_str(", ".join(text), refresh=rounds == 1)
        self._tqdm.update(rounds - self._tqdm.n)

    def end(self, complete: bool = False) -> None:
        """End the bar; a `complete` one is shown full, also after early stopping."""
        if self._tqdm is None:
            return
        if complete:
            self._tqdm.total = self._tqdm.n
        self._tqdm.close()
        self._tqdm = None


class Progress:
    """A callback that shows the bar."""

    def __init__(self) -> None:
        tqdm()  # where it is missing, that is said before training
        self.bar = Bar()

    def __repr__(self) -> str:
        return "progress()"


@contextmanager
def following(callbacks: Any, n_rounds: int) -> Iterator[None]:
    """Tell the bars among `callbacks` the number of rounds, and close them with the fit."""
    # What is no collection the booster refuses.
    bars = (
        [c.bar for c in callbacks if isinstance(c, Progress)]
        if isinstance(callbacks, Collection)
        else []
    )
    for bar in bars:
        bar.n_rounds = n_rounds
    complete = False
    try:
        yield
        complete = True
    finally:
        for bar in bars:
            bar.n_rounds = None
            bar.end(complete)


def without_bars(callbacks: Any) -> Any:
    """Return the callbacks without bars, for a search with a bar of its own."""
    return None if callbacks is None else [c for c in callbacks if not isinstance(c, Progress)]

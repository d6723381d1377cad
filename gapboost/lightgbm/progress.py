"""A progress bar as a callback of LightGBM."""

from collections.abc import Callable
from typing import Any

from gapboost._boosters.progress import Best, Progress

# LightGBM calls its callbacks in this order. Early stopping, at 30, skips in the last round those
# that follow it.
BEFORE_EARLY_STOPPING = 25


def progress() -> Callable[..., None]:
    """Return a callback that shows a bar over the rounds, with the newest values (needs tqdm).

    For ``callbacks=[...]`` of `LGBMGAPRanker.fit`, `lightgbm.LGBMRanker.fit`, `lightgbm.train` and
    `lightgbm.cv`.

    Returns
    -------
    callable
        Every fit has a bar of its own, in threads too; copies and pickles of the callback have
        none.

    Raises
    ------
    ImportError
        If tqdm is missing.

    Notes
    -----
    The bar ends with the value and the round that are the best so far, by the first value that is
    not of the training set.

    `LGBMGAPRanker` closes the bar however the fit ends. LightGBM's own functions tell callbacks
    neither of early stopping nor of errors: there it closes when the callback is let go, which for
    ``callbacks=[progress()]`` is at once, or at its next fit. Each worker of a Dask cluster calls
    its own copy of the callbacks: the bars are in the output of the workers.
    """
    return _LightGBMProgress()


class _LightGBMProgress(Progress):
    def __init__(self) -> None:
        super().__init__()
        self.order = BEFORE_EARLY_STOPPING

    def __call__(self, env: Any) -> None:
        rounds, total = (
            env.iteration + 1 - env.begin_iteration,
            env.end_iteration - env.begin_iteration,
        )
        if rounds == 1:
            self.bar.start(total, done=1)
        # (data set, name, value, whether higher is better, in cross-validation the deviation)
        results = env.evaluation_result_list or []
        training = ("train", getattr(env.model, "_train_data_name", None))
        first = next((result for result in results if result[0] not in training), None)
        if first is not None:
            value, higher_is_better, best = first[2], first[3], self.bar.best
            if best is None or (value > best.value if higher_is_better else value < best.value):
                self.bar.best = Best(value, env.iteration + 1)
        self.bar.show({f"{data} {name}": value for data, name, value, *_ in results}, rounds)
        if rounds == total:
            self.bar.end()

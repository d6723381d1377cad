"""A bar over the rounds of training."""

from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from gapboost.optional import tqdm


def progress(n_rounds: int | None = None) -> TrainingCallback:
    """Return a callback that shows a bar over the rounds, with the newest values (needs tqdm).

    For ``callbacks=[...]`` of `XGBGAPRanker`, `xgboost.XGBRanker`, `xgboost.train` and
    `xgboost.cv`.

    Parameters
    ----------
    n_rounds : int, optional
        Length of the bar, which XGBoost does not tell callbacks.

    Raises
    ------
    ImportError
        If tqdm is missing.

    Examples
    --------
    >>> from gapboost.xgboost import XGBGAPRanker, progress
    >>> XGBGAPRanker(n_estimators=500, callbacks=[progress(500)]).callbacks
    [progress(500)]
    """
    tqdm()
    return _Progress(n_rounds)


class _Progress(TrainingCallback):  # type: ignore[misc]
    def __init__(self, n_rounds: int | None) -> None:
        self.n_rounds = n_rounds

    def __repr__(self) -> str:
        return f"progress({'' if self.n_rounds is None else self.n_rounds})"

    def before_training(self, model: xgboost.Booster) -> xgboost.Booster:
        self.bar = tqdm()(total=self.n_rounds, unit="round")
        return model

    def after_iteration(self, model: xgboost.Booster, epoch: int, evals_log: Any) -> bool:
        values = {
            f"{data} {name}": log[-1]
            for data, logs in evals_log.items()
            for name, log in logs.items()
        }
        self.bar.set_postfix(values, refresh=False)
        self.bar.update()
        return False

    def after_training(self, model: xgboost.Booster) -> xgboost.Booster:
        self.bar.close()
        del self.bar
        return model

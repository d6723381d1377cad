"""A progress bar as a callback of XGBoost."""

from typing import Any

from xgboost.callback import TrainingCallback

from gapboost._boosters.progress import Best, Progress


def progress(n_rounds: int | None = None) -> TrainingCallback:
    """Return a callback that shows a bar over the rounds, with the newest values (needs tqdm).

    For ``callbacks=[...]`` of `XGBGAPRanker`, `xgboost.XGBRanker`, `xgboost.train` and
    `xgboost.cv`.

    Parameters
    ----------
    n_rounds : int, optional
        The length of the bar, which XGBoost's own ranker and functions do not tell callbacks;
        `XGBGAPRanker` does.

    Returns
    -------
    TrainingCallback
        Every fit has a bar of its own, in threads too; copies and pickles of the callback have
        none.

    Raises
    ------
    ImportError
        If tqdm is missing.

    Notes
    -----
    With early stopping the bar ends with the value and the round that it holds for the best.

    `XGBGAPRanker` closes the bar however the fit ends. XGBoost's own functions do not tell
    callbacks of errors: there it closes when the callback is let go, or at its next fit.
    `GSearchCV` leaves this callback out of the trainings of a search, which has a bar of its own.
    Each worker of a Dask cluster calls its own copy of the callbacks: the bars are in the output of
    the workers.

    Examples
    --------
    >>> from gapboost.xgboost import XGBGAPRanker, progress
    >>> XGBGAPRanker(n_estimators=500, callbacks=[progress()])
    XGBGAPRanker(callbacks=[progress()], n_estimators=500)
    """
    return _XGBoostProgress(n_rounds)


class _XGBoostProgress(Progress, TrainingCallback):  # type: ignore[misc]
    def __init__(self, n_rounds: int | None) -> None:
        super().__init__()
        self.n_rounds = n_rounds

    def before_training(self, model: Any) -> Any:
        self.bar.continued = _best(model)
        self.bar.start(self.bar.n_rounds or self.n_rounds)
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        newest = {
            f"{data} {name}": log[-1]
            for data, logs in evals_log.items()
            for name, log in logs.items()
        }
        self._find_best(model)
        # In cross-validation a value comes with its deviation.
        self.bar.show(
            {name: v[0] if isinstance(v, tuple) else v for name, v in newest.items()}, epoch + 1
        )
        return False

    def after_training(self, model: Any) -> Any:
        self._find_best(model)
        self.bar.end(complete=True)
        return model

    def _find_best(self, model: Any) -> None:
        """Read the best round from the model, where early stopping writes it.

        During training, early stopping runs after this callback: the last round is not included.
        """
        best = _best(model)
        # A model that is continued has that of its own training.
        self.bar.best = None if best == self.bar.continued else best


def _best(model: Any) -> Best | None:
    value, epoch = model.attr("best_score"), model.attr("best_iteration")
    return None if value is None or epoch is None else Best(float(value), int(epoch) + 1)

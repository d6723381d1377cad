"""A progress bar as a callback of LightGBM."""

from collections.abc import Callable
from typing import Any

from gapboost._optional import tqdm


def progress() -> Callable[[Any], None]:
    """Return a callback that shows a bar over the rounds, with the newest values (needs tqdm).

    For ``callbacks=[...]`` of `LGBMGAPRanker.fit`, `lightgbm.LGBMRanker.fit`, `lightgbm.train` and
    `lightgbm.cv`.

    Raises
    ------
    ImportError
        If tqdm is missing.

    Examples
    --------
    >>> from gapboost.lightgbm import LGBMGAPRanker, progress
    >>> callbacks = [progress()]  # for LGBMGAPRanker().fit(..., callbacks=callbacks)
    """
    kind = tqdm()
    bars: list[Any] = []

    def show(env: Any) -> None:
        if env.iteration == env.begin_iteration:
            bars[:] = [kind(total=env.end_iteration - env.begin_iteration, unit="round")]
        # (data set, name, value, whether higher is better, in cross-validation the deviation)
        results = env.evaluation_result_list or []
        values = {f"{data} {name}": f"{value:.4g}" for data, name, value, *_ in results}
        bars[0].set_postfix(values, refresh=False)
        bars[0].update()
        if env.iteration + 1 == env.end_iteration:
            bars[0].close()

    # Early stopping, at 30, skips in the last round the callbacks that follow it.
    show.order = 25  # type: ignore[attr-defined]
    return show

"""Choice of the device for gradients and metrics: the processor, or the GPU of the trees."""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from gapboost._boosters.gradients import Gradients
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.measures.base import QuadraticForm
from gapboost.objectives import LambdaRank


def gradients_on(device: Any, gradients: Gradients) -> Any:
    """Return `gradients`, or the same on the GPU if the device is one and has kernels for them.

    Parameters
    ----------
    device : str or None
        XGBoost's parameter.
    gradients : Gradients
    """
    objective = gradients.objective
    if (
        type(objective) is LambdaRank
        and gradients.factors is None
        and has_kernels([objective.measure])
        and uses_gpu(device)
    ):
        from gapboost.xgboost.cuda import DeviceGradients

        return DeviceGradients(objective, gradients.data, gradients.scale[0])
    return gradients


def values_on(
    device: Any, measures: Sequence[Measure], data: Judged
) -> Callable[[Array], list[Array]] | None:
    """Return what computes the measures of each query on the GPU; None: the processor does."""
    if has_kernels(measures) and uses_gpu(device):
        from gapboost.xgboost.cuda import DeviceValues

        return DeviceValues(measures, data)
    return None


def has_kernels(measures: Sequence[Measure]) -> bool:
    """Return True if all measures are (discount, pair, own) of one label."""
    return all(
        isinstance(part, QuadraticForm) and part.trains and part.label_column is None
        for measure in measures
        for _, part in measure.terms
    )


def uses_gpu(device: Any) -> bool:
    """Return True if the device is a GPU and its kernels can run; warn once if they cannot."""
    return isinstance(device, str) and device.startswith(("cuda", "gpu")) and _can_run()


@cache
def _can_run() -> bool:
    try:
        from gapboost._kernels.cuda import is_available

        if is_available():
            return True
        reason = "numba-cuda finds no GPU"
    except ImportError as error:
        reason = str(error)
    warnings.warn(
        f"gradients and metrics are computed on the processor, since {reason}; expected "
        "pip install 'gapboost[cuda]' and a GPU, for gradients beside the trees",
        stacklevel=2,
    )
    return False

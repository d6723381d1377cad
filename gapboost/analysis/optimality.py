"""Local optimality: whether small changes of a trained model's weights improve a measure.

The Monte-Carlo test of [yilmaz2009] (5.2, after Donmez, Svore and Burges): directions v are drawn
uniformly from the unit sphere around the weights w, and w + eta v is evaluated for several step
sizes eta. With 460 directions and no improvement above epsilon = 0.003 the weights are a local
optimum with 99 % confidence. What is altered is a model that is linear in its weights: a linear
ranker, or an ensemble of trees with its leaf values for weights and leaf indicators for features.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import as_integer, mapping
from gapboost._data.columns import check_finite, numeric_column
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost._page import line
from gapboost.analysis.estimates import rounding
from gapboost.analysis.result import Result, generators, in_order, short_labels
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure, Measures, as_measures

STEP_SIZES = tuple(i / 10 for i in range(1, 11))


def local_optimality(
    measures: Measures,
    weights: Any,
    datasets: Mapping[str, tuple[Any, Any, Any]],
    *,
    n_directions: int = 460,
    step_sizes: Sequence[float] = STEP_SIZES,
    epsilon: float = 0.003,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Result:
    """Alter the weights of a model in random directions and look for improvements.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        With their g, where they have one.
    weights : array-like of shape (W,)
        Of a model with scores ``features @ weights``.
    datasets : {name: (features, y, qid)}
        ``features``: array or sparse matrix of shape (N, W). All data sets see the same
        alterations.
    n_directions : int, default=460
    step_sizes : sequence of float, default=(0.1, 0.2, ..., 1.0)
        Lengths of the alterations. They have the unit of the weights: see ``weight_norm``.
    epsilon : float, default=0.003
        An improvement up to this counts as none.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, optional
        Processes.
    progress : bool, default=False
        Show a progress bar over the directions.

    Returns
    -------
    Result
        Its table has one row a data set and measure. Attributes:

        * ``values``: of the unchanged model, float64 of shape (datasets, measures).
        * ``changes``: altered minus original value, of shape (datasets, measures, directions, step
          sizes).
        * ``improved``, ``improved_by_epsilon``: number of alterations that improve by more than
          rounding, and by more than `epsilon`; of shape (datasets, measures).
        * ``weight_norm``: length of the vector of weights, for comparison with the step sizes.
        * ``measures``, ``datasets``, ``step_sizes``, ``epsilon``.

    Raises
    ------
    ValueError
        If weights and features do not fit together, or there is nothing to alter.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> data = {"train": (X, [2, 0, 1], ["q", "q", "q"])}
    >>> result = analysis.local_optimality(
    ...     "ap", [1.0, 0.2], data, n_directions=10, random_state=0, n_jobs=1
    ... )
    >>> int(result.improved.sum())
    0
    """
    w, steps = _finite(weights, "weights"), _finite(step_sizes, "step_sizes")
    wanted = tuple(as_measures(measures))
    if not isinstance(epsilon, int | float | np.number) or np.isnan(epsilon):
        raise ValueError(f"epsilon is {epsilon!r}; expected a number")
    n_directions = as_integer(n_directions, "n_directions")
    if not wanted or not mapping(datasets, "datasets", "{name: (features, y, qid)}"):
        raise ValueError("measures or datasets is empty; expected at least one of each")
    prepared = []
    for name, (features, y, qid) in datasets.items():
        data = judged(y, qid, names=(f"datasets[{name!r}] y", f"datasets[{name!r}] qid", "weights"))
        if features.shape != (data.queries.n_rows, len(w)):
            raise ValueError(
                f"datasets[{name!r}] has features of shape {features.shape}; expected "
                f"({data.queries.n_rows}, {len(w)}): rows of y, and weights"
            )
        prepared.append((data.queries.grouped(features), data))
    values = np.array([_values(wanted, data, rows @ w) for rows, data in prepared])

    def in_one_direction(generator: np.random.Generator) -> Array:
        """Return changes of shape (datasets, measures, step sizes)."""
        direction = generator.standard_normal(len(w))
        direction /= np.linalg.norm(direction)
        changes = []
        for (rows, data), before in zip(prepared, values, strict=True):
            scores, moved = rows @ w, rows @ direction
            after = [_values(wanted, data, scores + step * moved) for step in steps]
            changes.append(np.transpose(after) - before[:, None])
        return np.array(changes)

    directions = generators(random_state, n_directions)
    found = in_order(in_one_direction, directions, n_jobs, progress, "directions")
    changes = np.array(found).transpose(1, 2, 0, 3)
    least = rounding(values[:, :, None, None] + changes, (2, 3))[:, :, None, None]
    counts = {
        "improved": np.count_nonzero(changes > least, axis=(2, 3)),
        "improved_by_epsilon": np.count_nonzero(changes > epsilon, axis=(2, 3)),
    }
    columns = {
        "data": np.repeat(tuple(datasets), len(wanted)),
        "measure": short_labels(wanted) * len(datasets),
        "value": values.ravel(),
        **{name: count.ravel() for name, count in counts.items()},
        "largest change": changes.max(axis=(2, 3)).ravel(),
    }
    return Result(
        columns,
        ["data", "measure"],
        _draw,
        measures=wanted,
        datasets=tuple(datasets),
        step_sizes=tuple(steps.tolist()),
        values=values,
        changes=changes,
        epsilon=epsilon,
        weight_norm=float(np.linalg.norm(w)),
        **counts,
    )


def _finite(values: Any, name: str) -> Array:
    array = numeric_column(values, name, "finite numbers").astype(np.float64)
    check_finite(array, name, "finite numbers")
    if len(array) == 0:
        raise ValueError(f"{name} is empty; expected at least one number")
    return array


def _values(measures: Sequence[Measure], data: Judged, scores: Array) -> Array:
    resolved = [measure.resolved(data.occurring) for measure in measures]
    return np.array([mean(v, data.weights) for v in query_values(resolved, data, scores, n_jobs=1)])


def _draw(result: Result, ax: Any) -> None:
    """Draw the median and 5-95 % range of the change by step size."""
    labels = short_labels(result.measures)
    for number, (d, m) in enumerate(np.ndindex(result.values.shape)):
        low, middle, high = np.percentile(result.changes[d, m], (5, 50, 95), axis=0)
        style = line(number)
        ax.plot(result.step_sizes, middle, label=f"{result.datasets[d]}, {labels[m]}", **style)
        ax.fill_between(result.step_sizes, low, high, color=style["color"], alpha=0.15, linewidth=0)
    ax.axhline(result.epsilon, color="gray", linewidth=0.8, linestyle=":")
    ax.set(xlabel="step size", ylabel="change of the measure")

"""Local optimality: whether small changes of a trained model's weights improve a measure.

The Monte-Carlo test of [yilmaz2009] (5.2, after Donmez, Svore and Burges): directions v are drawn
uniformly from the unit sphere around the weights w, and w + eta v is evaluated for several step
sizes eta. With 460 directions and no improvement above epsilon = 0.003 the weights are a local
optimum with 99 % confidence. What is altered is a model that is linear in its weights: a linear
ranker, or an ensemble of trees with its leaf values for weights and leaf indicators for features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gapboost._data.arguments import mapping, whole
from gapboost._data.columns import numeric_column
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost._optional import axes, frame
from gapboost._pictures import legend, line
from gapboost.analysis.ties import rounding
from gapboost.analysis.work import generators, in_order
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure, Measures, as_measures

STEP_SIZES = tuple(i / 10 for i in range(1, 11))


@dataclass(frozen=True, eq=False)
class LocalOptimality:
    """Changes of measures by alterations of a model's weights.

    Attributes
    ----------
    measures : tuple of Measure
    datasets : tuple of str
    step_sizes : tuple of float
    values : float64 ndarray of shape (datasets, measures)
        Values of the unchanged model.
    changes : float64 ndarray of shape (datasets, measures, directions, step sizes)
        Altered minus original value.
    epsilon : float
    weight_norm : float
        Length of the vector of weights, for comparison with the step sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> data = {"train": (X, [2, 0, 1], ["q", "q", "q"])}
    >>> result = analysis.local_optimality(
    ...     "ap", [1.0, 0.2], data, n_directions=10, random_state=0, n_jobs=1
    ... )
    >>> round(float(result.weight_norm), 3)
    1.02
    """

    measures: tuple[Measure, ...]
    datasets: tuple[str, ...]
    step_sizes: tuple[float, ...]
    values: Array
    changes: Array
    epsilon: float
    weight_norm: float

    @property
    def improved(self) -> Array:
        """Number of alterations that improve by more than rounding, int64 (datasets, measures)."""
        within = rounding(self.values[:, :, None, None] + self.changes, (2, 3))
        improved: Array = np.count_nonzero(self.changes > within[:, :, None, None], axis=(2, 3))
        return improved

    @property
    def improved_by_epsilon(self) -> Array:
        """Number of alterations that improve by more than epsilon, int64 (datasets, measures)."""
        improved: Array = np.count_nonzero(self.changes > self.epsilon, axis=(2, 3))
        return improved

    def __repr__(self) -> str:
        return (
            f"LocalOptimality({self.changes[0, 0].size} alterations, "
            f"improved={self.improved.tolist()}, by more than "
            f"{self.epsilon:g}={self.improved_by_epsilon.tolist()})"
        )

    def to_pandas(self) -> Any:
        """Return one row a data set and measure: value, alterations, improvements, the largest.

        Improvements are counted above 0 and above epsilon.
        """
        size = len(self.measures)
        return frame(
            {
                "data": np.repeat(self.datasets, size),
                "measure": [str(m) for m in self.measures] * len(self.datasets),
                "value": self.values.ravel(),
                "alterations": self.changes[0, 0].size,
                "> 0": self.improved.ravel(),
                f"> {self.epsilon:g}": self.improved_by_epsilon.ravel(),
                "largest": self.changes.max(axis=(2, 3)).ravel(),
            },
            ["data", "measure"],
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the median and 5-95 % range of the change by step size; return the axes.

        There is a line for each data set and measure.
        """
        ax = axes(ax)
        for d, m in np.ndindex(self.values.shape):
            low, middle, high = np.percentile(self.changes[d, m], (5, 50, 95), axis=0)
            style = line(d * len(self.measures) + m)
            ax.plot(
                self.step_sizes, middle, label=f"{self.datasets[d]}, {self.measures[m]}", **style
            )
            ax.fill_between(
                self.step_sizes, low, high, color=style["color"], alpha=0.15, linewidth=0
            )
        ax.axhline(self.epsilon, color="gray", linewidth=0.8, linestyle=":")
        ax.set(xlabel="step size", ylabel="change of the measure")
        legend(ax)
        return ax


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
) -> LocalOptimality:
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
        Lengths of the alterations. They have the unit of the weights: see
        `LocalOptimality.weight_norm`.
    epsilon : float, default=0.003
        An improvement up to this counts as none.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, optional
        Processes.
    progress : bool, default=False
        Show a progress bar over the directions.

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
    n_directions = whole(n_directions, "n_directions")
    if not wanted:
        raise ValueError("measures is empty; expected at least one")
    if not mapping(datasets, "datasets", "{name: (features, y, qid)}"):
        raise ValueError("datasets is empty; expected {name: (features, y, qid)}")
    prepared = []
    for name, (features, y, qid) in datasets.items():
        data = judged(y, qid, names=(f"datasets[{name!r}] y", f"datasets[{name!r}] qid", "weights"))
        if features.shape != (data.queries.n_rows, len(w)):
            raise ValueError(
                f"datasets[{name!r}] has features of shape {features.shape}; expected "
                f"({data.queries.n_rows}, {len(w)}): rows of y, and weights"
            )
        rows = features if data.queries.rows is None else features[data.queries.rows]
        prepared.append((rows, data))
    values = np.array([_values(wanted, data, rows @ w) for rows, data in prepared])
    change = partial(_changes, wanted, w, prepared, values, tuple(steps))
    changes = in_order(
        change, generators(random_state, n_directions), n_jobs, progress, "directions"
    )
    return LocalOptimality(
        wanted,
        tuple(datasets),
        tuple(steps.tolist()),
        values,
        np.array(changes).transpose(1, 2, 0, 3),
        epsilon,
        float(np.linalg.norm(w)),
    )


def _finite(values: Any, name: str) -> Array:
    array = numeric_column(values, name, "finite numbers").astype(np.float64)
    if len(array) == 0 or not np.isfinite(array).all():
        raise ValueError(
            f"{name} has shape {array.shape} and {int((~np.isfinite(array)).sum())} NaN or "
            "infinite values; expected at least one number, and finite ones"
        )
    return array


def _changes(
    measures: tuple[Measure, ...],
    weights: Array,
    datasets: list[tuple[Any, Judged]],
    values: Array,
    step_sizes: tuple[float, ...],
    generator: np.random.Generator,
) -> Array:
    """Changes of shape (datasets, measures, step sizes) in one direction."""
    direction = generator.standard_normal(len(weights))
    direction /= np.linalg.norm(direction)
    changes = np.empty((len(datasets), len(measures), len(step_sizes)))
    for d, (rows, data) in enumerate(datasets):
        scores, moved = rows @ weights, rows @ direction
        for s, step in enumerate(step_sizes):
            changes[d, :, s] = _values(measures, data, scores + step * moved) - values[d]
    return changes


def _values(measures: Sequence[Measure], data: Judged, scores: Array) -> Array:
    resolved = [measure.resolved(data.occurring) for measure in measures]
    return np.array([mean(v, data.weights) for v in query_values(resolved, data, scores, n_jobs=1)])

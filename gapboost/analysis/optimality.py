"""Local optimality: whether small changes of a trained model's weights improve a measure.

The Monte-Carlo test of [yilmaz2009] (5.2, after Donmez, Svore and Burges): directions v are drawn
uniformly from the unit sphere around the weights w, and w + eta v is evaluated for several step
sizes eta. With 460 directions and no improvement above epsilon = 0.003 the weights are a local
optimum with 99 % confidence. What is altered is a model that is linear in its weights: a linear
ranker, or an ensemble of trees with its leaf values for weights and leaf indicators for features.
"""

from collections.abc import Sequence

import numpy as np

from gapboost.analysis.result import Result, generators, over_items, short_labels
from gapboost.analysis.standard_errors import rounding
from gapboost.data import Array, ArrayLike, QueryIds, features, group_by_query
from gapboost.evaluation import QueryValues
from gapboost.measures import Measures, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.optional import Axes
from gapboost.validation import Seed, as_integer, as_number, finite_column

STEP_SIZES = tuple(i / 10 for i in range(1, 11))


def local_optimality(
    measures: Measures,
    weights: ArrayLike,
    X: object,
    y: ArrayLike,
    qid: QueryIds = None,
    *,
    n_directions: int = 460,
    step_sizes: Sequence[float] = STEP_SIZES,
    epsilon: float = 0.003,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Result:
    """Alter the weights of a model in random directions and look for improvements.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        With their g, where they have one.
    weights : array-like of shape (W,)
        Of a model with scores ``X @ weights``.
    X : array or sparse matrix of shape (N, W)
    y, qid
        As in `gapboost.evaluate`.
    n_directions : int, default=460
    step_sizes : sequence of float, default=(0.1, 0.2, ..., 1.0)
        Lengths of the alterations. They have the unit of the weights: see ``weight_norm``.
    epsilon : float, default=0.003
        An improvement up to this counts as none.
    random_state : int, Generator or RandomState, optional
        Calls with the same one alter the weights alike, as for training and test data.
    n_jobs : int, optional
        Processes.

    Returns
    -------
    Result
        Its table has one row a measure. Attributes:

        * ``values``: of the unchanged model, float64 of shape (measures,).
        * ``changes``: altered minus original value, of shape (measures, directions, step sizes).
        * ``improved``, ``improved_by_epsilon``: number of alterations that improve by more than
          rounding, and by more than `epsilon`; of shape (measures,).
        * ``weight_norm``: length of the vector of weights, for comparison with the step sizes.
        * ``measures``, ``step_sizes``, ``epsilon``.

    Raises
    ------
    ValueError
        If weights and features do not fit together, there is nothing to alter, or a grade is beyond
        those of a measure.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> result = analysis.local_optimality(
    ...     "ap", [1.0, 0.2], X, [2, 0, 1], n_directions=10, random_state=0, n_jobs=1
    ... )
    >>> int(result.improved.sum())
    0
    """
    w = finite_column(weights, "weights", "finite numbers").astype(np.float64)
    steps = finite_column(step_sizes, "step_sizes", "finite numbers")
    wanted = tuple(as_measures(measures))
    epsilon = as_number(epsilon, "epsilon", 0)
    n_directions = as_integer(n_directions, "n_directions")
    limit, names = grade_limit(wanted), ("y", "qid", "sample_weight")
    data = group_by_query(y, qid, limit=limit, names=names, beside={"X": X})
    rows = features(X)
    if rows.shape != (data.queries.n_rows, len(w)):
        raise ValueError(f"X has shape {rows.shape}; expected {(data.queries.n_rows, len(w))}")
    rows = data.queries.grouped(rows)
    resolved = [measure.resolved(data.occurring) for measure in wanted]
    values_of = QueryValues(resolved, data, n_jobs=1)

    def means(scores: Array) -> Array:
        return np.array([v.mean() for v in values_of(scores)])

    scores = rows @ w
    values = means(scores)

    def in_one_direction(generator: np.random.Generator) -> Array:
        """Return changes of shape (measures, step sizes)."""
        direction = generator.standard_normal(len(w))
        moved = rows @ (direction / np.linalg.norm(direction))
        after = [means(scores + step * moved) for step in steps]
        return np.transpose(after) - values[:, None]

    directions = generators(random_state, n_directions)
    found = over_items(in_one_direction, directions, n_jobs)
    changes = np.stack(found, axis=1)
    smallest = rounding(values[:, None, None] + changes, (1, 2))[:, None, None]
    columns: dict[str, object] = {
        "measure": short_labels(wanted),
        "value": values,
        "improved": np.count_nonzero(changes > smallest, axis=(1, 2)),
        "improved_by_epsilon": np.count_nonzero(changes > epsilon, axis=(1, 2)),
        "largest change": changes.max(axis=(1, 2)),
    }
    return Result(
        columns,
        ["measure"],
        _draw,
        measures=wanted,
        step_sizes=tuple(steps.tolist()),
        values=values,
        changes=changes,
        epsilon=epsilon,
        weight_norm=float(np.linalg.norm(w)),
    )


def _draw(result: Result, ax: Axes) -> None:
    """Draw the median and 5-95 % range of the change by step size."""
    for label, changes in zip(short_labels(result.measures), result.changes, strict=True):
        low, middle, high = np.percentile(changes, (5, 50, 95), axis=0)
        (drawn,) = ax.plot(result.step_sizes, middle, label=label)
        color = drawn.get_color()
        ax.fill_between(result.step_sizes, low, high, color=color, alpha=0.15, linewidth=0)
    ax.axhline(result.epsilon, color="gray", linewidth=0.8, linestyle=":")
    ax.set(xlabel="step size", ylabel="change of the measure")

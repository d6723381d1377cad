"""Items that are computed, by the name of their file of results, the quick ones first."""

from collections.abc import Callable
from functools import partial

from benchmarks.studies.papers import approximation, grid, informativeness, systems
from benchmarks.studies.papers.results import Parts

ITEMS: dict[str, Callable[[], Parts]] = {
    "correlation_with_p10": systems.correlation_with_p10,
    "discrimination": systems.discrimination,
    "correlation": systems.correlation,
    "inferred": informativeness.inferred,
    "informativeness": informativeness.graded,
    "robustness": systems.robustness,
    "accuracy": approximation.accuracy,
    "shallow_pools": systems.shallow_pools,
    "approx_linear": approximation.approx_linear,
    **{f"trained_{name.lower()}": partial(grid.parts, name) for name in grid.COLLECTIONS},
}

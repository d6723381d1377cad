"""All that is computed, by the name of its file of results, the quick ones first."""

from collections.abc import Callable
from functools import partial

from benchmarks.studies.papers import approximation, grid, hessians, informativeness, less_data, optima, systems
from benchmarks.studies.papers.results import Parts

ITEMS: dict[str, Callable[[], Parts]] = {
    "features_of_collections": systems.features_of_collections,
    "curves_of_one_list": systems.curves_of_one_list,
    "correlation_with_p10": systems.correlation_with_p10,
    "discrimination": systems.discrimination,
    "correlation": systems.correlation,
    "two_features": optima.two_features,
    "directions": optima.directions,
    "learning_curves": optima.learning_curves,
    "inferred": informativeness.inferred,
    "informativeness": informativeness.graded,
    "robustness": systems.robustness,
    "accuracy": approximation.accuracy,
    "hessians": hessians.hessians,
    "shallow_pools": systems.shallow_pools,
    "local_optima": optima.local_optima,
    "approx_linear": approximation.approx_linear,
    "less_data": less_data.less_data,
    **{f"trained_{name.lower()}": partial(grid.parts, name) for name in grid.COLLECTIONS},
}

"""All that is computed, by the name of its file of results, the quick ones first."""

from collections.abc import Callable
from functools import partial

from benchmarks.studies.papers import grid, hessians, models, runs
from benchmarks.studies.papers.results import Parts

ITEMS: dict[str, Callable[[], Parts]] = {
    "biases": runs.biases,
    "features_of_collections": runs.features_of_collections,
    "curves_of_one_list": runs.curves_of_one_list,
    "correlation_with_p10": models.correlation_with_p10,
    "discrimination": runs.discrimination,
    "correlation": runs.correlation,
    "two_features": models.two_features,
    "directions": models.directions,
    "learning_curves": models.learning_curves,
    "accuracy": models.accuracy,
    "approx_linear": models.approx_linear,
    "inferred": models.inferred,
    "gain_and_discount": runs.gain_and_discount,
    "informativeness_elsewhere": runs.informativeness_elsewhere,
    "robustness": runs.robustness,
    "local_optima": models.local_optima,
    "hessians": hessians.hessians,
    "informativeness_robust": runs.informativeness_robust,
    **{f"trained_{name.lower()}": partial(grid.parts, name) for name in grid.COLLECTIONS},
}

"""Checks of the estimator and the candidates of a search, before any training."""

from typing import Any

from gapboost._boosters.one_label import check_one_label
from gapboost._boosters.parameters import EARLY_STOPPING, N_ROUNDS
from gapboost._boosters.plan import ranking_objective
from gapboost._boosters.positions import PENALTY, checked_penalty
from gapboost._boosters.ranker import GAPRanker
from gapboost._data.arguments import whole
from gapboost._data.grades import GradeLimit
from gapboost.measures import Measure
from gapboost.measures.measure import grade_limit
from gapboost.model_selection.candidate_groups import Grids, candidate_groups, with_params
from gapboost.preprocessing.pipeline import last_step, prefix


def check_estimator(estimator: Any) -> None:
    """Raise unless the estimator is a local ranker, or a pipeline that ends with one."""
    ranker = last_step(estimator)
    name = "estimator" if ranker is estimator else "the last step of estimator"
    if not isinstance(ranker, GAPRanker):
        raise TypeError(f"{name} is {ranker!r}; expected an LGBMGAPRanker or XGBGAPRanker")
    if hasattr(ranker, "to_local"):
        local = type(ranker.to_local()).__name__
        raise TypeError(
            f"{name} is a {type(ranker).__name__}; expected an {local}: with "
            "joblib.parallel_backend('dask') the search makes every fit one task of the cluster"
        )


def check_candidates(
    estimator: Any, grids: Grids, targets: list[Measure], position: Any
) -> GradeLimit:
    """Raise if a candidate cannot be trained; return the limit on grades of all measures."""
    n_estimators = f"{prefix(estimator)}n_estimators"
    for grid in grids:
        for value in grid[n_estimators]:
            whole(value, f"{n_estimators} in param_grid")
    groups = candidate_groups(grids, prefix(estimator))
    models = [with_params(estimator, group.params) for group in groups]
    for model in models:
        check_estimator(model)
    rankers = [last_step(model) for model in models]
    measures = list(targets)
    for ranker in rankers:
        parameters = ranker.get_params()
        for name in N_ROUNDS:
            if parameters.get(name) is not None:
                raise ValueError(
                    f"{name} is {parameters[name]!r}; expected n_estimators: the search sets the "
                    "number of trees by that name"
                )
        checked_penalty(parameters.get(PENALTY), position)
        _check_no_early_stopping(ranker)
        measures.append(ranking_objective(ranker, 0).measure)
    check_one_label(
        measures, "measure", "GSearchCV", "GridSearchCV of scikit-learn, which takes several labels"
    )
    return grade_limit(measures)


def _check_no_early_stopping(ranker: GAPRanker) -> None:
    parameters = ranker.get_params()  # type: ignore[attr-defined]
    for name in (*EARLY_STOPPING, "stopping_metric"):
        if parameters.get(name) is not None:
            raise ValueError(
                f"{name} is {parameters[name]!r}; expected None: the search tries every number of "
                "trees up to n_estimators and chooses the best. Pass "
                f"clone(ranker).set_params({name}=None) with the largest n_estimators to try; "
                "best_estimator_ then has the best number"
            )

"""Parameters of a ranker, and the training request that they make."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from gapboost._boosters.eval_metric import metric_functions, split_metrics
from gapboost._boosters.library import Library
from gapboost._boosters.measure_arguments import as_metrics
from gapboost._boosters.parameter_table import ParameterTable
from gapboost._boosters.parameters import OwnParameters, arguments_of, check_parameters
from gapboost._boosters.positions import REGULARIZATION, checked_penalty
from gapboost._boosters.request import TrainingRequest
from gapboost._boosters.search_guard import refuse_blind_search
from gapboost._data.arguments import seed, whole
from gapboost.measures import Measure, as_measure
from gapboost.objectives import Objective, as_objective


class RankerParameters:
    """Base class of the rankers of both boosters: parameters and the request that they make."""

    measure: str | Measure
    g: Sequence[float] | None
    objective: str | Objective
    stopping_metric: str | Measure | None
    n_jobs: int | None
    random_state: Any
    # Trees where `n_estimators` is None; None if the booster needs a number.
    _default_rounds: ClassVar[int | None] = None

    _library: ClassVar[Library]
    _parameter_table: ClassVar[ParameterTable]

    def _named_params(self) -> dict[str, Any]:
        """Return the parameters under the names that the constructor lists.

        Raises
        ------
        ValueError
            If two names of one parameter have different values.
        """
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        return self._parameter_table.by_constructor_names(given)

    @property
    def _n_jobs(self) -> int | None:
        """Threads for the kernels."""
        n_jobs: int | None = self._named_params()["n_jobs"]
        return n_jobs

    @property
    def _n_rounds(self) -> int:
        """Number of trees to train; raises ValueError if it is no whole number >= 1."""
        value = self._named_params()["n_estimators"]
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        name = self._parameter_table.name_in_use("n_estimators", given)
        return whole(self._default_rounds if value is None else value, name)

    def _named_objective(self, draws: bool = True) -> Objective:
        """Return the objective that `measure`, `g` and `objective` ask for."""
        if isinstance(self.objective, Objective):
            if self.measure != "gap" or self.g is not None:
                raise ValueError(
                    f"objective is {self.objective!r}, which brings its measure, but measure is "
                    f"{self.measure!r} and g is {self.g!r}; expected an objective by name, or "
                    "measure and g left at their defaults"
                )
            return self.objective
        if not isinstance(self.objective, str):
            raise TypeError(
                f"objective is {self.objective!r}; expected a name such as 'lambdarank' or an "
                "objective value"
            )
        name = (
            "lambdarank" if self.objective in self._parameter_table.objectives else self.objective
        )
        state = self._named_params()["random_state"]
        if not draws and not isinstance(state, int | np.integer):
            state = None
        return as_objective(name, as_measure(self.measure, self.g), seed(state) or 0)

    def _requested_objective(self, *, draws: bool = True) -> Objective:
        """Return the objective that all parameters ask for; its g may be left to the data.

        Unless `draws` is False, a `random_state` that is a RandomState or Generator draws the seed
        that orders ties.
        """
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        request = replace(self._own().request, objective=self._named_objective(draws))
        return self._parameter_table.translated(parameters, request).objective

    def _own(self, **metrics: Any) -> OwnParameters:
        return OwnParameters(self.measure, self.g, self.objective, **metrics)

    def _request(
        self, *, eval_metric: Any = None, eval_at: Any = None, position: Any = None
    ) -> TrainingRequest:
        """Return what the parameters, and these arguments of `fit`, ask for.

        They are checked here. Random numbers are drawn here too, once for each training and the
        same for all workers.

        Raises
        ------
        ValueError, TypeError
            If a parameter is unusable, or would be ignored.
        """
        request = self._check_parameters(eval_metric, eval_at)
        penalty = checked_penalty(self._penalty, position)
        refuse_blind_search(self)
        objective = self._requested_objective()
        measures, _ = split_metrics(eval_metric)
        if measures is not None:
            # What is unusable there, `request` has left out.
            as_metrics(measures, name="eval_metric")
        parameters = self._booster_parameters()
        return replace(
            request,
            objective=objective,
            functions=tuple(metric_functions(eval_metric, self._library.metric_by_query)),
            stopping_metric=self.stopping_metric,
            n_jobs=self._n_jobs,
            penalty=penalty,
            parameters=self._with_seed(parameters),
            least_hessian=self._library.least_hessian(parameters),
        )

    def _check_parameters(self, eval_metric: Any = None, eval_at: Any = None) -> TrainingRequest:
        """Return what the parameters ask for; raise one error for all that would be ignored."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        kind: Any = type(self)
        of_fit = arguments_of(kind, "fit")
        measures, _ = split_metrics(eval_metric)
        own = self._own(metrics=measures, where=" in fit" if "eval_metric" in of_fit else "")
        if eval_at is not None:
            parameters = {**parameters, "eval_at": eval_at}
        listed = arguments_of(kind, "__init__") | {REGULARIZATION}
        request = check_parameters(
            self._parameter_table, parameters, own, listed=listed, of_fit=of_fit
        )
        self._n_rounds  # noqa: B018, it raises an error for an unusable value
        return request

    @property
    def _penalty(self) -> Any:
        """Penalty on factors of positions from the parameters."""
        return self.get_params().get(REGULARIZATION)  # type: ignore[attr-defined]

    # What each booster does in its own way.
    def _booster_parameters(self) -> dict[str, Any]:
        """Return the parameters for the booster."""
        raise NotImplementedError

    def _with_seed(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters with a seed drawn from `random_state`."""
        raise NotImplementedError

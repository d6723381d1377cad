"""Parameters of the ranker and its model on Spark; measures and objectives are text."""

from typing import Any

from pyspark.ml.param import Param, Params, TypeConverters

from gapboost._boosters.model_file import value
from gapboost._boosters.own_parameters import OWN_NAMES
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost import XGBGAPRanker

# Parameters that may be measures or objectives, which Spark keeps as text.
VALUES = (*OWN_NAMES, "eval_metric")


def as_text(given: Any) -> Any:
    """A measure or objective as the text that it prints; lists of them too. Names stay names.

    Raises
    ------
    TypeError
        If it is not gapboost's own: Spark keeps parameters as JSON, which cannot hold it.
    """
    if isinstance(given, list | tuple):
        return type(given)(as_text(one) for one in given)
    if not isinstance(given, Measure | Objective):
        return given
    if value(repr(given)) != given:
        raise TypeError(
            f"{given!r} is not gapboost's own; expected one of its measures or objectives, or sums "
            "of them: Spark keeps parameters as text"
        )
    return repr(given)


def as_value(text: Any) -> Any:
    """Parse text that `as_text` wrote; names stay names."""
    if isinstance(text, list | tuple):
        return type(text)(as_value(one) for one in text)
    parsed = value(text) if isinstance(text, str) else None
    return text if parsed is None else parsed


class GAPParams(Params):
    """Parameters that the ranker and its model share."""

    position_col: "Param[str]" = Param(
        Params._dummy(),
        "position_col",
        "The column that says where each document was shown.",
        typeConverter=TypeConverters.toString,
    )

    @classmethod
    def _xgb_cls(cls) -> type[XGBGAPRanker]:
        return XGBGAPRanker

    @classmethod
    def _get_fit_params_default(cls) -> dict[str, Any]:
        found: dict[str, Any] = super()._get_fit_params_default()
        found.pop("position")  # it is a column here
        return found

    def _gen_xgb_params_dict(self, gen_xgb_sklearn_estimator_param: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = super()._gen_xgb_params_dict(gen_xgb_sklearn_estimator_param)
        found.pop("position_col", None)
        return {name: as_value(given) if name in VALUES else given for name, given in found.items()}

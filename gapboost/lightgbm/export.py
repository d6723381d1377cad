"""Models for exporters."""

import re
from typing import Any

import lightgbm

from gapboost.lightgbm.model_text import labelled
from gapboost.lightgbm.ranker import LGBMGAPRanker

# What LightGBM writes of each split, one number: 1 for one by category; 4 for one by number that
# takes zeros for missing.
DECISIONS = re.compile(r"^decision_type=(.+)$", re.MULTILINE)
BY_CATEGORY, MISSING, ZERO_IS_MISSING = 1, 12, 4


def exportable(model: LGBMGAPRanker | lightgbm.Booster) -> lightgbm.Booster:
    """Return a booster with the same predictions, for exporters such as those to ONNX.

    LightGBM leaves a Python objective out of the model, and exporters refuse a model without one.
    This one says ``lambdarank``.

    Parameters
    ----------
    model : LGBMGAPRanker or Booster
        Fitted; early stopping has its best iterations exported.

    Returns
    -------
    Booster
        Its ``save_model`` and ``model_to_string`` say the same. Exported models take categories of
        a data frame by code.

    Raises
    ------
    TypeError
        If `model` is not a model of LightGBM.
    ValueError
        If exporters would silently write another model. They write only the constants of linear
        trees, the sum of a random forest instead of the mean, and ignore ``zero_as_missing=True``.
    NotFittedError
        Before `fit`.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker, exportable
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> "objective=lambdarank" in exportable(ranker).model_to_string()
    True
    """
    found = labelled(_booster_of(model))
    text = found.model_to_string()
    if "\nis_linear=1\n" in text:
        raise ValueError(
            "linear_tree is True in model; expected a model without linear trees: exporters cannot "
            "write them"
        )
    if "\naverage_output\n" in text:
        raise ValueError(
            "boosting is 'rf' in model; expected gbdt, dart or goss: exporters sum what a forest "
            "averages"
        )
    if any(
        _misses_zeros(int(split)) for splits in DECISIONS.findall(text) for split in splits.split()
    ):
        raise ValueError(
            "zero_as_missing is True in model; expected a model in which NaN alone is missing: "
            "exporters know no other missing value. Train with NaN instead of zeros"
        )
    return found


def _booster_of(model: Any) -> lightgbm.Booster:
    if isinstance(model, lightgbm.LGBMModel):
        return model.booster_
    if isinstance(model, lightgbm.Booster):
        return model
    raise TypeError(
        f"model is a {type(model).__name__}; expected an LGBMGAPRanker, another ranker of LightGBM "
        "or a lightgbm.Booster. gapboost.xgboost.exportable takes XGBoost's models"
    )


def _misses_zeros(decision: int) -> bool:
    return not decision & BY_CATEGORY and decision & MISSING == ZERO_IS_MISSING

"""Models for exporters."""

import lightgbm

from gapboost.lightgbm.model_text import labelled
from gapboost.lightgbm.ranker import LGBMGAPRanker


def exportable(model: LGBMGAPRanker | lightgbm.Booster) -> lightgbm.Booster:
    """The model in the form that exporters take, to ONNX among them; it predicts the same.

    LightGBM leaves a Python objective out of the model, and exporters refuse a model without one. This one says
    ``lambdarank``.

    Parameters
    ----------
    model : LGBMGAPRanker or Booster
        Fitted; early stopping has its best iterations exported.

    Returns
    -------
    Booster
        Its ``save_model`` and ``model_to_string`` say the same. Exported models take categories of a data frame by code.

    Raises
    ------
    ValueError
        Where the model has linear trees: exporters write their constants alone, without a word.
    NotFittedError
        Before `fit`.
    """
    booster = model.booster_ if isinstance(model, lightgbm.LGBMModel) else model
    found = labelled(booster)
    if "\nis_linear=1\n" in found.model_to_string():
        raise ValueError(
            "linear_tree is True in model; expected a model without linear trees: exporters cannot write them"
        )
    return found

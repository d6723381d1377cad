"""Models for exporters."""

import re

import lightgbm

from gapboost.lightgbm.ranker import LGBMGAPRanker


def exportable(model: LGBMGAPRanker | lightgbm.Booster) -> lightgbm.Booster:
    """The model in the form that exporters take, to ONNX among them; it predicts the same.

    LightGBM leaves a Python objective out of the model, and exporters refuse a model without one. This one says
    ``lambdarank``, whose predictions are raw scores too.

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
    text = booster.model_to_string()
    if "\nis_linear=1\n" in text:
        raise ValueError(
            "linear_tree is True in model; expected a model without linear trees: exporters cannot write them"
        )
    if "\nobjective=" not in text:
        text = text.replace("\nfeature_names=", "\nobjective=lambdarank\nfeature_names=", 1)
        text = re.sub(r"\n\[objective: custom.*\]\n", "\n[objective: lambdarank]\n", text, count=1)
    return lightgbm.Booster(model_str=text)

"""Models of LightGBM: those to continue, the trees that predict, and models for exporters."""

import re
from collections.abc import Sequence
from typing import Any

import lightgbm

from gapboost._boosters.ranker import check_continued, check_model
from gapboost.data import check_names, feature_names
from gapboost.data.features import column_contents
from gapboost.lightgbm._compat import has_names
from gapboost.validation import short_repr

# What models for others say they were trained for.
VENDOR_OBJECTIVE = "lambdarank"

# Lines of a model's text that exporters would silently leave out, and what wrote them.
WRITTEN_WRONGLY = {
    "is_linear=1": "linear_tree=True",
    "average_output": "boosting='rf'",
    "[zero_as_missing: 1]": "zero_as_missing=True",
}


def to_continue(model: object, X: object, feature_name: Sequence[str]) -> lightgbm.Booster:
    """Return the booster of a model, or of its file, if it has the columns of training."""
    if isinstance(model, lightgbm.LGBMModel):
        model = model.booster_
    check_model(model, "init_model", (lightgbm.Booster,), "LightGBM")
    booster = model if isinstance(model, lightgbm.Booster) else lightgbm.Booster(model_file=model)
    check_continued(X, booster.num_feature())
    known = booster.feature_name()
    names = feature_names(X) if isinstance(feature_name, str) else feature_name
    if has_names(booster):
        check_names([name.replace(" ", "_") for name in names], known, "X")
    return booster


def check_categories(X: Any, model: lightgbm.Booster) -> None:
    """Raise ValueError if a data frame has other categories than the model to continue.

    LightGBM keeps the codes of the new ones alone, by which the old trees would split too.
    """
    columns = [c for c, content in column_contents(X).items() if content == "category"]
    known = model.pandas_categorical or ()
    others = columns
    if len(columns) == len(known):
        pairs = zip(columns, known, strict=True)
        others = [c for c, categories in pairs if [*X[c].cat.categories] != [*categories]]
    if others:
        raise ValueError(
            f"X has other categories in {short_repr(others)} than the model to continue; expected "
            "those of its training in their order, as cat.set_categories makes them"
        )


def with_objective_name(
    booster: lightgbm.Booster, num_iteration: int | None = None
) -> lightgbm.Booster:
    """Return a copy that names LightGBM's own objective, whose predictions are raw scores too.

    LightGBM leaves a Python objective out of a model, and without one its `predict` ignores
    `pred_early_stop`. `num_iteration` is that of `Booster.model_to_string`.
    """
    text = booster.model_to_string(num_iteration=num_iteration)
    if "\nobjective=" not in text:
        named = f"\nobjective={VENDOR_OBJECTIVE}\nfeature_names="
        text = text.replace("\nfeature_names=", named, 1)
        text = re.sub(r"\n\[objective: custom.*\]\n", f"\n[objective: {VENDOR_OBJECTIVE}]\n", text)
    copied = lightgbm.Booster(model_str=text)
    copied.best_iteration, copied.best_score = booster.best_iteration, booster.best_score
    return copied


def exportable(model: lightgbm.LGBMModel | lightgbm.Booster) -> lightgbm.Booster:
    """Return a booster with the same predictions, for exporters such as those to ONNX.

    LightGBM leaves a Python objective out of the model, and exporters refuse a model without one.
    This one says ``lambdarank``.

    LightGBM reads NaN as 0 in a feature without NaN in training; PMML, hummingbird, timber and
    shapiq do not. Impute such values for them, or use ONNX, treelite or lleaves.

    Parameters
    ----------
    model : LGBMGAPRanker, another ranker of LightGBM, or Booster
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
        If exporters would silently write another model: they write only the constants of linear
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
    if not isinstance(model, lightgbm.LGBMModel | lightgbm.Booster):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a ranker or booster of LightGBM; "
            "gapboost.xgboost.exportable takes XGBoost's"
        )
    found = with_objective_name(model.booster_ if isinstance(model, lightgbm.LGBMModel) else model)
    text = found.model_to_string()
    for line, parameter in WRITTEN_WRONGLY.items():
        if f"\n{line}\n" in text:
            raise ValueError(
                f"model was trained with {parameter}; expected a sum of constant leaves in which "
                "NaN alone is missing: exporters cannot write another model"
            )
    return found

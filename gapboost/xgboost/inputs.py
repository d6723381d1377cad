"""Models and objectives as XGBoost takes them."""

from typing import Any

import xgboost

# What a saved model says it was trained with: XGBRanker().load_model() takes it, and predictions are raw scores.
SAVED_AS = "rank:ndcg"


def to_continue(model: Any) -> xgboost.Booster | None:
    """A copy of a model, or of its file, that has forgotten where it was stopped: else new trees would never predict.

    XGBoost predicts by the best iteration that a booster names, and keeps the old one where the new training does not stop early.
    """
    if model is None:
        return None
    booster = model.copy() if isinstance(model, xgboost.Booster) else xgboost.Booster(model_file=model)
    booster.set_attr(best_iteration=None, best_score=None)
    return booster

"""Warnings that name the line of the user's own code."""

import sys
import warnings

# The boosters call gapboost's callbacks. scikit-learn (some of it through joblib) and Spark call
# `fit` for the user.
PASSED_OVER = frozenset(("gapboost", "joblib", "lightgbm", "pyspark", "sklearn", "xgboost"))


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest call from outside of the libraries in `PASSED_OVER`."""
    # What `skip_file_prefixes` does from Python 3.12 on.
    frame, level = sys._getframe(1), 2
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_OVER
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

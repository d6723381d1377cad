"""Models of the command, by the ending of their file."""

from pathlib import Path
from typing import Any

import joblib

from gapboost._optional import imported

PICKLES = (".joblib", ".pkl", ".pickle")
LIGHTGBM, XGBOOST = (".txt",), (".json", ".ubj")


def load_model(path: Path) -> Any:
    """Return a fitted ranker or a booster.

    Parameters
    ----------
    path : Path
        A pickle of any fitted ranker or pipeline, a text file of LightGBM, or a JSON or UBJSON file
        of XGBoost. A pickle runs the code that it holds: load only files that you trust.

    Raises
    ------
    ValueError, OSError
        If the ending is unknown, or the file cannot be read.
    """
    if path.suffix not in (*PICKLES, *LIGHTGBM, *XGBOOST):
        endings = ", ".join((*PICKLES, *LIGHTGBM, *XGBOOST))
        raise ValueError(f"MODEL is {str(path)!r}; expected a file that ends with one of {endings}")
    if not path.is_file():
        raise FileNotFoundError(f"MODEL is {str(path)!r}; there is no such file")
    library = "lightgbm" if path.suffix in LIGHTGBM else "xgboost" if path.suffix in XGBOOST else ""
    if not library:
        return joblib.load(path)
    booster = imported(library, library, "to read the model").Booster
    try:
        return booster(model_file=str(path))
    except Exception as error:  # both libraries have an error class of their own
        raise ValueError(
            f"{path} is no model of {library} ({str(error).splitlines()[0]})"
        ) from error

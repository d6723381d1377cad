"""Text of a LightGBM model, with the objective that it was trained for."""

import re

import lightgbm

from gapboost._boosters.model_file import words
from gapboost.objectives import Objective

# What the parameters in a model file say of an objective from Python.
CUSTOM = "[objective: custom]"

# What models for others say they were trained for.
VENDOR_OBJECTIVE = "lambdarank"


def labelled(booster: lightgbm.Booster, num_iteration: int | None = None) -> lightgbm.Booster:
    """Return a copy that names LightGBM's own objective, whose predictions are raw scores too.

    LightGBM leaves a Python objective out of a model. `num_iteration` is that of
    `Booster.model_to_string`.
    """
    text = booster.model_to_string(num_iteration=num_iteration)
    if "\nobjective=" not in text:
        text = text.replace(
            "\nfeature_names=", f"\nobjective={VENDOR_OBJECTIVE}\nfeature_names=", 1
        )
        text = re.sub(
            r"\n\[objective: custom.*\]\n", f"\n[objective: {VENDOR_OBJECTIVE}]\n", text, count=1
        )
    return lightgbm.Booster(model_str=text)


def inscribe(booster: lightgbm.Booster, objective: Objective) -> None:
    """Write into the model what it was trained for, under ``params["objective"]``.

    LightGBM has no attributes that go into its file, and warns of parameters that it does not know.
    It keeps the parameters of a loaded model as they are, though, and of the objective it reads the
    first word.
    """
    text = booster.model_to_string(num_iteration=-1)
    booster.model_from_string(text.replace(CUSTOM, f"{CUSTOM[:-1]} {words(objective)}]", 1))

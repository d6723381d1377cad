"""Text of a LightGBM model, with the name of one of its objectives."""

import re

import lightgbm

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

"""Search the frames of callers for what boosters and scikit-learn do not pass on."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import TypeVar

Booster = TypeVar("Booster")


def callers() -> Iterator[FrameType]:
    """The frames of all callers, the nearest first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def booster_in_training(kind: type[Booster]) -> Booster:
    """Return the booster in training, from the frames of the callers.

    Factors of positions belong to one training, and both boosters tell an objective only the data
    set, which others may train on too, at the same time or later. LightGBM's data set knows the
    learning rate of the first of them, or none.

    Raises
    ------
    ValueError
        If there is none.
    """
    for frame in callers():
        owner = frame.f_locals.get("self")
        if isinstance(owner, kind):
            return owner
    raise ValueError(
        "position is set, but the objective was called outside of a training; expected a call by "
        "the booster's update or train: each training learns factors of its own"
    )


def search_in_progress() -> FrameType | None:
    """Return the call of scikit-learn's loop over folds that this fit is part of, or None."""
    for frame in callers():
        if frame.f_code.co_name == "_fit_and_score" and frame.f_globals.get(
            "__name__", ""
        ).startswith("sklearn."):
            return frame
    return None

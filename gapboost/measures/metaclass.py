"""The type of all classes of measures."""

from abc import ABCMeta
from collections.abc import Callable
from typing import Any, ClassVar


class MeasureType(ABCMeta):
    """Make each class with `tables` a `QuadraticForm`, even if it is a `Measure`.

    Users derive their measures from `Measure` and define `tables`: the form follows from it.
    """

    # `QuadraticForm` and `WeightedSum`, as soon as they exist: both derive from `Measure`.
    form: ClassVar[type | None] = None
    sum: ClassVar[Callable[..., Any] | None] = None

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> "MeasureType":
        """Make a class.

        If it has the form, `QuadraticForm` replaces `Measure` among its bases.
        """
        form = mcs.form
        if form is not None and _has_form(bases, namespace):
            bases = tuple(
                form if isinstance(base, mcs) and issubclass(form, base) else base for base in bases
            )
            bases += () if form in bases else (form,)
        return super().__new__(mcs, name, bases, namespace, **kwargs)


def _has_form(bases: tuple[type, ...], namespace: dict[str, Any]) -> bool:
    """Return True for a class with `tables` that inherits no other evaluation."""
    if not namespace.get("has_tables", True):
        return False  # what measures without the form said in 0.1.0rc1
    if not all(
        "evaluated" in base.__abstractmethods__ for base in bases if isinstance(base, MeasureType)
    ):
        return False
    return "tables" in namespace or any(hasattr(base, "tables") for base in bases)

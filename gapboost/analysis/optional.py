"""Libraries that only some results need: imported when they are used, with a hint where they are missing."""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any


def _imported(module: str, extra: str, purpose: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is needed {purpose}: pip install 'gapboost[{extra}]'") from error


def frame(columns: Mapping[str, Any], index: Iterable[str] = ()) -> Any:
    """A pandas.DataFrame of `columns`, with those named in `index` as its index."""
    table = _imported("pandas", "analysis", "for a pandas view").DataFrame(dict(columns))
    names = list(index)
    return table.set_index(names) if names else table


def axes(ax: Any = None) -> Any:
    """`ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    return _imported("matplotlib.pyplot", "plot", "to plot").subplots(layout="constrained")[1]


def progress(items: Iterable[Any], total: int, shown: bool, label: str) -> Iterable[Any]:
    """`items`, with a progress bar where it is asked for."""
    if not shown:
        return items
    bar: Iterable[Any] = _imported("tqdm.auto", "progress", "to show progress").tqdm(items, total=total, desc=label)
    return bar


def ir_measures() -> Any:
    """The module ir_measures."""
    return _imported("ir_measures", "analysis", "for its measures")

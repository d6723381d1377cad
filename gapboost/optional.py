"""Optional libraries: imported when they are used, with a hint if they are missing."""

import importlib
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import pandas

# As text, because these libraries may be missing.
Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"
DataFrame: TypeAlias = "pandas.DataFrame"


def imported(module: str, extra: str, purpose: str) -> Any:
    """Import a module of a library that may be missing.

    Raises
    ------
    ImportError
        If the library is missing: the message names it, the purpose, and the extra to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} is needed {purpose}: pip install 'gapboost[{extra}]'"
        ) from error


def frame(data: Mapping[str, object] | Sequence[object], index: Iterable[str] = ()) -> DataFrame:
    """Return a pandas.DataFrame of columns, or of rows as mappings.

    The columns named in `index` are its index.
    """
    table = imported("pandas", "analysis", "for a pandas view").DataFrame(data)
    names = list(index)
    return table.set_index(names) if names else table


def tqdm() -> Any:
    """Return the class of all progress bars."""
    return imported("tqdm.auto", "progress", "to show progress").tqdm


@contextmanager
def progress_bar(total: int, show: bool | None, label: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar by a number of its `total` steps.

    With `show` None there is a bar at a terminal or notebook, if tqdm is installed, and not in
    processes of joblib or Dask. Without a bar the function does nothing. Elsewhere, as in a log, a
    bar is written every ten seconds.
    """
    at_screen = sys.stderr.isatty() or "ipykernel.zmqshell" in sys.modules
    if show is None:
        in_worker = multiprocessing.parent_process() is not None
        show = at_screen and not in_worker and find_spec("tqdm") is not None
    if show:
        with tqdm()(total=total, desc=label, mininterval=0.1 if at_screen else 10) as bar:
            yield bar.update
    else:
        yield lambda steps: None


def ir_measures() -> Any:
    """Return the module ir_measures."""
    return imported("ir_measures", "analysis", "for its measures")

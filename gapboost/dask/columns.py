"""Columns and categories that all partitions of a data set must share."""

from typing import Any, NamedTuple

from gapboost._data.features import check_names, feature_names, shortened


class Columns(NamedTuple):
    """Columns that every partition of a data set must have.

    Attributes
    ----------
    width : int
        Number of columns of the training set.
    names : tuple of str
        `feature_names` of the Dask dataframe; empty for an array.
    categories : dict of str to list
        Categories of each categorical column of the Dask dataframe, in order.
    collection : str
        The caller's name of the Dask collection.
    """

    width: int
    names: tuple[str, ...]
    categories: dict[str, list[Any]]
    collection: str

    def check(self, X: Any, name: str) -> None:
        """Raise ValueError if a partition has other columns or categories.

        `name` is the caller's name of the partition.
        """
        metadata = f"the metadata of {self.collection}"
        check_names(feature_names(X), self.names, name, metadata)
        if len(X.shape) != 2 or X.shape[1] != self.width:
            raise ValueError(
                f"{name} has shape {X.shape}; expected {self.width} columns, as in the training set"
            )
        found = categories_of(X)
        for column in self.names:
            here, there = (all_of.get(column) for all_of in (found, self.categories))
            if here != there:
                raise ValueError(
                    f"{name} has the column {column!r} with {_shown(here)}; expected "
                    f"{_shown(there)}, as in {metadata}"
                )


def categories_of(X: Any) -> dict[str, list[Any]]:
    """Return the categories of each categorical column of a pandas or Dask frame, by name."""
    columns = zip(feature_names(X), getattr(X, "dtypes", ()), strict=False)
    return {
        column: dtype.categories.tolist() for column, dtype in columns if str(dtype) == "category"
    }


def width_of(X: Any) -> int:
    """Return the number of columns of a partition."""
    return int(X.shape[1])


def _shown(categories: list[Any] | None) -> str:
    if categories is None:
        return "no categories"
    return f"the categories {', '.join(shortened([repr(one) for one in categories]))}"

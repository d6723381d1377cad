"""The table beside other rankers names what exists, and rows have a cell for each library."""

import inspect
import re
from pathlib import Path

import pytest

import gapboost
import gapboost.analysis
import gapboost.dask
import gapboost.lightgbm
import gapboost.model_selection
import gapboost.xgboost

PAGE = Path(__file__).parents[2] / "docs" / "compared.md"
PLACES = [
    gapboost,
    gapboost.analysis,
    gapboost.dask,
    gapboost.lightgbm,
    gapboost.model_selection,
    gapboost.plotting,
    gapboost.xgboost,
    gapboost.lightgbm.LGBMGAPRanker,
]
# Read, not imported: most environments have no Spark.
INSIDE = (Path(gapboost.__file__).parent / "spark" / "__init__.py").read_text(encoding="utf-8")
SPARK = set(re.findall(r'"(\w+)"', INSIDE.partition("__all__")[2]))
RANKER = gapboost.lightgbm.LGBMGAPRanker
PARAMETERS = {
    name
    for function in (
        RANKER,
        RANKER.fit,
        RANKER.score,
        gapboost.evaluate,
        gapboost.xgboost.objective,
    )
    for name in inspect.signature(function).parameters
}


def rows():
    """The cells of the rows of the tables by steps, without heads."""
    tables = PAGE.read_text(encoding="utf-8").partition("\n## Words that mean the same here")[0]
    for line in tables.splitlines():
        if line.startswith("| ") and not line.startswith("| step"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_every_row_has_a_cell_for_each_library():
    table = list(rows())
    assert len(table) > 30
    assert all(len(row) == 5 and all(row) for row in table)


def test_what_gapboost_is_said_to_have_exists():
    named = [code for row in rows() for code in re.findall(r"`([^`]+)`", row[-1])]
    names = {
        name
        for code in named
        for name in re.findall(r"[A-Za-z_][\w.]*(?!\w*=)", re.sub(r'"[^"]*"', "", code))
    }
    parameters = {name for code in named for name in re.findall(r"(\w+)=", code)}
    names -= parameters | {"qid", "py.typed", "set_", "_request"} | SPARK
    assert {"GSearchCV", "evaluate", "progress", "to_vendor"} <= names
    for name in names:
        assert any(found(place, name.removeprefix("gapboost.")) for place in PLACES), name
    assert {"g", "empty", "qid"} <= parameters <= PARAMETERS


def words(column):
    """Return the words in backticks in one column of the table of words."""
    table = (
        PAGE.read_text(encoding="utf-8")
        .partition("\n## Words that mean the same here")[2]
        .partition("\n## ")[0]
    )
    cells = [line.split("|")[column] for line in table.splitlines() if line.startswith("| ")][1:]
    return {
        re.match(r"\w+", code)[0] for cell in cells for code in re.findall(r"`(\w[^`]*)`", cell)
    }


@pytest.mark.parametrize(
    "ranker", [gapboost.dask.DaskLGBMGAPRanker, gapboost.dask.DaskXGBGAPRanker]
)
def test_the_table_of_words_is_that_of_the_rankers(ranker):
    rules = ranker._parameter_table.rules
    taken = {name for rule in rules if rule.applied is not None for name in rule.names}
    column = 1 if issubclass(ranker, RANKER) else 2
    assert words(column) == taken | {"objective"} | ({"eval_metric"} if column == 2 else set())


def found(place, name):
    for part in name.split("."):
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True

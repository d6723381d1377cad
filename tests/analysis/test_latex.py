"""Results as LaTeX tables: escaped, rounded, and compiled where LaTeX is installed."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import gapboost as gb
from gapboost import analysis
from gapboost._latex import latex_table
from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking

ODD = "a_b & 50% of {x} #1 $~^\\ | <c>"


def values():
    measures = (gb.GAP(g=(0.5, 0.5)), ODD, gb.nDCG(k=10))
    return analysis.SystemValues(
        measures,
        ("a", "b", "c"),
        tuple("12345"),
        np.random.default_rng(0).random((3, 3, 5)).round(4),
    )


def comparison():
    data = load_digits_ranking((20, 20, 20), 10).test
    rankers = {"ridge_1": Ridge(alpha=1.0), "ridge & more": Ridge(alpha=1e5)}
    return compare_rankers(
        data.X, data.y, data.qid, rankers, measures="ndcg@5", cv=2, repeats=1, progress=False
    )


RESULTS = {
    "significance": lambda: analysis.significance(
        [0.5, 0.7, 0.4, 0.2], [0.4, 0.3, 0.5, 0.2], random_state=0
    ),
    "discrimination": lambda: analysis.discriminative_power(values(), random_state=0),
    "correlation": lambda: analysis.correlation(values()),
    "comparison": comparison,
}


@pytest.fixture(scope="module")
def tables():
    return {name: make().to_latex() for name, make in RESULTS.items()}


def cells(table):
    """The cells of each line, whose characters are all escaped."""
    lines = [line for line in table.splitlines() if line.endswith(r" \\")]
    return [re.split(r"(?<!\\)&", line.removesuffix(r" \\")) for line in lines]


def test_every_line_has_all_columns_and_no_character_that_latex_reads(tables):
    for table in tables.values():
        head, *lines = cells(table)
        alignment = re.match(r"\\begin{tabular}{([lr]+)}\n\\toprule\n", table)[1]
        assert {len(line) for line in lines} == {len(head)} == {len(alignment)}
        for cell in np.ravel([head, *lines]):
            plain = re.sub(r"\\text[a-z]+{}|\\[&%$#_{}]|\$([<>|]|-|>-|\\infty)\$", "", cell)
            assert not set("&%$#_{}\\<>|~^") & set(plain), cell


def test_numbers_are_those_of_the_pandas_view(tables):
    for name in ("discrimination", "correlation"):
        result = RESULTS[name]()
        expected = result.to_pandas().to_numpy(dtype=float)
        found = np.array([line[1:] for line in cells(tables[name])[1:]])
        np.testing.assert_allclose(
            np.char.replace(found, "$-$", "-").astype(float), expected, rtol=0, atol=5.1e-4
        )
    (row,) = cells(tables["comparison"])[1:]
    assert [part.strip() for part in row[:3]] == [r"ridge \& more", r"ridge\_1", "ndcg@5"]
    summary = RESULTS["comparison"]().summary()
    assert len(row) == summary.columns.get_loc("verdict") + 1
    assert "queries better & 2 \\\\" in tables["significance"]


@pytest.mark.parametrize(
    ("value", "digits", "cell"),
    [
        (0.12345, 3, "0.123"),
        (-0.12345, 2, "$-$0.12"),
        (0.0, 3, "0.000"),
        (1e-9, 3, "$<$0.001"),
        (-1e-9, 3, "$>-$0.001"),
        (-0.0, 1, "0.0"),
        (0.99999, 3, "1.000"),
        (12, 3, "12"),
        (np.int64(-12), 3, "$-$12"),
        (float("nan"), 3, "--"),
        (-np.inf, 3, r"$-$$\infty$"),
        (2.6, 0, "3"),
        (True, 3, "True"),
        ("two\nlines − one", 3, "two lines $-$ one"),
        (
            ODD,
            3,
            r"a\_b \& 50\% of \{x\} \#1 \$\textasciitilde{}\textasciicircum{}\textbackslash{} $|$ "
            r"$<$c$>$",
        ),
    ],
)
def test_a_cell(value, digits, cell):
    ((_,), (found,)) = cells(latex_table(pd.DataFrame({"x": [value]}, dtype=object), digits))
    assert found == cell


@pytest.mark.parametrize("digits", [-1, 2.5, "3", None, True, 16])
def test_digits_are_a_small_whole_number(digits):
    for make in (RESULTS["significance"], RESULTS["correlation"]):
        with pytest.raises(ValueError, match=f"digits is {digits!r}; expected a whole number"):
            make().to_latex(digits=digits)


def has_booktabs():
    found = shutil.which("kpsewhich") and subprocess.run(
        ["kpsewhich", "booktabs.sty"], capture_output=True, check=False
    )
    return bool(shutil.which("pdflatex") and found and found.returncode == 0)


@pytest.mark.slow
@pytest.mark.skipif(not has_booktabs(), reason="pdflatex or booktabs is not installed")
def test_tables_compile(tables, tmp_path):
    text = "\n\n".join(tables.values())
    document = (
        rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
    )
    (tmp_path / "tables.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "tables.pdf").stat().st_size > 1000

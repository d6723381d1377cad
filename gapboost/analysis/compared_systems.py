"""Tests of all pairs of systems, and the table of systems and measures for a paper."""

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from gapboost.analysis.result import Result, full_labels, generators, short_labels
from gapboost.analysis.significance import TESTS, holm, table_of_pairs, tied_differences
from gapboost.analysis.standard_errors import rounding
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.data import Array
from gapboost.evaluation import PerQuery
from gapboost.measures import DCG, Measure
from gapboost.optional import DataFrame, frame
from gapboost.validation import Seed, as_integer, as_number, one_of, short_repr

# Letters that Unicode has as superscripts.
LETTERS = "abcdefghijklmnoprstuvwxyz"
RAISED = str.maketrans(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")

# Parameters that titles of columns leave out, unless two of them would be the same.
HIDDEN = ("g", "levels", "gains", "k")

NAMES = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "randomization": "paired randomization test",
}


CORRECTIONS: dict[str, Callable[[Array], Array]] = {
    "holm": holm,
    "bonferroni": lambda p: np.minimum(p * len(p), 1.0),
}


class ComparedSystems(Result):
    r"""Result of `compare_systems`; its table has systems as rows and means of measures.

    Attributes
    ----------
    values : SystemValues
    marks : dict {system: letter}
    by_pair : pandas.DataFrame
        One row a measure and pair of systems: ``difference`` of the means, ``p``, ``corrected`` for
        the number of pairs, and ``significant``.
    better_than : dict {(measure, system): str}
        Letters of the systems that are significantly worse.
    note : str
        What letters and bold numbers stand for, and the measures with all parameters.

    Examples
    --------
    >>> from gapboost import analysis
    >>> table = [[[0.9, 0.8, 0.7, 0.6], [0.5, 0.5, 0.2, 0.3]]]
    >>> values = analysis.SystemValues(["ap"], ["new", "old"], list("1234"), table)
    >>> found = analysis.compare_systems(values)
    >>> found.better_than["ap", "new"], r"\textbf{0.750}\textsuperscript{b}" in found.to_latex()
    ('b', True)
    """

    def table(self, decimals: int = 3) -> DataFrame:
        """Return a data frame of text: best means in bold, as in Markdown, and raised letters.

        Titles of columns leave out g and gains, which `note` has, unless two would be the same.
        """
        return self._written(decimals, "**{}**", lambda letters: letters.translate(RAISED))

    def to_latex(
        self, decimals: int = 3, *, caption: str | None = None, label: str | None = None
    ) -> str:
        r"""Return a table of LaTeX, for ``\usepackage{booktabs}``.

        Parameters
        ----------
        decimals : int, default=3
        caption : str, optional
            In LaTeX; None is `note`.
        label : str, optional
            For ``\ref``.
        """
        text = self._written(decimals, r"\textbf{{{}}}", r"\textsuperscript{{{}}}".format)
        styled = text.rename_axis(None).style.format_index(escape="latex")
        styled = styled.format_index(escape="latex", axis=1)
        latex: str = styled.to_latex(
            hrules=True,
            caption=re.sub(r"([&%$#_{}])", r"\\\1", self.note) if caption is None else caption,
            label=label,
            position_float="centering",
            column_format="ll" + "r" * len(self.values.measures),
        )
        return latex

    def _written(self, decimals: int, bold: str, raised: Callable[[str], str]) -> DataFrame:
        decimals = as_integer(decimals, "decimals", 0)
        columns: dict[str, Any] = {"system": self.values.systems, "": [*self.marks.values()]}
        measures = self.values.measures
        of_measures = zip(
            short_labels(measures, HIDDEN), full_labels(measures), self.values.means, strict=True
        )
        for title, measure, means in of_measures:
            best = means >= means.max() - rounding(means)
            columns[title] = []
            for system, mean, is_best in zip(self.values.systems, means, best, strict=True):
                number = f"{mean:.{decimals}f}"
                letters = self.better_than[measure, system]
                columns[title].append(
                    (bold.format(number) if is_best else number)
                    + (raised(letters) if letters else "")
                )
        return frame(columns, ["system"])


def compare_systems(
    values: SystemValues | Mapping[str, PerQuery],
    *,
    test: str = "t",
    correction: str = "holm",
    level: float = 0.05,
    baseline: str | None = None,
    n_resamples: int = 20_000,
    random_state: Seed = None,
) -> ComparedSystems:
    """Test all pairs of systems by each measure, or all systems beside a baseline.

    The step-down correction is S. Holm's, Scandinavian Journal of Statistics 6 (1979). M. Smucker,
    J. Allan and B. Carterette compare the tests for retrieval, CIKM 2007.

    Parameters
    ----------
    values : SystemValues, or dict {system: PerQuery}
        Of two to 25 systems. Results of ``evaluate(..., per_query=True)`` are for the same queries
        in any order, and the same measures.
    test : {"t", "wilcoxon", "sign", "randomization"}, default="t"
        Two-sided test of the differences over topics, as in `significance`.
    correction : {"holm", "bonferroni"}, default="holm"
        For the number of pairs. Each measure is a family of its own.
    level : float, default=0.05
        Of corrected p-values.
    baseline : str, optional
        System that each other is tested against. None tests all pairs.
    n_resamples : int, default=20000
        Of the randomization test.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    ComparedSystems

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable, or systems have other queries or measures.

    Examples
    --------
    >>> from gapboost import analysis
    >>> table = [[[0.9, 0.8, 0.7, 0.6], [0.5, 0.5, 0.2, 0.3], [0.5, 0.4, 0.3, 0.3]]]
    >>> values = analysis.SystemValues(["ap"], ["new", "old", "older"], list("1234"), table)
    >>> found = analysis.compare_systems(values)
    >>> found.by_pair.corrected.round(3).tolist()
    [0.009, 0.002, 1.0]
    >>> print(found.table())  # doctest: +NORMALIZE_WHITESPACE
                         ap
    system
    new     a  **0.750**ᵇᶜ
    old     b        0.375
    older   c        0.375
    """
    values = checked_values(_of_mapping(values) if isinstance(values, Mapping) else values, 2, 2)
    if len(values.systems) > len(LETTERS):
        raise ValueError(
            f"values has {len(values.systems)} systems; expected at most {len(LETTERS)}"
        )
    one_of(test, "test", tuple(TESTS))
    one_of(correction, "correction", tuple(CORRECTIONS))
    level = as_number(level, "level", high=0.5)
    n_resamples = as_integer(n_resamples, "n_resamples")
    (generator,) = generators(random_state, 1)
    numbers = range(len(values.systems))
    pairs = list(itertools.combinations(numbers, 2))
    if baseline is not None:
        other = values.systems.index(one_of(baseline, "baseline", values.systems))
        pairs = [(system, other) for system in numbers if system != other]
    # All tests at once: they share the changes of sign.
    tested = [tied_differences(one[[i, j]]) for one in values.values for i, j in pairs]
    differences, within = (np.array(part) for part in zip(*tested, strict=True))
    shape = (-1, len(pairs))
    labels = full_labels(values.measures)
    p = TESTS[test](differences, within, n_resamples, generator).reshape(shape)
    means = differences.mean(axis=1).reshape(shape)
    corrected = np.array([CORRECTIONS[correction](of_measure) for of_measure in p])
    significant = corrected < level
    better_than = {(label, system): "" for label in labels for system in values.systems}
    for measure, pair in zip(*significant.nonzero(), strict=True):
        better, worse = pairs[pair] if means[measure, pair] > 0 else pairs[pair][::-1]
        better_than[labels[measure], values.systems[better]] += LETTERS[worse]
    columns = {"difference": means, "p": p, "corrected": corrected, "significant": significant}
    of_baseline = "" if baseline is None else f" with {baseline}"
    written = [
        str(one) if isinstance(one, Measure) and _has_main_parameter(one) else label
        for one, label in zip(values.measures, labels, strict=True)
    ]
    note = (
        f"Means over {len(values.topics)} topics, the best in bold. Letters name the systems that "
        f"are significantly worse: {NAMES[test]}, level {level:g}, {correction.capitalize()}"
        f"'s correction for {len(pairs)} pairs{of_baseline}. Measures: {', '.join(written)}."
    )
    if any(getattr(measure, "g", ()) is None for measure in values.measures):
        note += " Where no g is given, it is uniform over the grades that occur."
    if any(isinstance(m, DCG) and m.gains == "exponential" for m in values.measures):
        note += " The gains of DCG and nDCG are exponential where none are given."
    return ComparedSystems(
        {"system": values.systems, **dict(zip(labels, values.means, strict=True))},
        ["system"],
        lambda result, ax: result.values.plot(ax),
        values=values,
        marks=dict(zip(values.systems, LETTERS, strict=False)),
        by_pair=table_of_pairs(
            labels, [(values.systems[i], values.systems[j]) for i, j in pairs], columns
        ),
        better_than=better_than,
        note=note,
    )


def _has_main_parameter(measure: Measure) -> bool:
    """Return True if a measure says little without a parameter that is no cutoff, as RBP's p."""
    return any(f.metadata.get("always_shown") and f.name != "k" for f in fields(measure))


def _of_mapping(results: Mapping[str, Any]) -> SystemValues:
    """Return values of PerQuery by system, in the order of the queries of the first."""
    for name, result in results.items():
        if not isinstance(result, PerQuery):
            found = type(result).__name__
            raise TypeError(
                f"values[{name!r}] is a {found}; expected evaluate(..., per_query=True)"
            )
    if not results:
        raise ValueError("values is empty; expected at least two systems")
    tables = {name: result.to_pandas() for name, result in results.items()}
    reference = next(iter(tables.values()))
    for name, table in tables.items():
        _check_table(table, reference, f"values[{name!r}]")
    aligned = [table.loc[reference.index].to_numpy().T for table in tables.values()]
    measures = next(iter(results.values())).measures
    topics = [str(query) for query in reference.index]
    return SystemValues(measures, list(results), topics, np.swapaxes(aligned, 0, 1))


def _check_table(table: Any, reference: Any, name: str) -> None:
    """Raise ValueError unless a system has numbers for the queries and measures of the first."""
    if [*table] != [*reference]:
        found, expected = f"other measures than the first, {[*table]}", f"{[*reference]}"
    elif others := {*table.index} ^ {*reference.index}:
        only_one = short_repr(sorted(others, key=str))
        found, expected = "other queries than the first", f"the same; only one has {only_one}"
    elif missing := int(table.isna().any(axis=1).sum()):
        found = f"NaN for {missing} queries"
        expected = "numbers: leave these queries out of all systems, or evaluate(..., empty=0)"
    else:
        return
    raise ValueError(f"{name} has {found}; expected {expected}")

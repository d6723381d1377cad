"""`gapboost.report`, and its result: data frames and one HTML page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapboost.analysis.standard_errors import independent
from gapboost.data import Array, ArrayLike, QueryIds
from gapboost.diagnosis.chance import welch
from gapboost.diagnosis.checks import (
    CHECKS,
    FOUND,
    Finding,
    check_ignored,
    run_checks,
    section_of_findings,
    table_of_checks,
)
from gapboost.diagnosis.monitoring import monitor
from gapboost.diagnosis.scored import ScoredDataset, check_columns_alike
from gapboost.evaluation import Values
from gapboost.measures import Measure, Measures
from gapboost.measures.parser import measures_by_name
from gapboost.optional import DataFrame, frame, imported
from gapboost.page import COLORS, PURPOSE, write_page
from gapboost.validation import PathLike, as_integer, one_dimensional

DEFAULT_MEASURES = ("ndcg@10", "gap", "map")

# Page of the documentation with a section for each check.
GUIDE = "docs/guide/report.md"

# Documents of a worst query: the first ones, and later ones of the highest grades.
SHOWN_RANKS = 5
SHOWN_MISSED = 2


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Result of `gapboost.report`.

    Attributes
    ----------
    ranker : object with `predict`
    test : ScoredDataset
    training : ScoredDataset or None
    findings : dict {id of a check: Finding}
    document_ids : ndarray of shape (N,), or None
        In grouped order.
    n_worst : int
    measures : dict {name: Measure}
        As they were given.

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = gb.report(ranker, test.X, test.y, test.qid, measures=["gap", "ndcg@10"])
    >>> found.checks.loc["shared-queries", "status"]
    'not applicable'
    >>> found.values.index.tolist()
    ['gap', 'ndcg@10']
    """

    ranker: Any
    test: ScoredDataset
    training: ScoredDataset | None
    findings: Mapping[str, Finding]
    document_ids: Array | None
    n_worst: int
    measures: Mapping[str, Measure]

    def __repr__(self) -> str:
        found = [name for name, finding in self.findings.items() if finding.status == FOUND]
        return f"Report({len(self.test.ids)} test queries; found: {', '.join(found) or 'nothing'})"

    @cached_property
    def checks(self) -> DataFrame:
        """Data frame with one row a check.

        ``status`` is "found", "passed", "not applicable" or "ignored". ``message`` says what was
        found, or why the check does not apply. ``value`` is compared with ``threshold``. ``link``
        names the page of the documentation.
        """
        return table_of_checks(self.findings, GUIDE)

    @cached_property
    def values(self) -> DataFrame:
        """Data frame with the mean of each measure over the test queries, and its 95% interval.

        With training data also ``training``, the mean over the training queries, and
        ``difference``, test minus training, with its interval.
        """
        rows = []
        for name, here in self.test.values.items():
            mean = independent(here)
            low, high = mean.interval()
            row = {"measure": name, "value": mean.mean, "low": low, "high": high}
            if self.training:
                there = self.training.values[name]
                low, high = welch(here, there).confidence_interval()
                row |= {"training": there.mean(), "difference": here.mean() - there.mean()}
                row |= {"difference low": low, "difference high": high}
            rows.append(row)
        return frame(rows, ["measure"])

    def by_label(self) -> dict[str, float]:
        """Return the means over the test queries as `gapboost.evaluate` names them for MLflow."""
        means = self.values["value"]
        found = {measure: float(means[name]) for name, measure in self.measures.items()}
        return Values(found).by_label()

    @cached_property
    def queries(self) -> DataFrame:
        """Data frame with one row for each test query: counts of documents, and each measure.

        The counts are of all, relevant and judged documents.
        """
        test = self.test
        judged = test.total(test.has_grade).astype(np.int64)
        counts = {"documents": test.sizes, "relevant": test.relevant, "judged": judged}
        return frame({"qid": list(test.ids), **counts, **test.values}, ["qid"])

    @cached_property
    def documents(self) -> DataFrame:
        """Data frame with documents of the worst queries by the first measure.

        They are the first five of each query, and later ones of the highest grades. ``row`` is a
        row of `X`, counted from 0. Queries of one grade are left out.
        """
        test = self.test
        columns = {
            "qid": list(test.ids[test.numbers]),
            "rank": test.ranks,
            "row": test.rows,
            "score": test.scores,
            "grade": np.where(test.has_grade, test.grades, np.nan),
        }
        if self.document_ids is not None:
            columns["document"] = list(self.document_ids)
        table = frame(columns)
        order = np.argsort(test.values[test.measure], kind="stable")
        places = []
        for query in order[test.has_mixed_grades[order]][: self.n_worst]:
            ranked = table[test.numbers == query].sort_values("rank")
            later = ranked[SHOWN_RANKS:]
            missed = later[later["grade"] > 0].nlargest(SHOWN_MISSED, "grade")
            places += [*ranked.index[:SHOWN_RANKS], *missed.sort_values("rank").index]
        return table.loc[places].set_index(["qid", "rank"])

    def to_html(self, path: PathLike) -> None:
        """Write one HTML file with plots, readable offline; needs jinja2 and matplotlib.

        Parameters
        ----------
        path : path
            Of the HTML page.
        """
        checks = self.checks.drop(columns="link")
        # Four digits, not four decimals: 0.00001 is no 0.
        for name in ("value", "threshold"):
            checks[name] = [f"{value:.4g}" if value == value else "" for value in checks[name]]
        measures = [f"{name} is {measure}." for name, measure in self.test.measures.items()]
        reading = f"Means over queries, with 95% intervals for this ranker. {' '.join(measures)}"
        worst = {}
        for qid, table in self.documents.reset_index().groupby("qid", sort=False):
            judged = [f"{grade:g}" if grade == grade else "not judged" for grade in table["grade"]]
            heading = f"Query {qid}: {self.test.measure} {self.queries[self.test.measure][qid]:.4f}"
            worst[heading] = [table.drop(columns="qid").assign(grade=judged)]
        sections = {
            "Findings": section_of_findings(checks, GUIDE, "fault"),
            "Values": [self.values, reading, [self._histogram(one) for one in self.test.measures]],
            "Worst queries": [worst or "No query holds documents of different grades."],
            "All checks": [checks],
            "Ranker": [repr(self.ranker)],
        }
        write_page(path, "What is wrong with this ranker?", sections)

    def _histogram(self, name: str) -> Any:
        """Return a plot of the shares of queries by their value."""
        figures = imported("matplotlib.figure", "plot", PURPOSE)
        figure = figures.Figure(figsize=(4.0, 2.4), layout="constrained")
        ax, parts = figure.subplots(), {"test": self.test, "training": self.training}
        values = {label: rows.values[name] for label, rows in parts.items() if rows}
        shares = [np.full(len(of_part), 1 / len(of_part)) for of_part in values.values()]
        colors = COLORS[: len(values)]
        ax.hist(values.values(), weights=shares, label=list(values), color=colors)
        ax.axvline(values["test"].mean(), color="black", label="mean of test")
        ax.set(title=name, xlabel="value of a query", ylabel="share of queries")
        ax.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
        return figure


def report(
    ranker: object,
    X: object,
    y: ArrayLike | None = None,
    qid: QueryIds = None,
    *,
    X_train: object = None,
    y_train: ArrayLike | None = None,
    qid_train: QueryIds = None,
    measures: Measures = DEFAULT_MEASURES,
    documents: ArrayLike | None = None,
    n_worst: int = 3,
    ignore: Sequence[str] = (),
) -> Any:
    """Diagnose a fitted ranker on test queries: twelve checks, values, and the worst queries.

    Without grades, compare new queries with those of training: eight checks.

    Parameters
    ----------
    ranker : fitted ranker with `predict`, or Pipeline that ends in one
        Of any library; a Booster of LightGBM or XGBoost too.
    X : array-like of shape (N, n_features)
        Features of the test queries, as the ranker or the pipeline takes them. A data frame may
        hold the query ids in a column ``qid``.
    y : array-like of shape (N,)
        Grades. NaN marks an unjudged document, which counts as grade 0. Of several labels, pass
        one. None compares `X` with `X_train` alone.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    X_train, y_train, qid_train : array-like, optional
        Rows that the ranker was trained on. Four checks need them. Without `y`, leave out
        `y_train`; rows that are like those of training but were held out serve better then.
    measures : str, Measure or sequence of them, optional
        By default ``("ndcg@10", "gap", "map")``. The first one decides in checks and
        the worst queries. An open g is uniform over the grades that occur in `y` and `y_train`.
    documents : array-like of shape (N,), optional
        Id of the document of each row, to be shown for the worst queries.
    n_worst : int, default=3
        Number of worst queries to show.
    ignore : sequence of str
        Ids of checks to skip, such as ``["ties"]``.

    Returns
    -------
    Report, or Monitoring without `y`

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    NotFittedError
        Before `fit`.

    Notes
    -----
    Intervals are Student's t over queries, for one fitted ranker. The guide has a section for each
    check: what it means, and the reason of its threshold.

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> gb.report(ranker, test.X, test.y, test.qid, ignore=["ties"]).checks.loc["ties", "status"]
    'ignored'
    """
    if y is None:
        given: dict[str, object] = {"y_train": y_train, "documents": documents}
        given["measures"] = None if measures == DEFAULT_MEASURES else measures
        if named := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"y is None, and {', '.join(named)} is given; expected grades")
        return monitor(ranker, X, qid, X_train, qid_train, ignore)
    check_ignored(ignore, CHECKS)
    n_worst = as_integer(n_worst, "n_worst")
    by_name = measures_by_name(measures)
    wanted = [*by_name.values()]
    test, training = ScoredDataset(ranker, X, y, qid, wanted), None
    if any(part is not None for part in (X_train, y_train, qid_train)):
        names_of_training = {name: f"{name}_train" for name in ("X", "y", "qid")}
        training = ScoredDataset(ranker, X_train, y_train, qid_train, wanted, names_of_training)
        check_columns_alike(test, training)
    parts = [test, training] if training else [test]
    occurring = np.unique(np.concatenate([rows.data.occurring for rows in parts]))
    for rows in parts:
        rows.measure_by({name: one.resolved(occurring) for name, one in by_name.items()})
    if documents is not None:
        documents = one_dimensional(documents, "documents")
        if len(documents) != len(test.scores):
            found, expected = len(documents), len(test.scores)
            raise ValueError(f"documents has {found} rows; expected {expected}, as X")
        documents = test.data.queries.grouped(documents)
    findings = run_checks(CHECKS, ignore, test, training)
    return Report(ranker, test, training, findings, documents, n_worst, by_name)

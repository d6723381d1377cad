"""`Report`: checks, values, queries, slices and documents as data frames, and one HTML page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapboost._data.features import rows_of
from gapboost._kernels import Array
from gapboost._optional import frame, imported
from gapboost._page import PURPOSE, Section, write_page
from gapboost._pictures import COLORS
from gapboost.analysis.estimates import independent, unpaired
from gapboost.diagnosis.finding import FOUND, GUIDE, Finding
from gapboost.diagnosis.rows import Subject
from gapboost.explain import contributions, model_and_table

# Documents of a worst query: the first ones, and later ones of the highest grades.
SHOWN_RANKS = 5
SHOWN_MISSED = 2
SHOWN_REASONS = 3

# Columns of numbers with more different values become quarters of the queries.
MOST_GROUPS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Result of `gapboost.report`.

    Attributes
    ----------
    subject : Subject
        Scores, queries and measures.
    findings : dict {id of a check: Finding}
    columns : dict {name: ndarray of shape (Q,)}
        Values of the queries for `slices`.
    document_ids : ndarray of shape (N,), or None
        In grouped order.
    n_worst : int

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

    subject: Subject
    findings: Mapping[str, Finding]
    columns: Mapping[str, Array]
    document_ids: Array | None
    n_worst: int

    def __repr__(self) -> str:
        found = [name for name, finding in self.findings.items() if finding.status == FOUND]
        queries, found_by = len(self.subject.test.ids), ", ".join(found) or "nothing"
        return f"Report({queries} test queries; found: {found_by})"

    @cached_property
    def checks(self) -> Any:
        """Data frame with one row a check.

        ``status`` is "found", "passed", "not applicable" or "ignored". ``message`` says what was
        found, or why the check does not apply. ``value`` is compared with ``threshold``. ``link``
        leads to the guide.
        """
        rows = [(name, *finding, f"{GUIDE}#{name}") for name, finding in self.findings.items()]
        return _table(("check", *Finding._fields, "link"), rows, ["check"])

    @cached_property
    def values(self) -> Any:
        """Data frame with the mean of each measure over the test queries, and its 95% interval.

        With training data also ``training``, the mean over the training queries, and
        ``difference``, test minus training, with its interval.
        """
        names, rows = ["measure", "value", "low", "high"], []
        if self.subject.there:
            names += ["training", "difference", "difference low", "difference high"]
        for name, values in self.subject.here.items():
            mean = independent(values)
            row = [name, mean.mean, *mean.interval()]
            if self.subject.there:
                there = self.subject.there[name]
                difference = unpaired(values, there)
                row += [float(there.mean()), difference.mean, *difference.interval()]
            rows.append(row)
        return _table(names, rows, ["measure"])

    @cached_property
    def queries(self) -> Any:
        """Data frame with one row for each test query: counts of documents, and each measure.

        The counts are of all, relevant and judged documents.
        """
        test = self.subject.test
        counts = {"documents": test.sizes, "relevant": test.relevant}
        judged = test.total(test.has_grade).astype(np.int64)
        columns = {"qid": list(test.ids), **counts, "judged": judged, **self.subject.here}
        return frame(columns, ["qid"])

    @cached_property
    def slices(self) -> Any:
        """Data frame with the first measure and its 95% interval for groups of test queries.

        Groups are made by list length, by number of relevant documents, and by the columns of the
        caller.
        """
        test, name = self.subject.test, self.subject.measure
        by = {"documents": test.sizes, "relevant documents": test.relevant, **self.columns}
        rows = []
        for column, of_queries in by.items():
            for label, chosen in _groups(of_queries):
                values = self.subject.here[name][chosen]
                interval = independent(values).interval() if len(values) > 1 else (np.nan, np.nan)
                rows.append((column, label, len(values), float(values.mean()), *interval))
        names = ("slice", "group", "queries", name, "low", "high")
        return _table(names, rows, ["slice", "group"])

    @cached_property
    def documents(self) -> Any:
        """Data frame with documents of the worst queries by the first measure.

        They are the first five of each query, and later ones of the highest grades. ``row`` is a
        row of `X`, counted from 0. Queries of one grade are left out.
        """
        test = self.subject.test
        places = [place for ranked in self._worst.values() for place in self._shown(ranked)]
        columns = {
            "qid": list(test.ids[test.numbers[places]]),
            "rank": test.ranks[places],
            "row": test.rows[places],
            "score": test.scores[places],
            "grade": np.where(test.has_grade, test.grades, np.nan)[places],
        }
        if self.document_ids is not None:
            columns["document"] = list(self.document_ids[places])
        return frame(columns, ["qid", "rank"])

    @cached_property
    def reasons(self) -> dict[Any, str]:
        """Sentences ``{query id: sentence}`` for worst queries whose first document is wrong.

        Each names the features that put it above one of a higher grade. Empty for rankers without
        contributions.
        """
        test, sentences = self.subject.test, {}
        try:
            model, table, names = model_and_table(self.subject.ranker, test.X, test.qid)
            for query, ranked in self._worst.items():
                best = ranked[int(np.argmax(test.grades[ranked]))]
                upper, lower = pair = test.rows[[ranked[0], best]]
                above, below = contributions(model, rows_of(table, pair)).values
                difference = above - below
                largest = [
                    f"{names[one]} ({difference[one]:+.3g})"
                    for one in np.argsort(-difference)[:SHOWN_REASONS]
                    if difference[one] > 0
                ]
                if largest:
                    sentences[query] = (
                        f"Row {upper} is above row {lower}, of a higher grade, by "
                        f"{', '.join(largest)}."
                    )
        except (TypeError, ValueError):
            # Neither LightGBM nor XGBoost, or a model without contributions.
            return {}
        return sentences

    @cached_property
    def _worst(self) -> dict[Any, Array]:
        """Places of the documents of the worst queries that hold different grades, by rank."""
        test = self.subject.test
        order = np.argsort(self.subject.here[self.subject.measure], kind="stable")
        worst = {}
        for query in order[test.contrasts[order]][: self.n_worst]:
            places = np.flatnonzero(test.numbers == query)
            worst[test.ids[query]] = places[np.argsort(test.ranks[places])]
        return worst

    def _shown(self, ranked: Array) -> Array:
        """Return the first documents of a query, and the highest grades among the others."""
        grades = self.subject.test.grades
        later = ranked[SHOWN_RANKS:]
        missed = later[np.argsort(-grades[later], kind="stable")][:SHOWN_MISSED]
        chosen = np.isin(ranked, [*ranked[:SHOWN_RANKS], *missed[grades[missed] > 0]])
        return ranked[chosen]

    def to_html(self, path: Any) -> None:
        """Write one HTML file with pictures, readable offline; needs jinja2 and matplotlib.

        Parameters
        ----------
        path : path
            Ends with ``.html``.

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        checks = self.checks.reset_index().drop(columns="link")
        # Four digits, not four decimals: 0.00001 is no 0.
        for name in ("value", "threshold"):
            checks[name] = [f"{value:.4g}" if value == value else "" for value in checks[name]]
        found = checks.loc[checks["status"] == FOUND, ["check", "message"]]
        made = checks["status"].isin((FOUND, "passed")).sum()
        measures = [f"{name} is {measure}." for name, measure in self.subject.measures.items()]
        worst = [self._worst_section(qid) for qid in self._worst]
        summary = f"{len(found)} of {made} checks that were made found a fault."
        findings = [summary, *([found] if len(found) else []), f"What each check means: {GUIDE}"]
        pictures = [self._histogram(name) for name in self.subject.measures]
        reading = (
            "Means over queries, with 95% intervals; ties count their expected value. Intervals "
            f"count queries, not other trainings of the ranker. {' '.join(measures)}"
        )
        sections = [
            Section("Findings", findings),
            Section("Values", [self.values, reading, pictures]),
            Section("Slices", [self.slices.reset_index()]),
            Section("Worst queries", worst or ["No query holds documents of different grades."]),
            Section("All checks", [checks]),
            Section("Ranker", [f"{self.subject.ranker!r}"]),
        ]
        write_page(path, "What is wrong with this ranker?", sections)

    def _worst_section(self, qid: Any) -> Section:
        name, table = self.subject.measure, self.documents.xs(qid, level="qid").reset_index()
        judged = [f"{grade:g}" if grade == grade else "not judged" for grade in table["grade"]]
        heading = f"Query {qid}: {name} {self.queries[name][qid]:.4f}"
        sentence = [self.reasons[qid]] if qid in self.reasons else []
        return Section(heading, [table.assign(grade=judged), *sentence])

    def _histogram(self, name: str) -> Any:
        """Return a picture of the shares of queries by their value."""
        figures = imported("matplotlib.figure", "plot", PURPOSE)
        figure = figures.Figure(figsize=(4.0, 2.4), layout="constrained")
        ax, test = figure.subplots(), self.subject.here[name]
        bounds = np.linspace(min(0.0, test.min()), max(1.0, test.max()), 11)
        ax.hist(
            test, bounds, weights=np.full(len(test), 1 / len(test)), color=COLORS[0], label="test"
        )
        if self.subject.there:
            training = self.subject.there[name]
            style = {"histtype": "step", "linestyle": "--", "color": COLORS[1], "linewidth": 1.5}
            shares = np.full(len(training), 1 / len(training))
            ax.hist(training, bounds, weights=shares, label="training", **style)
        ax.axvline(test.mean(), color="black", label="mean")
        ax.set(title=name, xlabel="value of a query", ylabel="share of queries")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return figure


def _table(names: Any, rows: Any, index: list[str]) -> Any:
    return frame(dict(zip(names, zip(*rows, strict=True), strict=True)), index)


def _groups(column: Array) -> list[tuple[str, Array]]:
    """Return a label and a mask of queries for each group."""
    distinct = np.unique(column)
    if column.dtype.kind not in "biuf":
        return [(str(value), column == value) for value in distinct]
    if len(distinct) <= MOST_GROUPS:
        return [(f"{value:g}", column == value) for value in distinct]
    number = np.searchsorted(np.quantile(column, (0.25, 0.5, 0.75)), column)
    masks = [number == one for one in np.unique(number)]
    ends = [(column[mask].min(), column[mask].max()) for mask in masks]
    labels = [f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g}" for low, high in ends]
    return list(zip(labels, masks, strict=True))

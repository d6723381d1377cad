"""`Report`: checks, values, queries, slices and documents as data frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost._pages.page import Page, checked_path
from gapboost.analysis.estimates import independent, unpaired
from gapboost.diagnosis import page
from gapboost.diagnosis.checks import CheckResult
from gapboost.diagnosis.queries import distribution, document_table, query_table, reasons
from gapboost.diagnosis.slices import slice_table
from gapboost.diagnosis.subject import Subject


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Result of `gapboost.report`.

    Attributes
    ----------
    subject : Subject
        Scores, queries and measures.
    results : list of CheckResult
    columns : dict {name: ndarray of shape (Q,)}
        Values of the queries for `slices`.
    source : str
        Sentences about the files that were read; empty for data in memory.

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
    results: Sequence[CheckResult]
    columns: Mapping[str, Array]
    source: str = ""

    def __repr__(self) -> str:
        found = [result.id for result in self.results if result.found]
        return (
            f"Report({len(self.subject.test.queries)} test queries; found: "
            f"{', '.join(found) or 'nothing'})"
        )

    @cached_property
    def checks(self) -> Any:
        """Data frame with one row a check.

        ``status`` is "found", "passed", "not applicable" or "ignored". ``message`` says what was
        found, or why the check does not apply. ``value`` is compared with ``threshold``. ``link``
        leads to the guide.
        """
        findings = [result.finding for result in self.results]
        columns = {
            "check": [result.id for result in self.results],
            "status": [finding.status for finding in findings],
            "message": [finding.message for finding in findings],
            "value": [finding.value for finding in findings],
            "threshold": [finding.threshold for finding in findings],
            "link": [result.link for result in self.results],
        }
        return frame(columns, ["check"])

    @cached_property
    def values(self) -> Any:
        """Data frame with the mean of each measure over the test queries, and its 95% interval.

        With training data also ``training``, the mean over the training queries, and
        ``difference``, test minus training, with its interval.
        """
        subject = self.subject
        here = {name: subject.values(subject.test, name) for name in subject.measures}
        estimates = [independent(values) for values in here.values()]
        columns: dict[str, Any] = {"measure": list(here), "value": [one.mean for one in estimates]}
        columns["low"], columns["high"] = zip(*(one.interval() for one in estimates), strict=True)
        if subject.training is not None:
            there = {name: subject.values(subject.training, name) for name in here}
            differences = [unpaired(here[name], there[name]) for name in here]
            columns["training"] = [float(values.mean()) for values in there.values()]
            columns["difference"] = [one.mean for one in differences]
            bounds = zip(*(one.interval() for one in differences), strict=True)
            columns["difference low"], columns["difference high"] = bounds
        return frame(columns, ["measure"])

    @cached_property
    def distribution(self) -> Any:
        """Data frame with quantiles of each measure over the test queries."""
        return distribution(self.subject)

    @cached_property
    def queries(self) -> Any:
        """Data frame with one row for each test query: counts of documents, and each measure.

        The counts are of all, relevant and judged documents.
        """
        return query_table(self.subject)

    @cached_property
    def slices(self) -> Any:
        """Data frame with the first measure and its 95% interval for groups of test queries."""
        return slice_table(self.subject, self.columns)

    @cached_property
    def documents(self) -> Any:
        """Data frame with documents of the three worst and the three best queries.

        The first measure decides which these are.

        The first five documents of each query, and later ones of the highest grades. ``row`` is a
        row of `X`, counted from 0. Queries of one grade are left out.
        """
        return document_table(self.subject)

    @cached_property
    def reasons(self) -> list[str]:
        """Sentences, one for each worst query.

        Each names the features that put a document above one of a higher grade.

        Empty for rankers other than those of LightGBM and XGBoost.
        """
        return reasons(self.subject)

    def to_html(self, path: Any) -> None:
        """Write one HTML file with pictures, readable offline; needs matplotlib.

        Parameters
        ----------
        path : path
            Ends with ``.html``.

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        self._page().write(checked_path(path, (".html",)))

    def to_markdown(self) -> str:
        """Return Markdown, without pictures."""
        return self._page().markdown()

    def _page(self) -> Page:
        return page.page_of(self)

    def write(self, path: Path) -> None:
        """Write HTML or Markdown, by the ending of `path`."""
        self._page().write(path)

"""The result as a page: headings, paragraphs, tables and pictures."""

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from gapboost._pages.blocks import Block, Heading, Link, Paragraph, Pictures, Table
from gapboost._pages.described import describe, versions
from gapboost._pages.page import Page
from gapboost._pages.svg import svg
from gapboost._pages.text import signed
from gapboost.diagnosis.finding import FOUND, IGNORED, NOT_APPLICABLE, PASSED, counted
from gapboost.diagnosis.picture import histogram
from gapboost.diagnosis.subject import Subject

if TYPE_CHECKING:
    from gapboost.diagnosis.report_result import Report

TITLE = "What is wrong with this ranker?"


def page_of(report: "Report") -> Page:
    """Return the page of a report."""
    subject = report.subject
    key = (
        "Share of test queries by value; the line is their mean."
        + " Dashed: training queries." * (subject.training is not None)
    )
    sections: list[tuple[str, list[Block]]] = [
        ("Findings", [Paragraph(summarize_report(report)), *_findings(report)]),
        (
            "Values",
            [
                value_table(report),
                Paragraph(_reading(subject)),
                Pictures(partial(_pictures, subject), key),
            ],
        ),
        ("Queries", [Paragraph(summarize_data(subject)), _distribution(report)]),
        ("Slices", [_slices(report)]),
        ("Worst queries", _extremes(report, "worst")),
        ("Best queries", _extremes(report, "best")),
        ("All checks", [check_table(report)]),
        ("Settings", _settings(report)),
    ]
    return Page(TITLE, sections)


def summarize_report(report: "Report") -> str:
    """Return a sentence with the number of checks by their status."""
    status = Counter(result.finding.status for result in report.results)
    made = status[FOUND] + status[PASSED]
    text = f"{status[FOUND]} of {counted(made, 'check')} found a fault."
    text += (
        f" {counted(status[NOT_APPLICABLE], 'check')} did not apply."
        if status[NOT_APPLICABLE]
        else ""
    )
    text += f" {counted(status[IGNORED], 'check')} skipped." if status[IGNORED] else ""
    return text


def summarize_data(subject: Subject) -> str:
    """Return a sentence with the numbers of documents, queries, features and grades."""
    test = subject.test
    grades = test.data.grades
    text = (
        f"{len(grades):,} documents of {len(test.queries):,} test queries with "
        f"{len(test.features.names):,} features and grades from {grades.min():g} to "
        f"{grades.max():g}. {test.has_grade.mean():.0%} of the documents have a grade."
    )
    if subject.training is not None:
        training = subject.training
        text += (
            f" {len(training.scores):,} documents of "
            f"{counted(len(training.queries), 'training query', 'training queries')}."
        )
    return text


def _findings(report: "Report") -> list[Block]:
    rows: list[list[str | Link]] = [
        [Link(one.id, one.link), one.finding.message] for one in report.results if one.found
    ]
    return [Table(["check", "what was found"], rows, words=2)] if rows else []


def check_table(report: "Report") -> Table:
    """Return all checks with their status."""
    rows: list[list[str | Link]] = []
    for one in report.results:
        found = one.finding
        numbers = [_number(found.value), _number(found.threshold)]
        rows.append([Link(one.id, one.link), found.status, found.message, *numbers])
    return Table(["check", "status", "message", "value", "threshold"], rows, words=3)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}".replace("-", "−")


def value_table(report: "Report") -> Table:
    """Return the means of the measures on test and training data."""
    trained = report.subject.training is not None
    head = [
        "measure",
        "test",
        "95% interval",
        *(["training", "difference", "95% interval"] if trained else []),
    ]
    rows = []
    for name, row in report.values.iterrows():
        cells = [str(name), f"{row['value']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"]
        if trained:
            bounds = f"{signed(row['difference low'])} to {signed(row['difference high'])}"
            cells += [f"{row['training']:.4f}", signed(row["difference"]), bounds]
        rows.append(cells)
    return Table(head, rows)


def _reading(subject: Subject) -> str:
    measures = "; ".join(f"{name} is {measure}" for name, measure in subject.measures.items())
    return (
        "Means over queries; ties count their expected value. Intervals count queries, not other "
        f"trainings of the ranker. {measures}."
    )


def _pictures(subject: Subject) -> list[str]:
    drawn = []
    for name in subject.measures:
        training = None if subject.training is None else subject.values(subject.training, name)
        draw = partial(
            histogram, name=name, test=subject.values(subject.test, name), training=training
        )
        drawn.append(svg(draw, 2.4, name))
    return drawn


def _distribution(report: "Report") -> Table:
    table = report.distribution
    rows = [
        [str(name), *(f"{value:.4f}" for value in row)]
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return Table(["measure", *table.columns], rows)


def _slices(report: "Report") -> Table:
    rows = []
    for (name, group), row in report.slices.iterrows():
        measure, low, high = (row[column] for column in (report.subject.measure, "low", "high"))
        interval = "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
        rows.append([str(name), str(group), f"{int(row['queries']):,}", f"{measure:.4f}", interval])
    return Table(
        ["slice", "group", "queries", report.subject.measure, "95% interval"], rows, words=2
    )


def _extremes(report: "Report", kind: str) -> list[Block]:
    """Return a heading and a table of documents for each of the worst or best queries."""
    table = report.documents
    table = table[table.index.get_level_values("kind") == kind].reset_index()
    if not len(table):
        return [Paragraph("No test query holds documents of different grades.")]
    sentences = report.reasons if kind == "worst" else []
    name = report.subject.measure
    blocks: list[Block] = []
    for number, (qid, rows) in enumerate(table.groupby("qid", sort=False)):
        blocks.append(Heading(f"Query {qid}: {name} {report.queries[name][qid]:.4f}"))
        cells = [_document(row) for _, row in rows.iterrows()]
        blocks.append(Table(["rank", "row of X", "score", "grade"], cells, words=0))
        if number < len(sentences) and sentences[number]:
            blocks.append(Paragraph(sentences[number]))
    return blocks


def _document(row: Any) -> list[str]:
    grade = "not judged" if math.isnan(row["grade"]) else f"{row['grade']:g}"
    return [
        f"{int(row['rank']):,}",
        f"{int(row['row'])}",
        f"{row['score']:.4f}".replace("-", "−"),
        grade,
    ]


def _settings(report: "Report") -> list[Block]:
    lines = [report.source, describe_ranker(report.subject.ranker), versions()]
    return [Paragraph(line) for line in lines if line]


def describe_ranker(ranker: Any) -> str:
    """Return the class and parameters of an estimator, and the class alone of any other ranker."""
    return describe(ranker) if hasattr(ranker, "get_params") else type(ranker).__name__

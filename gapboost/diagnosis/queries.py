"""One row a query; the worst and the best queries with their documents."""

from typing import Any

import numpy as np

from gapboost._data.features import rows_of
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.diagnosis.subject import Subject
from gapboost.explain import contributions, model_and_table

SHOWN_QUERIES = 3
SHOWN_RANKS = 5
SHOWN_MISSED = 2
SHOWN_REASONS = 3
QUANTILES = {
    "min": 0.0,
    "10%": 0.1,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "90%": 0.9,
    "max": 1.0,
}


def query_table(subject: Subject) -> Any:
    """Return a data frame with one row a test query."""
    test = subject.test
    columns = {
        "qid": list(test.queries.ids),
        "documents": test.queries.sizes,
        "relevant": test.relevant,
        "judged": test.total(test.has_grade).astype(np.int64),
        **{name: subject.values(test, name) for name in subject.measures},
    }
    return frame(columns, ["qid"])


def distribution(subject: Subject) -> Any:
    """Return a data frame with quantiles of each measure over the test queries."""
    values = {name: subject.values(subject.test, name) for name in subject.measures}
    columns: dict[str, Any] = {"measure": list(values)}
    for name, level in QUANTILES.items():
        columns[name] = [float(np.quantile(one, level)) for one in values.values()]
    columns["share of 0"] = [float((one == 0).mean()) for one in values.values()]
    return frame(columns, ["measure"])


def extreme_queries(subject: Subject) -> dict[str, Array]:
    """Return the numbers of the worst and of the best queries that hold different grades."""
    values = subject.values(subject.test, subject.measure)
    order = np.argsort(values, kind="stable")
    order = order[subject.test.contrasts[order]]
    worst = order[:SHOWN_QUERIES]
    best = order[::-1][:SHOWN_QUERIES]
    return {"worst": worst, "best": best[~np.isin(best, worst)]}


def document_table(subject: Subject) -> Any:
    """Return a data frame with the first documents of the worst and best queries.

    Documents of the highest grades that are ranked later are included.
    """
    test = subject.test
    kinds: list[str] = []
    places: list[int] = []
    for kind, queries in extreme_queries(subject).items():
        shown = [place for query in queries for place in _shown(subject, query)]
        kinds += [kind] * len(shown)
        places += shown
    grades = np.where(test.has_grade, test.data.grades, np.nan)
    columns = {
        "kind": kinds,
        "qid": list(test.queries.ids[test.numbers[places]]),
        "rank": test.ranks[places],
        "row": test.rows[places],
        "score": test.scores[places],
        "grade": grades[places],
    }
    return frame(columns, ["kind", "qid", "rank"])


def _shown(subject: Subject, query: int) -> list[int]:
    """Return the first documents of a query, and the highest grades among the others, by rank."""
    test = subject.test
    places = np.arange(test.queries.offsets[query], test.queries.offsets[query + 1])
    places = places[np.argsort(test.ranks[places])]
    later = places[SHOWN_RANKS:]
    missed = later[np.lexsort((test.ranks[later], -test.data.grades[later]))][:SHOWN_MISSED]
    missed = missed[test.data.grades[missed] > 0]
    return [*places[:SHOWN_RANKS].tolist(), *missed[np.argsort(test.ranks[missed])].tolist()]


def reasons(subject: Subject) -> list[str]:
    """Return a sentence for each worst query.

    It names the features that put a document above one of a higher grade.

    Empty for a ranker without contributions.
    """
    pairs = [_wrong_pair(subject, query) for query in extreme_queries(subject)["worst"]]
    places = [place for pair in pairs for place in pair]
    if not places:
        return []
    test = subject.test
    try:
        model, table, names = model_and_table(subject.ranker, test.X, test.qid)
        found = contributions(model, rows_of(table, test.rows[places]))
    except (TypeError, ValueError):
        # Neither LightGBM nor XGBoost, or a model without contributions.
        return []
    sentences, used = [], 0
    for pair in pairs:
        if not pair:
            sentences.append("")
            continue
        difference = found.values[used] - found.values[used + 1]
        used += 2
        order = np.argsort(-difference)[:SHOWN_REASONS]
        largest = ", ".join(
            f"{names[one]} ({difference[one]:+.3g})" for one in order if difference[one] > 0
        )
        upper, lower = test.rows[list(pair)]
        sentences.append(
            f"Row {upper} is above row {lower}, of a higher grade, by {largest}." if largest else ""
        )
    return sentences


def _wrong_pair(subject: Subject, query: int) -> tuple[int, ...]:
    """Return the first document and the one of the highest grade.

    The result is empty if the first document has that grade.
    """
    test = subject.test
    places = np.arange(test.queries.offsets[query], test.queries.offsets[query + 1])
    places = places[np.argsort(test.ranks[places])]
    best = places[int(np.argmax(test.data.grades[places]))]
    return (int(places[0]), int(best)) if best != places[0] else ()

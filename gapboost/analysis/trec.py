"""TREC judgments and runs: files, and rankings for measures and analyses.

Judgments are ``{topic: {document: grade}}`` and runs ``{topic: {document: score}}``, as ir_measures
takes them too. The rules, where they leave something open:

* A judgment of 0 or less is not relevant, and so is a document without a judgment.
* Relevant documents that a run did not retrieve count: the recall base comes from the judgments.
* A topic with judgments but no documents in the run has an empty ranking, with value 0, as in
  ir_measures, and a warning. trec_eval without ``-c`` leaves such topics out of its means.
* A topic of the run that has no judgments is left out, with a warning.
* The ranks written in a TREC run are not read, its scores are, as in trec_eval.
* It is an error if a document occurs twice in a topic of either file, or a line lacks parts.
* Topics and documents are strings, as in files.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from gapboost.analysis.files import (
    JUDGMENTS,
    RETRIEVED,
    Qrels,
    Run,
    check_numbers,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from gapboost.analysis.informativeness import RankedList, ranked_lists
from gapboost.data import Array, checked_grades
from gapboost.data.grades import MAX_GRADE, SWAPPED, look_swapped
from gapboost.evaluation import Empty, PerQuery, TieRule, Values, mean
from gapboost.evaluation import evaluate as evaluate_rows
from gapboost.measures import Measure, Measures, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.validation import checked_scores, mapping, numeric_column, one_of, warn

__all__ = [
    "Rankings",
    "evaluate",
    "rankings",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]

Ties = Literal["expected", "trec_eval"]


class Rankings(NamedTuple):
    """A run with its judgments, as arguments of `gapboost.evaluate`.

    Attributes
    ----------
    y_true : float64 ndarray of shape (N,)
        Grades of the retrieved documents.
    y_score : float ndarray of shape (N,)
    qid : ndarray of shape (N,)
        Topic of each retrieved document.
    recall_base : {topic: {grade: documents}}
        Judged documents of all topics.
    ties : {"expected", "row"}
    """

    y_true: Array
    y_score: Array
    qid: Array
    recall_base: Mapping[str, Mapping[float, int]]
    ties: TieRule

    def lists(self) -> list[RankedList]:
        """One list of grades for each topic with documents; equal scores by falling document id."""
        return ranked_lists(self.y_true, self.y_score, self.qid, recall_base=self.recall_base)


def check_entries(found: Mapping[str, Mapping[str, float]], name: str, expected: str) -> None:
    """Raise an error for topics and documents that are no strings, and numbers not finite."""
    mapping(found, name, expected)
    kinds = {kind for ids in (found, *found.values()) for kind in set(map(type, ids))}
    others = [kind.__name__ for kind in kinds if not issubclass(kind, str)]
    if others:
        raise TypeError(f"{name} has topics or documents of type {others[0]}; expected strings")
    check_numbers(found, name)


class Judgments(NamedTuple):
    """Judgments, checked once for all runs.

    Attributes
    ----------
    qrels : {topic: {document: grade}}
    grades : ndarray of shape (N,)
        Of all topics.
    recall_base : {topic: {grade: documents}}
        Grades below 0 are 0.
    """

    qrels: Qrels
    grades: Array
    recall_base: Mapping[str, Mapping[float, int]]


def checked_judgments(qrels: Qrels) -> Judgments:
    """Raise an error as `check_entries`, or if there are no judgments."""
    check_entries(qrels, "qrels", JUDGMENTS)
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    if not grades:
        raise ValueError("qrels is empty; expected at least one document")
    base = {topic: Counter(max(g, 0) for g in judged.values()) for topic, judged in qrels.items()}
    return Judgments(qrels, numeric_column(grades, "qrels", "grades"), base)


def rankings(qrels: Qrels, run: Run, *, ties: Ties = "expected", name: str = "run") -> Rankings:
    """Bring a run and judgments together.

    Parameters
    ----------
    qrels : {topic: {document: grade}}
        As from `read_qrels`; grades below 0 are 0.
    run : {topic: {document: score}}
        As from `read_run`.
    ties : {"expected", "trec_eval"}, default="expected"
        The expected value over all orders of documents with equal scores; or one order as in
        trec_eval: scores in single precision, equal ones by falling document id.
    name : str, default="run"
        What messages call the run.

    Returns
    -------
    Rankings
        Topics in the order of `qrels`.

    Raises
    ------
    ValueError
        If the run has none of the judged topics, a score is not finite, or a grade exceeds 255. If
        judgments look like scores, and scores like judgments.
    TypeError
        If a topic or document is not a string.

    Warns
    -----
    UserWarning
        If the run retrieved no judged document in any topic, as where documents are "12" in one
        file and "12.0" in the other. If it has topics without judgments, or lacks topics that have
        some.

    Examples
    --------
    >>> qrels = {"601": {"a": 2, "b": 1, "c": 0, "d": 1}}
    >>> found = rankings(qrels, {"601": {"a": 9.1, "c": 8.7, "b": 8.5}})
    >>> [ranked.grades.tolist() for ranked in found.lists()]
    [[2, 0, 1]]
    """
    return rankings_of(checked_judgments(qrels), run, ties, name)


def rankings_of(judgments: Judgments, run: Run, ties: Ties, name: str) -> Rankings:
    """See `rankings`."""
    one_of(ties, "ties", ("expected", "trec_eval"))
    check_entries(run, name, RETRIEVED)
    qrels, grades, recall_base = judgments
    if look_swapped(grades, [score for found in run.values() for score in found.values()]):
        raise ValueError(SWAPPED.format("qrels", name))
    if (grades > MAX_GRADE).any():
        expected = f"grades up to {MAX_GRADE}: divide all of them by one number"
        check_numbers(qrels, "qrels", expected, lambda grade: grade <= MAX_GRADE)
    # Equal scores are in the order of the rows: by falling document id.
    ranked = {topic: sorted(run.get(topic, ()), reverse=True) for topic in qrels}
    y_true: list[float] = []
    scores: list[float] = []
    for topic, documents in ranked.items():
        judged = qrels[topic]
        y_true += [judged.get(document, 0) for document in documents]
        scores += [run[topic][document] for document in documents]
    if not scores:
        raise ValueError(
            f"{name} shares no topic with qrels; expected some of {list(qrels)[:3]} ..."
        )
    if not any(qrels[topic].keys() & documents for topic, documents in ranked.items()):
        topic = next(topic for topic in ranked if ranked[topic])
        warn(
            f"{name} has no judged document in any topic: topic {topic!r} has "
            f"{ranked[topic][0]!r} in the run and {next(iter(qrels[topic]), None)!r} in qrels; are "
            "ids written alike?",
        )
    if unjudged := [topic for topic in run if topic not in qrels]:
        warn(
            f"{name} has topics without judgments, which are left out: {len(unjudged)}, such as "
            f"{unjudged[0]!r}",
        )
    if missing := [topic for topic in qrels if not run.get(topic)]:
        warn(
            f"{name} lacks topics with judgments, which count 0: {len(missing)}, such as "
            f"{missing[0]!r}",
        )
    # trec_eval holds scores in single precision: more documents are tied there than the file says.
    single = ties == "trec_eval"
    given = numeric_column(scores, name, "finite scores").astype("f4") if single else scores
    return Rankings(
        np.maximum(y_true, 0.0),
        checked_scores(given, len(scores), name, name),
        np.repeat(list(ranked), [len(documents) for documents in ranked.values()]),
        recall_base,
        "row" if single else "expected",
    )


def evaluate(
    measures: Measures,
    qrels: Qrels,
    run: Run,
    *,
    ties: Ties = "expected",
    empty: Empty = 0,
    per_query: bool = False,
    n_jobs: int | None = None,
    name: str = "run",
) -> Values | PerQuery:
    """`gapboost.evaluate` for a run and its judgments.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        With ``g=None`` a graded measure is uniform over the grades of the judgments.
    qrels, run, ties
        As in `rankings`.
    empty : {0, 1, "skip"}, default=0
        What a topic counts that has nothing relevant.
    per_query : bool, default=False
        One value a topic, in the order of `qrels`; ``qid`` of the result has the topics.
    n_jobs : int, optional
        Threads.
    name : str, default="run"
        What messages call the run.

    Returns
    -------
    Values {name: float}, or PerQuery {name: float64 array of shape (topics,)}

    Raises
    ------
    ValueError, TypeError
        As `rankings`. If a measure is of ir_measures, which `system_values` takes.

    Examples
    --------
    >>> import gapboost as gb
    >>> qrels = {"601": {"a": 2, "b": 1, "c": 0, "d": 1}}
    >>> evaluate(gb.Precision(k=2), qrels, {"601": {"a": 9.1, "c": 8.7, "b": 8.5}})
    {'precision@2': 0.5}
    """
    wanted = as_measures(measures)
    found = rankings_of(checked_judgments(qrels), run, ties, name)
    by_topic = values_by_topic(wanted, found, empty, n_jobs)
    if per_query:
        return by_topic
    return Values({one: mean(by_topic[one], np.ones(len(qrels))) for one in wanted})


def values_by_topic(
    measures: Sequence[Measure], found: Rankings, empty: Empty = 0, n_jobs: int | None = None
) -> PerQuery:
    """Return one value a topic, in the order of the judgments."""
    grades = list(set().union(*found.recall_base.values()))
    checked_grades(grades, "qrels", grade_limit(measures).get(None), real=True)
    values = evaluate_rows(
        measures,
        **found._asdict(),
        empty=empty,
        missing_queries="zero",
        per_query=True,
        n_jobs=n_jobs,
    )
    place = {topic: number for number, topic in enumerate(values.qid.tolist())}
    order = [place[topic] for topic in found.recall_base]
    return PerQuery({one: values[one][order] for one in measures}, values.qid[order])

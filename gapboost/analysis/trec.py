"""TREC judgments and runs: read, checked, and brought together as rankings.

The rules, where files leave something open:

* A judgment of 0 or less is not relevant, and so is a document without a judgment.
* Relevant documents that a run did not retrieve count: the recall base comes from the judgments.
* A topic with judgments but no documents in the run has an empty ranking, with value 0, as in
  ir_measures. trec_eval without ``-c`` leaves such topics out of its means.
* A topic of the run that has no judgments is left out.
* The ranks written in a TREC run are not read, its scores are, as in trec_eval.
* It is an error if a document occurs twice in a topic of either file, or a line lacks parts.
* Topics and documents of files are strings. Both are of one type in judgments and run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gapboost._data.arguments import as_relevant, mapping, one_of
from gapboost._data.columns import checked_scores, numeric_column
from gapboost._data.grades import check_known, checked_grades
from gapboost._data.judged import Judged
from gapboost._data.judgments import Judgments
from gapboost._data.levels import codes_and_base
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost._optional import ir_measures
from gapboost.analysis.lists import RankedList, in_rank_order
from gapboost.analysis.trec_files import Qrels, Run, read_qrels, read_run, write_run
from gapboost.evaluation import EMPTY, Empty, PerQuery, Values, mean, query_values
from gapboost.measures import Measure, Measures, as_measures
from gapboost.measures.sums import grade_limit

__all__ = [
    "Qrels",
    "Rankings",
    "Run",
    "Ties",
    "bpref",
    "evaluate",
    "map_gains",
    "rankings",
    "read_qrels",
    "read_run",
    "write_run",
]

Ties = Literal["expected", "trec_eval"]


def map_gains(qrels: Qrels, grades: Mapping[float, float]) -> dict[str, dict[str, float]]:
    """Return judgments with each gain replaced by a grade 0, 1, ..., c.

    Parameters
    ----------
    qrels : {topic: {document: gain}}
    grades : {gain: grade}
        For instance ``{-2: 0, 0: 0, 1: 1, 3: 2}``.

    Raises
    ------
    ValueError
        If a gain has no grade.

    Examples
    --------
    >>> map_gains({"601": {"a": 3, "b": -2}}, {-2: 0, 0: 0, 1: 1, 3: 2})
    {'601': {'a': 2, 'b': 0}}
    """
    mapping(qrels, "qrels", "{topic: {document: gain}}")
    mapping(grades, "grades", "{gain: grade}")
    unknown = {gain for judged in qrels.values() for gain in judged.values()} - set(grades)
    if unknown:
        raise ValueError(
            f"qrels holds the gain {min(unknown)}; expected a grade for it in grades, "
            f"{dict(grades)}"
        )
    return {t: {doc: grades[gain] for doc, gain in judged.items()} for t, judged in qrels.items()}


@dataclass(frozen=True, eq=False)
class Retrieved:
    """Documents that a run retrieved for some topics, not yet judged.

    Attributes
    ----------
    queries : Queries
        The ids are the topics; a topic may be empty.
    documents : list of str
        Ids query by query, in falling order: trec_eval breaks ties in this order.
    scores : float ndarray of shape (N,)
    ties : {"expected", "trec_eval"}
    """

    queries: Queries
    documents: list[str]
    scores: Array
    ties: Ties

    def judged(self, qrels: Qrels) -> "Rankings":
        """The documents with the grades that `qrels` gives them."""
        topics = self.queries.ids.tolist()
        offsets = self.queries.offsets
        spans = zip((qrels[t] for t in topics), offsets[:-1], offsets[1:], strict=True)
        gains = [
            judgments.get(document, 0)
            for judgments, begin, end in spans
            for document in self.documents[begin:end]
        ]
        judgments = [grade for topic in topics for grade in qrels[topic].values()]
        given = numeric_column(judgments, "qrels", "grades") if judgments else np.zeros(0)
        # Every judgment below 0 counts as 0.
        known = checked_grades(np.where(given < 0, 0, given), "qrels", real=True)
        query = np.repeat(np.arange(len(topics)), [len(qrels[topic]) for topic in topics])
        judged = Judgments(query, known, np.ones(len(known), dtype=np.int64))
        grades = np.maximum(np.array(gains), 0)
        grades = grades.astype(np.int32 if judged.integer else np.float64)
        codes, base = codes_and_base(grades, self.queries, judged, 0, "qrels")
        data = Judged(self.queries, codes, base, np.ones(len(topics)))
        return Rankings(data, self.scores, self.ties)


@dataclass(frozen=True, eq=False)
class Rankings:
    """A run with its judgments, for measures and analyses of single rankings.

    Attributes
    ----------
    data : Judged
        Topics as queries, grades of the retrieved documents, recall base from the judgments.
    scores : float ndarray of shape (N,)
    ties : {"expected", "trec_eval"}
    """

    data: Judged
    scores: Array
    ties: Ties

    def values(
        self, measures: Sequence[Measure], *, empty: Empty = 0, n_jobs: int | None = None
    ) -> list[Array]:
        """Return one (topics,) array per measure; an open g is uniform over the judged grades."""
        occurring = self.data.graded
        limit = grade_limit(measures)
        check_known(occurring, "qrels", limit)
        resolved = [measure.resolved(occurring) for measure in measures]
        ties: Literal["expected", "row"] = "expected" if self.ties == "expected" else "row"
        return query_values(resolved, self.data, self.scores, ties=ties, empty=empty, n_jobs=n_jobs)

    def lists(self) -> list[RankedList]:
        """One list of grades for each topic with documents; equal scores by falling document id."""
        return in_rank_order(self.data, self.scores)


def checked_qrels(qrels: Any) -> Qrels:
    """Return judgments of at least one topic.

    Raises
    ------
    ValueError, TypeError
        If they are none.
    """
    if not mapping(qrels, "qrels", "{topic: {document: grade}}"):
        raise ValueError("qrels is empty; expected {topic: {document: grade}}")
    return qrels  # type: ignore[no-any-return]


def check_ids(qrels: Qrels, run: Run) -> None:
    """Raise TypeError unless topics, and documents, are all of one type in judgments and run."""
    documents = [*qrels.values(), *run.values()]
    for what, ids in (("topics", [qrels, run]), ("documents", documents)):
        types: set[type] = set().union(*(map(type, some) for some in ids))
        kinds = {_kind(one) for one in types}
        if len(kinds) > 1:
            raise TypeError(
                f"{what} of qrels and run are of the types {' and '.join(sorted(kinds))}; expected "
                "one type, such as strings, which files have"
            )


def _kind(one: type) -> str:
    """Return the name of a type, the same one for Python's and numpy's strings and integers."""
    if issubclass(one, str):
        return "str"
    return "int" if issubclass(one, int | np.integer) else one.__name__


def retrieved(qrels: Qrels, run: Run, ties: Ties = "expected") -> Retrieved:
    """Return the documents of a run for the topics of `qrels`, with ties in trec_eval's order.

    Raises
    ------
    ValueError
        If `ties` is unknown, a score is not finite, or the run has none of the topics.
    TypeError
        If topics or documents are not of one type.
    """
    one_of(ties, "ties", ("expected", "trec_eval"))
    mapping(run, "run", "{topic: {document: score}}")
    check_ids(qrels, run)
    topics = list(qrels)
    ordered = [sorted(run.get(topic, {}).items(), reverse=True) for topic in topics]
    documents = [document for of_topic in ordered for document, _ in of_topic]
    scores = [score for of_topic in ordered for _, score in of_topic]
    if not documents:
        raise ValueError(
            f"the run and the judgments share no topic: {list(run)[:3]} ... and {topics[:3]} ...; "
            "expected topics that are spelled the same"
        )
    ids = np.empty(len(topics), dtype=object)
    ids[:] = topics
    offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    # trec_eval holds scores in single precision: more documents are tied there than the file says.
    single = ties == "trec_eval"
    column = numeric_column(scores, "run", "finite scores").astype(np.float64) if single else scores
    checked = checked_scores(column, len(scores), "run", "run")
    return Retrieved(
        Queries(ids, offsets, None), documents, checked.astype("f4" if single else "f8"), ties
    )


def rankings(qrels: Qrels, run: Run, *, ties: Ties = "expected") -> Rankings:
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

    Returns
    -------
    Rankings
        All topics of `qrels`, in their order.

    Raises
    ------
    ValueError
        If the run has none of the judged topics, a score is not finite, or a grade exceeds 255.
    TypeError
        If topics or documents are of one type in the judgments and of another in the run.

    Examples
    --------
    >>> qrels = {"601": {"a": 2, "b": 1, "c": 0, "d": 1}}
    >>> found = rankings(qrels, {"601": {"a": 9.1, "c": 8.7, "b": 8.5}})
    >>> [ranked.grades.tolist() for ranked in found.lists()]
    [[2, 0, 1]]
    """
    return retrieved(checked_qrels(qrels), run, ties).judged(qrels)


def evaluate(
    measures: Measures,
    qrels: Qrels,
    run: Run,
    *,
    ties: Ties = "expected",
    empty: Empty = 0,
    per_query: bool = False,
    n_jobs: int | None = None,
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
        One value a topic; ``qid`` of the result has the topics.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    Values {Measure: float}, or PerQuery {Measure: float64 array of shape (topics,)}

    Examples
    --------
    >>> import gapboost as gb
    >>> qrels = {"601": {"a": 2, "b": 1, "c": 0, "d": 1}}
    >>> evaluate(gb.Precision(k=2), qrels, {"601": {"a": 9.1, "c": 8.7, "b": 8.5}})
    {Precision(k=2): 0.5}
    """
    wanted = as_measures(measures)
    one_of(empty, "empty", EMPTY)
    found = rankings(qrels, run, ties=ties)
    values = found.values(wanted, empty=empty, n_jobs=n_jobs)
    pairs = zip(wanted, values, strict=True)
    if per_query:
        return PerQuery(dict(pairs), found.data.queries.ids)
    return Values({measure: mean(v, found.data.weights) for measure, v in pairs})


def bpref(qrels: Qrels, run: Run, *, rel: int = 1) -> dict[str, float]:
    """Compute binary preference [buckley2004] by ir_measures, which calls trec_eval.

    It looks at judged documents alone, so that it hardly changes when judgments are missing.
    `evaluate` has grade 0 for unjudged and irrelevant documents alike.

    Parameters
    ----------
    qrels : {topic: {document: judgment}}
        Whole numbers; below 0 they count as none. Topics and documents are strings.
    run : {topic: {document: score}}
    rel : int, default=1
        The lowest judgment that counts as relevant.

    Returns
    -------
    dict {topic: float}
        All topics of `qrels`; 0 where nothing is relevant.

    Examples
    --------
    >>> from gapboost import analysis
    >>> run = {"1": {"b": 3.0, "a": 2.0, "unjudged": 1.0, "c": 0.5}}
    >>> analysis.bpref({"1": {"a": 1, "b": 0, "c": 1}}, run)
    {'1': 0.0}
    """
    retrieved(checked_qrels(qrels), run)  # refuses what is no run of these topics
    measure = ir_measures().Bpref(rel=as_relevant(rel))
    values = dict.fromkeys(qrels, 0.0)
    for found in measure.iter_calc(qrels, run):
        if found.query_id in values:
            values[found.query_id] = float(found.value)
    return values

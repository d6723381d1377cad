"""Binary preference: how often judged irrelevant documents are above relevant ones [buckley2004].

It looks at judged documents alone, so that it hardly changes when judgments are missing.
`gapboost.evaluate` has grade 0 for unjudged and irrelevant documents alike; here they are kept
apart.

>>> qrels = {"601": {"a": 1, "b": 0, "c": 1, "d": 0}}
>>> bpref(qrels, {"601": {"b": 9.0, "unknown": 8.0, "a": 7.0, "c": 6.0}})
{'601': 0.5}
"""

import numpy as np

from gapboost._data.arguments import as_relevant
from gapboost._kernels import Array
from gapboost.analysis.trec import Qrels, Run, Ties, checked_qrels, retrieved


def bpref(qrels: Qrels, run: Run, *, rel: int = 1, ties: Ties = "expected") -> dict[str, float]:
    """Compute binary preference of a run, as in trec_eval.

    ``1/R sum_r (1 - min(n_r, R) / min(N, R))`` over the relevant documents that were retrieved, n_r
    judged irrelevant ones above each of them, R relevant and N irrelevant ones in the judgments.
    Judgments below 0 count as none.

    Parameters
    ----------
    qrels : {topic: {document: judgment}}
    run : {topic: {document: score}}
    rel : int, default=1
        The lowest judgment that counts as relevant.
    ties : {"expected", "trec_eval"}, default="expected"
        As in `gapboost.analysis.trec.rankings`. The expected value has a closed form: of z
        irrelevant documents in a tied group, 0, 1, ..., z are above a relevant one with equal
        probability.

    Returns
    -------
    dict {topic: float}
        All topics of `qrels`; 0 where nothing is relevant.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable.

    Examples
    --------
    >>> from gapboost import analysis
    >>> run = {"1": {"b": 3.0, "a": 2.0, "unjudged": 1.0, "c": 0.5}}
    >>> analysis.bpref({"1": {"a": 1, "b": 0, "c": 1}}, run)
    {'1': 0.0}
    """
    lowest = as_relevant(rel)
    topics = list(checked_qrels(qrels))
    found = retrieved(run, topics, ties)
    found.judged(qrels)  # refuses judgments that are no grades
    offsets = found.queries.offsets
    values = {}
    for topic, first, last in zip(topics, offsets[:-1], offsets[1:], strict=True):
        judgments = qrels[topic]
        given = np.array(
            [judgments.get(document, -1) for document in found.documents[first:last]],
            dtype=np.float64,
        )
        judged = given >= 0
        known = np.array(
            [judgment for judgment in judgments.values() if judgment >= 0], dtype=np.float64
        )
        n_relevant = int((known >= lowest).sum())
        values[topic] = _bpref_of(
            given[judged] >= lowest,
            found.scores[first:last][judged],
            n_relevant,
            len(known) - n_relevant,
            ties,
        )
    return values


def _bpref_of(
    relevant: Array, scores: Array, n_relevant: int, n_irrelevant: int, ties: Ties
) -> float:
    """Compute bpref of one list of judged documents; equal scores are in trec_eval's order."""
    order = np.argsort(-scores, kind="stable")
    relevant, scores = relevant[order], scores[order]
    changes = np.ones(len(scores), dtype=bool)
    if ties == "expected":
        changes[1:] = scores[1:] != scores[:-1]
    begins = np.flatnonzero(changes)
    found = np.add.reduceat(relevant.astype(np.int64), begins)
    tied = np.diff(begins, append=len(scores)) - found
    above = np.cumsum(tied) - tied
    # Of a relevant document, `above` to `above + tied` are lost, with equal probability.
    sums = np.concatenate([[0], np.cumsum(np.minimum(np.arange(len(scores) + 1), n_relevant))])
    lost = (
        (sums[above + tied + 1] - sums[above]) / (tied + 1) / max(min(n_irrelevant, n_relevant), 1)
    )
    return float(found @ (1.0 - lost) / n_relevant) if n_relevant else 0.0

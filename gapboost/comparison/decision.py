"""Decision that a report starts with: which ranker to use, and what the data could show."""

from collections.abc import Sequence

from gapboost._pages.text import signed
from gapboost.analysis.estimates import AHEAD, BEHIND
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict

# A ranker that takes so many times as long as the baseline is named with its gain.
NOTED_SLOWDOWN = 5


def decide(verdicts: Sequence[Verdict], measure: str, values: Values) -> list[str]:
    """Return the sentences of the decision.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Comparisons with one baseline.
    measure : str
        Measure that decides.
    values : Values
        Means and times of the rankers.
    """
    by_difference = sorted(
        (v for v in verdicts if v.measure == measure), key=lambda verdict: -verdict.difference
    )
    ahead = [verdict for verdict in by_difference if verdict.verdict == AHEAD]
    undecided = [verdict for verdict in by_difference if verdict.verdict not in (AHEAD, BEHIND)]
    behind = [verdict for verdict in by_difference if verdict.verdict == BEHIND]
    sentences = _winner(ahead, values) if ahead else _no_winner(by_difference[0], undecided, values)
    if undecided:
        sentences.append(_power(undecided[0]))
    if behind:
        sentences.append(f"Behind {behind[0].beside}: {_listed(behind)}.")
    sentences += [
        _cost(verdict, values)
        for verdict in by_difference
        if _slowdown(verdict, values) >= NOTED_SLOWDOWN
    ]
    return sentences + _by_other_measures([v for v in verdicts if v.measure != measure])


def _winner(ahead: Sequence[Verdict], values: Values) -> list[str]:
    best = ahead[0]
    sentences = [
        f"Use {best.ranker}. It is ahead of {best.beside} by {with_interval(best)} in "
        f"{best.measure}."
    ]
    if len(ahead) > 1:
        sentences.append(
            f"Also ahead of {best.beside}: {_listed(ahead[1:])}. "
            f"{_cheapest([v.ranker for v in ahead], values)}"
        )
    return sentences


def _no_winner(verdict: Verdict, undecided: Sequence[Verdict], values: Values) -> list[str]:
    baseline, measure = verdict.beside, verdict.measure
    if not undecided:
        return [f"Keep {baseline}. Every other ranker is behind it in {measure}."]
    rankers = [baseline, *(verdict.ranker for verdict in undecided)]
    return [
        f"Keep {baseline}, or choose by cost: no ranker is ahead of it in {measure}. "
        f"{_cheapest(rankers, values)}"
    ]


def _by_other_measures(verdicts: Sequence[Verdict]) -> list[str]:
    sentences = []
    for word in (AHEAD, BEHIND):
        found = [
            f"{v.ranker} in {v.measure} ({signed(v.difference)})"
            for v in verdicts
            if v.verdict == word
        ]
        if found:
            relation = "Ahead of" if word == AHEAD else "Behind"
            sentences.append(
                f"{relation} {verdicts[0].beside} by other measures: {', '.join(found)}."
            )
    return sentences


def _cheapest(rankers: Sequence[str], values: Values) -> str:
    """Return a sentence on the costs of rankers that are equally good choices."""
    train, serve = (
        min(rankers, key=values.fit_seconds),
        min(rankers, key=values.predict_milliseconds),
    )
    costs = (
        f"train ({values.fit_seconds(train):.3g} s)",
        f"serve ({values.predict_milliseconds(serve):.3g} ms for 1,000 documents)",
    )
    among = (
        f"Of {' and '.join(rankers)}," if len(rankers) == 2 else f"Of these {len(rankers)} rankers,"
    )
    if train == serve:
        return f"{among} {train} is the cheapest to {costs[0]} and to {costs[1]}."
    return f"{among} {train} is the cheapest to {costs[0]}, and {serve} to {costs[1]}."


def _power(verdict: Verdict) -> str:
    """Return a sentence on what the data could show, and how many queries are needed.

    The number is that of the largest open difference.
    """
    shown = (
        f"Of the inconclusive rankers, {verdict.ranker} has the highest mean: "
        f"{with_interval(verdict)}. "
    )
    shown += (
        f"With {verdict.n_queries:,} queries, four of five comparisons find a true difference of "
        f"{verdict.detectable:.4f}."
    )
    if verdict.difference <= 0:
        return shown
    more = verdict.queries_needed - verdict.n_queries
    return f"{shown} To find one of {verdict.difference:.4f} takes about {more:,.0f} more queries."


def _cost(verdict: Verdict, values: Values) -> str:
    return (
        f"{verdict.ranker} takes {_slowdown(verdict, values):.0f} times as long to train as "
        f"{verdict.beside}, for {with_interval(verdict)} in {verdict.measure}: {verdict.verdict}."
    )


def _slowdown(verdict: Verdict, values: Values) -> float:
    return values.fit_seconds(verdict.ranker) / values.fit_seconds(verdict.beside)


def _listed(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdict.ranker} ({signed(verdict.difference)})" for verdict in verdicts)


def with_interval(verdict: Verdict) -> str:
    """Return a difference with its interval."""
    low, high = verdict.interval
    return f"{signed(verdict.difference)} ({signed(low)} to {signed(high)})"

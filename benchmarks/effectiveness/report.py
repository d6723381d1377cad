"""The tables of `benchmarks/EFFECTIVENESS.md`, written between its markers."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.effectiveness.competitors import COMPETITORS
from benchmarks.effectiveness.statistics import COLUMNS, MEAN, TESTS, Values, corrected, pooled
from benchmarks.workload import conditions, table
from gapboost.analysis.significance import Significance

PAGE = Path(__file__).parents[1] / "EFFECTIVENESS.md"
LEVEL = 0.05
PAIRS = (
    ("LGBMGAPRanker()", "LGBMRanker()"),
    ("XGBGAPRanker()", "XGBRanker()"),
    ("LGBMGAPRanker()", "LGBMRanker(objective='rank_xendcg')"),
    ("XGBGAPRanker()", "XGBRanker(objective='rank:map')"),
    ("XGBGAPRanker()", "XGBRanker(objective='rank:pairwise')"),
    ("LGBMGAPRanker()", "CatBoostRanker()"),
    ("XGBGAPRanker()", "CatBoostRanker()"),
    ("LGBMGAPRanker(extra_trees=False)", "LGBMRanker()"),
    ("LGBMGAPRanker()", "LGBMRanker(extra_trees=True)"),
)
HEAD = ["first", "second", "difference", "95 % interval", "effect size", "won / tied / lost"]
P_VALUES = ["t", "Wilcoxon", "sign", "randomisation"]


def write(name: str, text: str, page: Path = PAGE) -> None:
    """Replace what stands between the markers of `name`."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1:
        raise ValueError(f"{page} holds {begin} {old.count(begin)} times; expected it once, and {end} after it")
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")


def means(values: Values) -> str:
    """Means of every competitor: bold the best of a column, starred what differs from the best, Holm-corrected."""
    rows = {n: [f"{v:.4f}" for v in values.means(n)] for n in values.names}
    for at, column in enumerate(COLUMNS):
        best = max(values.names, key=lambda n: values.means(n)[at])
        results = {n: values.compare(n, best, column) for n in values.names if n != best}
        p = corrected(results)
        for n in values.names:
            if n == best:
                rows[n][at] = f"**{rows[n][at]}**"
            elif p[n]["t"] < LEVEL:
                rows[n][at] += " *"
    return table(["trained by", *COLUMNS], [[n, *cells] for n, cells in rows.items()])


def differences(values: Values, pairs: Sequence[tuple[str, str]], column: str) -> str:
    """First minus second in one column, with p-values corrected over the table."""
    results = {pair: values.compare(*pair, column) for pair in pairs}
    p = corrected(results)
    rows = [[*pair, *cells(results[pair]), *(f"{p[pair][test]:.3f}" for test in TESTS)] for pair in pairs]
    return table([*HEAD, *(f"p, {name}" for name in P_VALUES)], rows)


def cells(result: Significance) -> list[str]:
    """Difference, interval, effect size and counts."""
    low, high = result.interval
    counts = " / ".join(str(c) for c in result.counts)
    return [f"{result.difference:+.4f}", f"{low:+.4f} … {high:+.4f}", f"{result.effect_size:+.2f}", counts]


def library_pairs() -> list[tuple[str, str]]:
    """Ours for GAP beside each of the same library's own, and both beside CatBoost's."""
    pairs = []
    for c in COMPETITORS:
        if not c.ours:
            libraries = ("LightGBM", "XGBoost") if c.library == "CatBoost" else (c.library,)
            pairs += [(f"{library} GAP", c.name) for library in libraries]
    return pairs


def measure_pairs() -> list[tuple[str, str]]:
    """GAP beside our other training measures, on the same booster."""
    return [
        (f"{library} GAP", c.name)
        for library in ("LightGBM", "XGBoost")
        for c in COMPETITORS
        if c.ours and c.library == library and c.name != f"{library} GAP"
    ]


def described(values: Values) -> str:
    """What the numbers are means of."""
    seeds = f"{len(values.seeds)} seeds" if len(values.seeds) > 1 else "1 seed"
    return f"{values.n_queries} queries, mean of {seeds}."


def untuned_section(found: Sequence[Values]) -> str:
    """Defaults beside defaults."""
    parts = []
    for values in found:
        parts += [f"### {values.data}", described(values), means(values), differences(values, PAIRS, MEAN)]
    if len(found) > 1:
        parts += ["### All queries together", described(pooled(found)), differences(pooled(found), PAIRS, MEAN)]
    return "\n\n".join(parts)


def tuned_section(found: Sequence[Values], figures: Sequence[str]) -> str:
    """Everything tuned alike."""
    parts = []
    for values, figure in zip(found, figures, strict=True):
        parts += [f"### {values.data}", described(values), f"![{values.data}](figures/{figure})", means(values)]
        parts += ["Ours for GAP minus the libraries' own, in the mean of the six measures:"]
        parts += [differences(values, library_pairs(), MEAN)]
        more = ["The same in nDCG@10, by which all were tuned:", differences(values, library_pairs(), "nDCG@10")]
        more += ["GAP minus our other training measures, in nDCG:", differences(values, measure_pairs(), "nDCG")]
        more += ["… and in AP:", differences(values, measure_pairs(), "AP")]
        parts += ["<details><summary>In nDCG@10, and beside our other training measures</summary>", *more, "</details>"]
    if len(found) > 1:
        together = pooled(found)
        parts += ["### All queries together", described(together), means(together)]
        parts += ["Ours for GAP minus the libraries' own, in the mean of the six measures:"]
        parts += [differences(together, library_pairs(), MEAN)]
        for column, name in ((MEAN, "the mean of the six measures"), ("nDCG", "nDCG"), ("AP", "AP")):
            parts += [f"GAP minus our other training measures, in {name}:"]
            parts += [differences(together, measure_pairs(), column)]
    return "\n\n".join(parts)


def conditions_line() -> str:
    """Date, machine and versions."""
    return f"Numbers below: {conditions('lightgbm', 'xgboost', 'catboost')}."

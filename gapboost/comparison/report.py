"""Report of a comparison: headings, paragraphs and tables, in HTML or Markdown."""

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from gapboost._optional import imported
from gapboost.comparison.picture import panel
from gapboost.comparison.rankers import describe, versions
from gapboost.comparison.training import Training
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import AHEAD, BEHIND, INCONCLUSIVE, Verdict

LIBRARIES = ("gapboost", "numpy", "scipy", "sklearn")
# Placeholder for the color of the page's text.
INK = "#010203"
PAGE = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
# The report shows no larger number of needed queries.
MOST_QUERIES = 1_000_000
KEY = "▶ ahead  ◀ behind  ○ inconclusive"
READING = [
    "A difference is the mean over all test queries of ranker minus baseline, each query's values averaged over the "
    "seeds; ties count their expected value. The interval is that of its row alone. The verdict goes by p, corrected by "
    "Holm's method for all rows together.",
    "Queries needed: with so many test queries, in as many folds, a true difference as large as the one seen would be "
    "found in 80 % of comparisons. Where little is seen, this number is rough.",
]


@dataclass(frozen=True)
class Table:
    """Table of text cells; the first `words` columns are text, the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1

    def html(self) -> str:
        """Return HTML; a wide table scrolls on a narrow page."""
        lines = [self._row(self.head, "th"), *(self._row(row, "td") for row in self.rows)]
        return f'<div class="wide"><table>{"".join(lines)}</table></div>'

    def _row(self, cells: Sequence[str], kind: str) -> str:
        classes = ["" if place < self.words else ' class="number"' for place in range(len(cells))]
        return f"<tr>{''.join(f'<{kind}{c}>{html.escape(cell)}</{kind}>' for c, cell in zip(classes, cells, strict=True))}</tr>"

    def markdown(self) -> str:
        """Return Markdown."""
        rule = ["---" if place < self.words else "---:" for place in range(len(self.head))]
        rows = ([escaped(cell) for cell in cells] for cells in (self.head, *self.rows))
        head, *rest = (f"| {' | '.join(cells)} |" for cells in rows)
        return "\n".join([head, f"| {' | '.join(rule)} |", *rest])


ReportBlock = str | Table


@dataclass(frozen=True, eq=False)
class Page:
    """Content of a report."""

    training: Training
    values: Values
    verdicts: Sequence[Verdict]
    best: str

    def write(self, path: Path) -> None:
        """Write HTML or Markdown, by the ending of `path`."""
        path.write_text(self.html() if path.suffix == ".html" else self.markdown(), encoding="utf-8")

    def html(self) -> str:
        """Return an HTML page that needs no other files."""
        body = []
        for heading, blocks in self.sections():
            body.append(f"<h2>{html.escape(heading)}</h2>")
            body += [b.html() if isinstance(b, Table) else f"<p>{html.escape(b)}</p>" for b in blocks]
            if heading == "The answer":
                body.append(f'<div class="pictures">{"".join(self._pictures())}</div><p class="key">{KEY}</p>')
        return PAGE.substitute(body="\n".join(body))

    def markdown(self) -> str:
        """Return Markdown, without pictures."""
        parts = ["# Which ranker ranks better?"]
        for heading, blocks in self.sections():
            parts += [f"## {heading}", *(b.markdown() if isinstance(b, Table) else escaped(b) for b in blocks)]
        return "\n\n".join(parts) + "\n"

    def sections(self) -> list[tuple[str, list[ReportBlock]]]:
        """Return the headings, each with paragraphs and tables."""
        best = f"{self.best} has the highest mean by {self.training.best_by}, which alone is no proof."
        return [
            ("The answer", [summarize(self.training), *self._verdict_sentences()]),
            ("Means", [self.means(), best]),
            ("Differences", [self.differences(), *READING, self._of_folds()]),
            ("Settings", [*self._settings(), self._rankers(), versions(LIBRARIES)]),
        ]

    def means(self) -> Table:
        """Return the mean of each ranker by each measure, and the seconds of a training."""
        measures, mean, seconds = list(self.training.measures), self.values.mean, self.values.seconds
        rows = [
            [name, *(f"{mean(name, measure):.4f}" for measure in measures), f"{seconds(name):.2f}"]
            for name in self.training.rankers
        ]
        return Table(["ranker", *measures, "seconds"], rows)

    def differences(self) -> Table:
        """Return all verdicts."""
        rows = [
            [
                v.measure, v.ranker, v.verdict, signed(v.difference), " … ".join(map(signed, v.interval)),
                "< 0.001" if v.p < 0.001 else f"{v.p:.3f}", queries_needed(v),
            ]
            for v in self.verdicts
        ]  # fmt: skip
        confidence = f"{self.verdicts[0].confidence:.0%} interval"
        head = ["measure", "ranker", "verdict", "difference", confidence, "p, corrected", "queries needed"]
        return Table(head, rows, words=3)

    def _verdict_sentences(self) -> list[str]:
        """Return one sentence for each of the three verdicts."""
        sentences = []
        for verdict, words in ((AHEAD, "Ahead of"), (BEHIND, "Behind"), (INCONCLUSIVE, "Inconclusive beside")):
            by_ranker: dict[str, list[str]] = {}
            for v in self.verdicts:
                if v.verdict == verdict:
                    of_measure = v.measure if verdict == INCONCLUSIVE else f"{v.measure} {signed(v.difference)}"
                    by_ranker.setdefault(v.ranker, []).append(of_measure)
            listed = "; ".join(f"{ranker} ({', '.join(of)})" for ranker, of in by_ranker.items()) or "none"
            sentences.append(f"{words} {self.verdicts[0].beside}: {listed}.")
        return sentences

    def _of_folds(self) -> str:
        if len(self.training.splits) == 1:
            return "There is one fold: the intervals tell of the models that were trained here, not of others trained alike."
        return (
            "The queries of one fold were ranked by the same models: each fold is one piece of evidence, with the standard error "
            "of Bell and McCaffrey and Satterthwaite's degrees of freedom. Folds share training queries, which no such interval "
            "can count."
        )

    def _settings(self) -> list[str]:
        tuned = next((len(c) for c in self.training.candidates.values()), None)
        seeds = max(result.task.seed for result in self.values.results)
        return [
            *([self.training.source] if self.training.source else []),
            f"Measures: {'; '.join(f'{name} is {measure}' for name, measure in self.training.measures.items())}. "
            f"{seeds} {'model' if seeds == 1 else 'models'} a fold, where a ranker takes a seed. "
            + (
                f"Each ranker had {tuned} candidates, of which the validation queries chose by {self.training.choose_by}."
                if tuned
                else "The rankers are as they were handed in; nothing was tuned."
            ),
        ]

    def _rankers(self) -> Table:
        return Table(["ranker", "what it is"], [[n, describe(r)] for n, r in self.training.rankers.items()], words=2)

    def _pictures(self) -> list[str]:
        """Return one panel for each measure, as SVG in the color of the page's text."""
        matplotlib = imported("matplotlib", "plot", "for the report's pictures")
        figures = imported("matplotlib.figure", "plot", "for the report's pictures")
        ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
        drawn = []
        for measure in self.training.measures:
            found = [v for v in self.verdicts if v.measure == measure]
            with matplotlib.rc_context(
                {**ink, "svg.fonttype": "none", "svg.hashsalt": measure, "font.family": "sans-serif"}
            ):
                figure = figures.Figure(figsize=(4.0, 1.1 + 0.34 * len(found)), layout="constrained")
                panel(figure.subplots(), found)
                stream = io.StringIO()
                figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
            drawn.append(
                "<figure>"
                + stream.getvalue().split("?>", 1)[1].partition(">")[2].replace(INK, "currentColor")
                + "</figure>"
            )
        return drawn


def summarize(training: Training) -> str:
    """Return a sentence with the numbers of rankers, measures, documents, queries and folds."""
    whole, folds = training.documents.all, training.splits
    n = sum(len(fold.test) for fold in folds)
    return (
        f"{len(training.rankers)} rankers, {len(training.measures)} measures; {len(whole.y):,} documents of {len(whole.sizes):,} "
        f"queries with {whole.X.shape[1]:,} features and grades from {whole.y.min():g} to {whole.y.max():g}; {n:,} queries "
        f"tested in {len(folds)} {'fold' if len(folds) == 1 else 'folds'}."
    )


def queries_needed(verdict: Verdict) -> str:
    """Return the number of queries that an inconclusive verdict needs; empty for other verdicts."""
    if verdict.verdict != INCONCLUSIVE:
        return ""
    return f"{verdict.queries_needed:,.0f}" if verdict.queries_needed <= MOST_QUERIES else f"> {MOST_QUERIES:,}"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, in one line; names may hold any characters."""
    text = re.sub(r"([\\`*{}\[\]<>#|~$&]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(text.split()))
    return re.sub(r"^([-+]|\d+[.)])(?=\s)", lambda begin: f"{begin[0][:-1]}\\{begin[0][-1]}", text)


def signed(value: float) -> str:
    """Return a number with four decimals and a true minus sign."""
    return f"{value:+.4f}".replace("-", "−")

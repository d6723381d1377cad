"""Report of a comparison: headings, paragraphs and tables, in HTML or Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gapboost._pages import page
from gapboost._pages.blocks import Block, Paragraph, Pictures, Table
from gapboost._pages.described import describe, versions
from gapboost._pages.svg import svg
from gapboost._pages.text import signed
from gapboost.analysis.estimates import INCONCLUSIVE
from gapboost.comparison.decision import decide
from gapboost.comparison.picture import panel
from gapboost.comparison.training import Trainer
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict

# The report shows no larger number of needed queries.
MOST_QUERIES = 1_000_000
READING = [
    "A difference is the mean over all test queries of ranker minus baseline; ties count their "
    "expected value. The intervals of a measure hold together, by Bonferroni's correction. A "
    "ranker is ahead if its interval is above 0, behind if it is below 0.",
    "Queries needed: with so many test queries, 80 % of comparisons find a true difference as "
    "large as the one seen. This number is rough if the difference is small.",
]


@dataclass(frozen=True, eq=False)
class ComparisonPage:
    """Content of a report."""

    training: Trainer
    values: Values
    verdicts: Sequence[Verdict]
    best: str

    def write(self, path: Path) -> None:
        """Write HTML or Markdown, by the ending of `path`."""
        page.Page("Which ranker ranks better?", self._sections()).write(path)

    def _sections(self) -> list[tuple[str, list[Block]]]:
        """Return the headings, each with paragraphs and tables."""
        best = (
            f"{self.best} has the highest mean by {self.training.best_by}, which alone is no proof."
        )
        decision = [*self.decision(), summarize_training(self.training)]
        reading = [*READING, self._errors()]
        return [
            ("Decision", [*map(Paragraph, decision), Pictures(self._pictures, self._key())]),
            ("Means", [self.means(), Paragraph(best)]),
            ("Differences", [self.differences(), *map(Paragraph, reading)]),
            (
                "Settings",
                [*map(Paragraph, self._settings()), self._rankers(), Paragraph(versions())],
            ),
        ]

    def decision(self) -> list[str]:
        """Return the sentences of the decision, by the measure that decides on the best ranker."""
        return decide(self.verdicts, self.training.best_by, self.values)

    def means(self) -> Table:
        """Return the mean of each ranker by each measure, and its costs."""
        measures, values = list(self.training.measures), self.values
        rows = [
            [
                name, *(f"{values.mean(name, measure):.4f}" for measure in measures),
                f"{values.fit_seconds(name):.2f}", f"{values.predict_milliseconds(name):.2f}",
            ]
            for name in self.training.rankers
        ]  # fmt: skip
        return Table(["ranker", *measures, "seconds to train", "ms for 1,000 documents"], rows)

    def differences(self) -> Table:
        """Return all verdicts."""
        rows = [
            [
                v.measure,
                v.ranker,
                v.verdict,
                signed(v.difference),
                " to ".join(map(signed, v.interval)),
                "< 0.001" if v.p < 0.001 else f"{v.p:.3f}",
                f"{v.detectable:.4f}",
                queries_needed(v),
            ]
            for v in self.verdicts
        ]
        confidence = f"simultaneous {self.verdicts[0].confidence:.0%} interval"
        head = [
            "measure",
            "ranker",
            "verdict",
            "difference",
            confidence,
            "p, corrected",
            "detectable",
            "queries needed",
        ]
        return Table(head, rows, words=3)

    def _errors(self) -> str:
        """Return a sentence on the variation that the errors of this comparison include."""
        splits = self.training.splits
        if len(splits) == 1:
            return (
                "There is one given fold: the intervals hold for the models that were trained, not "
                "for others that are trained alike."
            )
        if sum(len(split.test) for split in splits) == self.values.n_queries:
            return (
                f"The queries of a fold were ranked by the same models: each of the {len(splits)} "
                "folds is a cluster, with Bell and McCaffrey's standard error and Satterthwaite's "
                "degrees of freedom. No interval counts that folds share training queries."
            )
        return (
            f"The rankers were trained on {len(splits)} different sets of queries. Errors count "
            f"queries and models, as two-way clusters, with {len(splits) - 1} degrees of freedom. "
            "No interval counts that the training sets overlap."
        )

    def _settings(self) -> list[str]:
        tuned = next((len(c) for c in self.training.candidates.values()), None)
        repeats = max(result.task.repeat for result in self.values.results)
        named = self.training.measures.items()
        measures = "; ".join(f"{name} is {measure}" for name, measure in named)
        return [
            *([self.training.source] if self.training.source else []),
            f"Measures: {measures}. {repeats} {'repeat' if repeats == 1 else 'repeats'}, each with "
            "its own seed. "
            + (
                f"Validation queries chose among {tuned} candidates of each ranker, by "
                f"{self.training.choose_by}."
                if tuned
                else "The rankers have the parameters that they came with."
            )
            + f" They also chose the number of trees of each model, by {self.training.choose_by}."
            * self.training.choose_trees,
        ]

    def _rankers(self) -> Table:
        return Table(
            ["ranker", "what it is"],
            [[n, describe(r)] for n, r in self.training.rankers.items()],
            words=2,
        )

    def _key(self) -> str:
        """Return the legend of the pictures."""
        return f"Differences from {self.verdicts[0].beside}: ▶ ahead, ◀ behind, ○ inconclusive"

    def _pictures(self) -> list[str]:
        """Return one panel for each measure, as SVG."""
        drawn = []
        for measure in self.training.measures:
            found = [v for v in self.verdicts if v.measure == measure]
            drawn.append(svg(partial(panel, verdicts=found), 1.1 + 0.34 * len(found), measure))
        return drawn


def summarize_training(training: Trainer) -> str:
    """Return a sentence with the numbers of rankers, measures, documents, queries and folds."""
    whole, splits = training.documents.all, training.splits
    folds = 1 + max(split.fold for split in splits)
    repeats = max(max(split.repeats) for split in splits)
    n = sum(len(split.test) for split in splits if 1 in split.repeats)
    return (
        f"{len(training.rankers)} rankers, {len(training.measures)} measures; {len(whole.y):,} "
        f"documents of {len(whole.sizes):,} queries with {whole.X.shape[1]:,} features and grades "
        f"from {whole.y.min():g} to {whole.y.max():g}; {n:,} queries tested in {folds} "
        f"{'fold' if folds == 1 else 'folds'}, {repeats} {'repeat' if repeats == 1 else 'repeats'}."
    )


def queries_needed(verdict: Verdict) -> str:
    """Return the number of queries that an inconclusive verdict needs; empty for other verdicts."""
    if verdict.verdict != INCONCLUSIVE:
        return ""
    return (
        f"{verdict.queries_needed:,.0f}"
        if verdict.queries_needed <= MOST_QUERIES
        else f"> {MOST_QUERIES:,}"
    )

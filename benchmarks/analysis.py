"""The papers' analyses of measures on real runs and judgements.

    python -m benchmarks.analysis [--quick] [--data DIR] [--jobs N] [STUDY ...]

Studies: informativeness, discrimination, correlation, robustness, optimality; all of them by default. Tables go to the
terminal, pictures to `benchmarks/figures`. What has been computed is kept in `benchmarks/.cache`, so that an interrupted
run goes on where it was; delete that folder after a change of the library. ``--quick`` is a look at every study in a few
minutes, on a part of the work, and writes its pictures to `benchmarks/.cache` too.

RBP comes from ir_measures, which needs `pip install cwl-eval` for it. DIR holds `robust03` (qrels.txt.gz and runs/*.gz)
and `ohsumed` (Fold1 ... Fold5). What came out is told in ANALYSIS.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import joblib
import matplotlib
import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.workload import FIGURES
from gapboost import analysis
from gapboost.analysis import trec
from gapboost.datasets import load_letor_fold
from gapboost.model_selection import simplex_grid

matplotlib.use("Agg")
from matplotlib import pyplot as plt

CACHE = Path(__file__).parent / ".cache"
DATA = Path(__file__).parents[2] / "shared" / "data"
GRID = simplex_grid(2, 10)
GRADED = (gb.GAP, gb.xGAP, gb.eGAP)
BALANCED = (0.5, 0.5)
STEEP = (0.1, 0.9)
LINEAR_NDCG = gb.nDCG(gains=(0, 1, 2))
RBP, BPREF = ir_measures.RBP(p=0.8, rel=1), ir_measures.Bpref
TREE = {"n_estimators": 50, "learning_rate": 0.1, "random_state": 0, "n_jobs": 1}

memory = joblib.Memory(CACHE, verbose=0)


class Study:
    """What all studies need: the data, how much work to do, and where pictures go."""

    def __init__(self, data: Path, quick: bool, jobs: int) -> None:
        self.data, self.quick, self.jobs = data, quick, jobs
        self.figures = CACHE if quick else FIGURES
        self.figures.mkdir(exist_ok=True, parents=True)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Judgements of the topics 601-650, the ones with grades."""
        qrels = trec.read_qrels(self.data / "robust03" / "qrels.txt.gz")
        return {topic: judged for topic, judged in qrels.items() if 601 <= int(topic) <= 650}

    @property
    def runs(self) -> dict[str, dict[str, dict[str, float]]]:
        """The twelve runs."""
        paths = sorted((self.data / "robust03" / "runs").glob("*.gz"))
        return {path.name.removesuffix(".gz"): trec.read_run(path) for path in paths}

    def save(self, figure: Any, name: str) -> None:
        """Write a picture."""
        figure.savefig(self.figures / f"analysis_{name}.png", dpi=130)
        plt.close(figure)


def shown(title: str, table: pd.DataFrame) -> None:
    """Print a table."""
    print(f"\n## {title}\n\n{table.round(4).to_string()}\n", flush=True)


# ----------------------------------------------------------------------------------------------------- informativeness

OTHERS = {"nDCG, gain $2^i-1$": gb.nDCG(), "nDCG, gain $i$": LINEAR_NDCG, "P@10": gb.Precision(k=10)}


@memory.cache(ignore=["lists", "jobs"])
def list_errors(system: str, measures: list[gb.Measure], lists: list[Any], every: int, jobs: int) -> Any:
    """RMS errors for one system's lists, and where they converged."""
    found = analysis.informativeness(measures, lists[::every], n_jobs=jobs)
    return found.rms, found.converged


def informativeness(study: Study) -> None:
    """RMS error against g: Figure 2 of robertson-2010, TREC 12."""
    grid = simplex_grid(2, 4) if study.quick else GRID
    # with a single threshold xGAP and eGAP are GAP
    inner = [grid[0], *((g, 1 - g) for g in (0.2, 0.5, 0.8)), grid[-1]]
    measures: list[gb.Measure] = [gb.GAP(g=g) for g in grid]
    measures += [family(g=g) for family in (gb.xGAP, gb.eGAP) for g in inner[1:-1]]
    measures += OTHERS.values()
    qrels, parts = study.qrels, []
    for system, run in study.runs.items():
        lists = trec.rankings(qrels, run, ties="trec_eval").lists()
        lists = [found for found in lists if len(found.counts) == 3 and (found.counts[1:] >= 5).all()]
        if lists:
            parts.append(list_errors(system, measures, lists, 10 if study.quick else 1, study.jobs))
            print(f"{system}: {len(parts[-1][0][0])} lists", flush=True)
    rms = np.concatenate([part[0] for part in parts], axis=1)
    converged = np.concatenate([part[1] for part in parts], axis=1)
    both = converged.all(axis=0)
    print(f"{both.sum()} of {len(both)} lists; {np.count_nonzero(~converged)} of {converged.size} not converged")
    mean = dict(zip(measures, rms[:, both].mean(axis=1), strict=True))
    table = pd.DataFrame(mean.values(), index=list(map(str, mean)), columns=["rms rel=1", "rms rel=2"])
    table["mean"] = table.mean(axis=1)
    # how sure the difference from GAP with balanced g is, list by list
    reference = rms[measures.index(gb.GAP(g=BALANCED)), both]
    for t in range(2):
        tested = [analysis.significance(errors[both, t], reference[:, t], random_state=0) for errors in rms]
        table[f"p vs GAP{BALANCED}, rel={t + 1}"] = [result.t for result in tested]
    shown(f"Mean RMS error of inferred precision-recall curves, {both.sum()} lists", table)

    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
    for t, ax in enumerate(panels):
        ax.plot([g[0] for g in grid], [mean[gb.GAP(g=g)][t] for g in grid], "o-", label="GAP")
        for family in (gb.xGAP, gb.eGAP):
            ends = [mean[gb.GAP(g=g)][t] for g in (grid[0], grid[-1])]
            errors = [ends[0], *(mean[family(g=g)][t] for g in inner[1:-1]), ends[1]]
            ax.plot([g[0] for g in inner], errors, "s-", markersize=4, label=family.__name__)
        for m, (label, measure) in enumerate(OTHERS.items()):
            ax.axhline(mean[measure][t], linestyle="--", color=f"C{3 + m}", label=label)
        ax.set(
            xlabel="$g_1$   ($g_2 = 1 - g_1$)",
            ylabel="mean RMS error",
            title=("relevant: grades 1 and 2", "relevant: grade 2 only")[t],
        )
        ax.grid(alpha=0.25)
    panels[0].legend(fontsize=8)
    study.save(figure, "informativeness")


# ------------------------------------------------------------------------------------------------------ discrimination


def discrimination(study: Study) -> None:
    """ASL curves: Figure 3 of robertson-2010, here for TREC 12."""
    measures = [*(family(g=BALANCED) for family in GRADED), gb.AP(), gb.nDCG(), gb.nDCG(k=10), gb.Precision(k=10)]
    values = analysis.system_values(measures, study.qrels, study.runs)
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 5.4), layout="constrained", sharey=True)
    for ax, top in zip(panels, (None, 6), strict=True):
        result = analysis.discriminative_power(
            values, top=top, n_resamples=1000 if study.quick else 10_000, random_state=0
        )
        which = "all 12 systems" if top is None else f"the {top} best systems"
        shown(f"Discriminative power, {which}", result.to_pandas())
        result.plot(ax)
        ax.set_title(f"{which}, {len(result.pairs)} pairs")
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2)
    study.save(figure, "discrimination")


# --------------------------------------------------------------------------------------------------------- correlation


def few(study: Study) -> list[str]:
    """Topics with few highly relevant documents."""
    return analysis.few_highly_relevant(study.qrels)


def correlation(study: Study) -> None:
    """Tau tables: Table 2 of ferrante-2014, here for TREC 12."""
    grid = simplex_grid(2, 4) if study.quick else GRID
    references = (gb.AP(), gb.nDCG(), RBP, BPREF)
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", sharey=True)
    rare = few(study)
    qrels = study.qrels
    print(f"topics with R(1) >= 10 R(2) > 0: {', '.join(rare)}")
    for ax, topics in zip(panels, (None, rare), strict=True):
        result = analysis.threshold_correlation(
            qrels, study.runs, grid=grid, references=references, topics=topics, n_jobs=study.jobs
        )
        which = f"{result.n_topics} topics" + ("" if topics is None else " with few highly relevant documents")
        shown(f"Kendall's tau over {result.n_systems} systems, {which}", result.to_pandas())
        result.plot(ax, gb.AP())
        ax.set_title(which)
        ax.grid(alpha=0.25)
    study.save(figure, "correlation")


# ---------------------------------------------------------------------------------------------------------- robustness


@memory.cache(ignore=["study"])
def tau_by_fraction(which: str, repeats: int, study: Study) -> Any:
    """Robustness on all topics, or on those with few highly relevant documents."""
    measures = [*(family(g=STEEP) for family in GRADED), gb.AP(), gb.nDCG(), RBP, BPREF]
    return analysis.robustness(
        measures,
        study.qrels,
        study.runs,
        topics=None if which == "all topics" else few(study),
        repeats=repeats,
        random_state=0,
        n_jobs=study.jobs,
    )


def robustness(study: Study) -> None:
    """Tau against the size of the pool: Figure 1 of ferrante-2014, here for TREC 12."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained", sharey=True)
    for ax, which in zip(panels, ("all topics", "few highly relevant"), strict=True):
        result = tau_by_fraction(which, 3 if study.quick else 10, study)
        shown(f"Kendall's tau with the complete ranking, {which}", result.to_pandas()["tau"].unstack(level=0))
        result.plot(ax)
        ax.set_title(which if which == "all topics" else f"{len(few(study))} topics with few highly relevant documents")
        ax.get_legend().remove()
        ax.grid(alpha=0.25)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=8)
    study.save(figure, "robustness")


# ---------------------------------------------------------------------------------------------------------- optimality

TRAINED = (gb.GAP(g=BALANCED), gb.AP(), gb.nDCG(), gb.Precision(k=10), gb.nDCG(k=10))
TESTED = TRAINED


def booster(name: str, measure: gb.Measure) -> Any:
    """A small ranker."""
    if name == "LightGBM":
        from gapboost.lightgbm import LGBMGAPRanker

        return LGBMGAPRanker(measure=measure, num_leaves=8, extra_trees=False, verbose=-1, **TREE)
    from gapboost.xgboost import XGBGAPRanker

    return XGBGAPRanker(measure=measure, max_depth=3, **TREE)


@memory.cache(ignore=["data", "jobs"])
def altered(name: str, measure: gb.Measure, fold: int, directions: int, data: Path, jobs: int) -> pd.DataFrame:
    """Counts of improvements by alterations of one trained model."""
    split = load_letor_fold(data / "ohsumed" / f"Fold{fold}")
    ranker = booster(name, measure).fit(split.train.X, split.train.y, qid=split.train.qid)
    sets = {
        part: (analysis.leaf_indicators(ranker, d.X), d.y, d.qid)
        for part, d in (("train", split.train), ("test", split.test))
    }
    result = analysis.local_optimality(
        TESTED, analysis.leaf_values(ranker), sets, n_directions=directions, random_state=fold, n_jobs=jobs
    )
    return result.to_pandas().assign(norm=result.weight_norm)


def optimality(study: Study) -> None:
    """Counts of improvements by random alterations: Table 5 of yilmaz-2009, on OHSUMED."""
    directions = 20 if study.quick else 460
    folds = (1,) if study.quick else (1, 2, 3, 4, 5)
    rows = []
    for name in ("LightGBM", "XGBoost"):
        for measure in TRAINED:
            for fold in folds:
                table = altered(name, measure, fold, directions, study.data, study.jobs).reset_index()
                rows.append(table.assign(booster=name, trained=str(measure), fold=fold))
                print(f"{name}, {measure}, fold {fold}", flush=True)
    whole = pd.concat(rows)
    columns = ["> 0", "> 0.003", "largest", "norm", "alterations"]
    mean = whole.groupby(["booster", "measure", "trained", "data"], sort=False)[columns].mean().unstack("data")
    shown(f"Alterations that improve, mean of {len(folds)} folds", mean)

    # the paper's comparison, fold by fold: a measure of the top, trained for itself or for one of the whole list
    counts = whole.set_index(["booster", "measure", "data", "fold", "trained"])["> 0"].unstack("trained")
    fewer = {
        f"{trained}, not {tested}": (counts[str(trained)] < counts[str(tested)])
        .xs(str(tested), level="measure")
        .groupby(level=["booster", "data"])
        .sum()
        for tested, trained in ((TRAINED[3], TRAINED[1]), (TRAINED[3], TRAINED[0]), (TRAINED[4], TRAINED[2]))
    }
    shown(f"Folds of {len(folds)} in which training for ... leaves fewer improvements > 0", pd.DataFrame(fewer).T)


STUDIES: dict[str, Callable[[Study], None]] = {
    study.__name__: study for study in (informativeness, discrimination, correlation, robustness, optimality)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY", choices=[*STUDIES, []], default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_columns", 50, "display.max_rows", 500)
    for chosen in arguments.studies or STUDIES:
        STUDIES[chosen](Study(arguments.data, arguments.quick, arguments.jobs))

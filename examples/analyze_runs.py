"""Which measure tells more about TREC runs, and which runs are really different.

    python examples/analyze_runs.py qrels.txt run1.gz run2.gz ... [--out DIR]

Reads judgments and two or more runs (plain or .gz), prints tables and, with ``--out``, saves
pictures.
"""

import argparse
from pathlib import Path

import numpy as np

import gapboost as gb
from gapboost import analysis
from gapboost.analysis import trec
from gapboost.model_selection import simplex_grid


def main(qrels_path: Path, run_paths: list[Path], out: Path | None) -> None:
    """The questions of `gapboost.analysis`, one after the other."""
    qrels = trec.read_qrels(qrels_path)
    runs = {str(path): trec.read_run(path) for path in run_paths}
    if len(runs) < max(2, len(run_paths)):
        raise SystemExit("expected two or more different runs")
    top = max(max(judged.values()) for judged in qrels.values())
    g = (1 / top,) * top
    measures = [gb.GAP(g=g), gb.xGAP(g=g), gb.eGAP(g=g), gb.AP(), gb.nDCG(), gb.Precision(k=10)]
    pictures = {}

    # How good is each system, by each measure, and do the measures agree?
    values = analysis.system_values(measures, qrels, runs)
    print(values.to_pandas().round(3).to_string(), "\n")
    agreement = analysis.correlation(values)
    pictures["correlation"] = agreement.plot

    # How many pairs of systems does each measure tell apart?
    power = analysis.discriminative_power(values, random_state=0)
    print(power.to_pandas().round(3).to_string(), "\n")
    pictures["discrimination"] = power.plot

    # The two best systems by GAP: is the difference in it more than chance?
    target = measures[0]
    first, second = values.to_pandas()["GAP"].nlargest(2).index
    topics = [trec.evaluate(target, qrels, runs[name], per_query=True) for name in (first, second)]
    difference = analysis.significance(*topics, random_state=0)
    print(
        f"{first} - {second} in "
        f"{target}:\n{difference.to_pandas().to_string(float_format='{:.4g}'.format)}\n"
    )
    pictures["difference"] = lambda: difference.plot(title=f"{target}: {first} − {second}")

    # Their precision-recall curves, over all topics, in one picture
    def curves(ax: object = None) -> object:
        for name in (first, second):
            lists = trec.rankings(qrels, runs[name]).lists()
            found = [
                analysis.precision_recall(
                    gb.GAP(g=g), x.grades, -np.arange(len(x.grades)), recall_base=x.recall_base
                )
                for x in lists
                if x.recall_base[1:].any()
            ]
            ax = analysis.mean_curve(found).plot(ax, label=f"{name}, mean of {len(found)} topics")
        return ax

    pictures["curves"] = curves

    # Which g tells most about the list behind the value? A few lists will do for a first look.
    lists = trec.rankings(qrels, runs[first]).lists()
    rich = [x for x in lists if len(x.counts) > top and (x.counts[1:] >= 5).all()][:10]
    if rich:
        sweep = analysis.threshold_sweep(rich, grid=simplex_grid(top, 4), n_jobs=1)
        print(
            f"most informative g of {first}, {len(rich)} topics: "
            f"{sweep.best}\n{sweep.to_pandas().round(4).to_string()}"
        )

        pictures["informativeness"] = sweep.plot

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, plot in pictures.items():
            plot().figure.savefig(out / f"{name}.png", dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("qrels", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    main(arguments.qrels, arguments.runs, arguments.out)

"""Tables of migration.md: every parameter of LGBMRanker and XGBRanker, and its effect here.

Nothing is told from memory: names come from the signatures of the installed boosters and from the
table that the rankers read, and each word of the boosters' objectives is tried on a fit of six
rows, whose error or result the tables print.
"""

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import lightgbm
import numpy as np
import xgboost

from gapboost._boosters.parameter_table import ParameterTable
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.parameter_table import LIGHTGBM
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.parameter_table import XGBOOST

# Values of the words that are not passed on as they are, by the first of their names. Test: each
# word has some.
EXAMPLES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "LightGBM": {
        "objective": ("lambdarank", "rank_xendcg"),
        "objective_type": ("lambdarank", "rank_xendcg"),
        "lambdarank_truncation_level": (20,),
        "lambdarank_norm": (True, False),
        "sigmoid": (2.0,),
        "objective_seed": (5,),
        "metric": ("map", "ndcg"),
        "eval_at": ((5, 10),),
        "label_gain": ((0, 1, 3),),
        "boosting": ("dart", "rf"),
        "bagging_by_query": (True,),
        "class_weight": ("balanced",),
        "is_unbalance": (True,),
        "scale_pos_weight": (3.0,),
        "categorical_feature": ((0,),),
    },
    "XGBoost": {
        "objective": ("rank:ndcg", "rank:map", "rank:pairwise"),
        "lambdarank_num_pair_per_sample": (20,),
        "lambdarank_pair_method": ("topk", "mean"),
        "lambdarank_normalization": (True, False),
        "lambdarank_score_normalization": (True, False),
        "lambdarank_unbiased": (True, False),
        "lambdarank_bias_norm": (2.0,),
        "ndcg_exp_gain": (True, False),
        "disable_default_eval_metric": (True,),
        "scale_pos_weight": (3.0,),
        "eval_metric": ("ndcg@10-", "pre@5"),
    },
}

X = np.arange(12.0).reshape(6, 2)
ROWS = {"X": X, "y": np.array([2, 1, 0, 0, 2, 1]), "qid": np.array([0, 0, 0, 1, 1, 1])}

QUIET: Mapping[type, dict[str, Any]] = {
    LGBMGAPRanker: {"n_estimators": 1, "verbose": -1, "min_child_samples": 1, "n_jobs": 1},
    XGBGAPRanker: {"n_estimators": 1, "verbosity": 0, "min_child_weight": 0, "n_jobs": 1},
}
RANKERS = {
    "LightGBM": (LGBMGAPRanker, lightgbm.LGBMRanker, LIGHTGBM),
    "XGBoost": (XGBGAPRanker, xgboost.XGBRanker, XGBOOST),
}


def parameters(function: Any) -> dict[str, Any]:
    """Names and defaults of what a function lists by name."""
    listed = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in listed if p.kind is not p.VAR_KEYWORD and p.name != "self"}


def words(library: str) -> str:
    """The words that the library's ranking objectives and metrics have to themselves."""
    ranker, _, table = RANKERS[library]
    lines = ['| there | here | here with `measure="ndcg"` |', "|---|---|---|"]
    for first, *others in groups(table):
        for number, value in enumerate(EXAMPLES[library][first]):
            here, of_ndcg = (
                tried(ranker, first, value, **asked) for asked in ({}, {"measure": "ndcg"})
            )
            also = f" (or {', '.join(map(code, others))})" if others and number == 0 else ""
            lines.append(
                f"| `{first}={value!r}`{also} | {here} | "
                f"{'the same' if here == of_ndcg else of_ndcg} |"
            )
    return "\n".join(lines)


def groups(table: ParameterTable) -> Iterator[tuple[str, ...]]:
    """Yield each word with its aliases, and XGBoost's metric.

    The metric has no rule, as it is a parameter of the ranker here too.
    """
    yield from (rule.names for rule in table.rules)
    if table is XGBOOST:
        yield ("eval_metric",)


def tried(ranker: type, name: str, value: Any, **asked: Any) -> str:
    """Fit with this value; return the error, or what differs from a fit without it."""
    plain = fitted(ranker, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            other = fitted(ranker, **{**asked, name: value})
        except ValueError as error:
            return refused(str(error))
    changes = []
    if repr(other.objective_) != repr(plain.objective_):
        changes.append(f"trains by {code(other.objective_)}")
    reported = [name for name in reports(other) if name not in reports(plain)]
    if reported:
        changes.append(f"reports {', '.join(map(code, reported))}")
    return " and ".join(changes) or "taken"


def refused(message: str) -> str:
    """Write an error as a cell: the replacement of the parameter, or the reason to remove it."""
    text = " ".join(message.replace("|", r"\|").split())
    _, removed, instead = text.partition("; remove it, and write ")
    if removed:
        return f"error: write {code(instead)}"
    _, removed, reason = text.partition("; remove it: ")
    return "error: " + (f"remove it: {reason}" if removed else text.partition("; expected ")[2])


def fitted(ranker: type, **asked: Any) -> Any:
    """A ranker of one tree."""
    sets = {"eval_set": [(X, ROWS["y"])], "eval_qid": [ROWS["qid"]]}
    return ranker(**QUIET[ranker], **asked).fit(**ROWS, **sets)


def reports(ranker: Any) -> list[str]:
    """Return the names of the metrics in the log of a ranker."""
    (values,) = ranker.evals_result_.values()
    return list(values)


def code(value: Any) -> str:
    """Write a value as code in Markdown."""
    return f"`{value}`"


def trees(library: str) -> str:
    """The parameters of the signature: which are the same, and which have another default."""
    ranker, theirs, table = RANKERS[library]
    there, here = parameters(theirs.__init__), parameters(ranker.__init__)
    there |= {} if theirs is lightgbm.LGBMRanker else parameters(xgboost.XGBModel.__init__)
    worded = {name for names in groups(table) for name in names}
    same = [name for name in there if name in here and name not in worded]
    missing = [name for name in there if name not in here and name not in worded]
    others = sorted(table.known() - there.keys() - worded)
    assert not missing, missing
    assert all(repr(there[name]) == repr(here[name]) for name in same)
    own = ", ".join(
        f"`{name}={here[name]!r}`" for name in here if name not in there or name == "objective"
    )
    return (
        f"* **The same name, meaning and default**: {', '.join(map(code, same))}.\n"
        f"* **New**: {own}.\n"
        f"* **Passed on by name**, as the booster does: the other {len(others)} names that "
        f"{library} "
        f"{version(library)} knows, {', '.join(map(code, others[:4]))} among them."
    )


def version(library: str) -> str:
    """Return the version of the installed booster."""
    return str((lightgbm if library == "LightGBM" else xgboost).__version__)


def fit(library: str) -> str:
    """The arguments of `fit`."""
    ranker, theirs, _ = RANKERS[library]
    there, here = parameters(theirs.fit), parameters(ranker.fit)
    missing = [name for name in there if name not in here]
    assert not missing, missing
    new = [name for name in here if name not in there]
    return (
        f"* **The same**: {', '.join(map(code, there))}.\n* **New**: {', '.join(map(code, new))}."
    )


def substitutions() -> dict[str, str]:
    """Return the texts for the names in double braces of migration.md."""
    tables = {"words": words, "trees": trees, "fit": fit}
    return {
        f"{library.lower()}_{name}": table(library)
        for library in RANKERS
        for name, table in tables.items()
    }


if __name__ == "__main__":
    for name, text in substitutions().items():
        print(f"--- {name}\n{text}\n")

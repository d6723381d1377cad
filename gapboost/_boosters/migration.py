"""Parameters of the boosters without effect here: one error says what replaces each."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from gapboost._boosters.callbacks import metric_names
from gapboost.measures import Measure, as_measure
from gapboost.measures.parser import NotAMeasure
from gapboost.validation import short_repr

# What replaces a parameter, or a function of its value that says it; None keeps the value.
Replacements = Mapping[str, str | Callable[[Any], str | None]]

# What replaces parameters, each as it is written: {"name=value": text}.
Suggestions = dict[str, str]

# Parameters that ask for early stopping: XGBoost's, LightGBM's and its aliases.
EARLY_STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
)

# Other names of n_estimators, in LightGBM and in `xgboost.train`.
ROUNDS = (
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
    *("num_rounds", "nrounds", "num_boost_round", "max_iter"),
)

OF_NDCG = ("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart")

# Objectives of both boosters, and what replaces them.
OBJECTIVES = {
    **dict.fromkeys((*OF_NDCG, "rank:ndcg"), "measure='ndcg', or leave it out to train for GAP"),
    "rank:map": "measure='ap', or leave it out to train for GAP",
    "rank:pairwise": "objective='ranknet'",
}

# LightGBM's other names of its metrics.
LIGHTGBM_METRICS = {**dict.fromkeys(OF_NDCG, "ndcg"), "mean_average_precision": "map"}

# Arguments of fit that mean the same in LightGBM, XGBoost and CatBoost.
SAME_IN_FIT = (
    ("qid", "group_id", "groups", "query", "queries", "query_id"),
    ("sample_weight", "group_weight", "weight", "weights"),
    ("init_score", "base_margin", "baseline"),
    ("eval_sample_weight", "sample_weight_eval_set"),
    ("eval_init_score", "base_margin_eval_set"),
    ("init_model", "xgb_model"),
    ("categorical_feature", "cat_features"),
    ("verbose", "verbose_eval"),
)

WEIGHTS = "sample_weight=... in fit"
ALL_PAIRS = "leave it out: the gradient is that of all pairs"


def renamed(name: str, replacement: Any = None) -> Callable[[object], str]:
    """Return a replacement by another name, or by what replaces that name in turn."""

    def instead(value: object) -> str:
        new = replacement(value) if callable(replacement) else replacement
        return new or f"{name}={value!r}"

    return instead


# CatBoost's names of parameters that both boosters have.
CATBOOST: Replacements = {
    "iterations": renamed("n_estimators"),
    "depth": renamed("max_depth"),
    "l2_leaf_reg": renamed("reg_lambda"),
    "border_count": renamed("max_bin"),
    "thread_count": renamed("n_jobs"),
    "loss_function": 'measure="ndcg", or leave it out to train for GAP',
}


def objective(name: object) -> str | None:
    """Return what replaces an objective of the boosters."""
    return OBJECTIVES.get(name) if isinstance(name, str) else None


def first_ranks(rank: object) -> str:
    """Return what replaces a last rank, which one document of each pair must have reached."""
    return (
        f'{ALL_PAIRS}; a measure like "ndcg@10" trains for first ranks, '
        f"objective=gb.LambdaRank(..., truncation={short_repr(rank)}) by their pairs alone"
    )


def normalization(wanted: object) -> str:
    """Return what replaces LightGBM's and XGBoost's scaling of the gradients."""
    instead = "objective=gb.LambdaRank(..., normalize=False, score_distance=None)"
    return "leave it out" if wanted else f"leave it out, or {instead}"


def steepness(sigma: object) -> str:
    """Return what replaces LightGBM's parameter of the sigmoid."""
    return f"leave it out, or objective=gb.LambdaRank(..., sigma={sigma!r})"


def gains_of_ndcg(gains: Any) -> str:
    """Return what replaces LightGBM's gains of labels, or the name of gains."""
    if isinstance(gains, str) and "," in gains:
        gains = np.array(gains.split(","), np.float64)
    if not isinstance(gains, str):
        gains = tuple(np.asarray(gains).tolist())
    measure = f"gb.nDCG(gains={gains!r})"
    return f"measure={measure}, or leave it out to train for GAP; eval_metric takes it too"


def cutoffs(ks: object) -> str:
    """Return `eval_metric` for cutoffs of nDCG: a number, several, or text such as "5,10"."""
    names = [f"ndcg@{k}" for k in re.findall(r"[1-9]\d*", str(np.asarray(ks)))]
    return f"eval_metric={names or ['ndcg']}"


def metrics(given: Any) -> str:
    """Return `eval_metric` for a metric or several, of which some are measures or functions."""
    several = given.split(",") if isinstance(given, str) else given
    found = []
    for one in several if isinstance(several, list | tuple | set) else [several]:
        metric = LIGHTGBM_METRICS.get(one, one) if isinstance(one, str) else one
        if callable(metric):  # a function, or `eval_metric` of a booster
            return "eval_metric=..."
        with suppress(TypeError, ValueError):
            as_measure(metric)
            found.append(str(metric))
    return f"eval_metric={found}" if found else "leave it out"


def refuse(arguments: Mapping[str, object], reason: str) -> None:
    """Raise ValueError if one of the arguments is not None."""
    given = sorted(name for name, value in arguments.items() if value is not None)
    if given:
        raise ValueError(f"{', '.join(given)}: expected None, because {reason}")


def check_parameters(
    ranker: Any,
    arguments: Mapping[str, Any],
    known: Collection[str],
    replacements: Replacements,
    of_fit: Replacements,
    booster: str = "",
) -> None:
    """Raise one ValueError for parameters of a ranker and arguments of `fit` without effect.

    Parameters
    ----------
    ranker : LGBMGAPRanker or XGBGAPRanker
    arguments : mapping
        Those that `fit` does not have.
    known : collection of str
        Names of parameters of the booster.
    replacements, of_fit : Replacements
        Of parameters, and of arguments of `fit`.
    booster : str
        As in `misspelt`.
    """
    given = ranker.get_params(deep=False)
    has_measure = ranker.measure != "gap" or ranker.g is not None
    if isinstance(ranker.objective, str) and ranker.objective == "lambdarank" and has_measure:
        del given["objective"]  # which is ours, by a name that LightGBM has too
    unknown = misspelt(ranker, known, replacements, booster)
    found = replaced(given, {**unknown, **replacements})
    refuse_foreign(found | misplaced(ranker, arguments, known, of_fit))


def refuse_foreign(found: Suggestions) -> None:
    """Raise one ValueError for all parameters that would change nothing."""
    if found:
        names = ", ".join(dict.fromkeys(written.partition("=")[0] for written in found))
        lines = [f"\n  {written} -> {instead}" for written, instead in found.items()]
        raise ValueError(f"{names}: without effect here; write instead{''.join(lines)}")


def replaced(given: Mapping[str, Any], replacements: Replacements) -> Suggestions:
    """Return what replaces parameters of a ranker, or of a booster's `train`; None is not given."""
    found = {}
    for name, replacement in replacements.items():
        value = given.get(name)
        new = replacement(value) if callable(replacement) and value is not None else replacement
        if value is not None and new is not None:
            found[f"{name}={short_repr(value)}"] = str(new)
    return found


def misplaced(
    ranker: object, arguments: Mapping[str, Any], known: Collection[str], replacements: Replacements
) -> Suggestions:
    """Return what replaces arguments that `fit` does not have.

    Parameters
    ----------
    ranker : LGBMGAPRanker, XGBGAPRanker or GSearchCV
    arguments : mapping
    known : collection of str
        Names of parameters of the booster.
    replacements : Replacements
        Of other arguments.
    """
    kind: Any = type(ranker)
    found = {}
    for name, value in arguments.items():
        taken = [n for n, p in signature(kind.fit).parameters.items() if p.kind != p.VAR_KEYWORD]
        equals = [other for names in SAME_IN_FIT if name in names for other in names]
        same = [other for other in equals if other in taken]
        near = get_close_matches(name, taken, 1, 0.8)
        new: Any = replacements.get(name)
        if same:
            new = f"{same[0]}=... in fit"
        elif callable(new):
            new = None if value is None else new(value)
        elif new is None and name in _listed(kind).union(known):
            new = f"{name}={short_repr(value)} in the constructor"
        elif new is None and near:
            new = f"{near[0]}=... in fit"
        new = new or f"leave it out: {kind.__name__}.fit has no such argument"
        found[f"{name}={short_repr(value)} in fit"] = new
    return found


def misspelt(
    ranker: Any, known: Collection[str], replacements: Replacements, booster: str = ""
) -> Replacements:
    """Return the nearest name of each parameter that a ranker does not know, for `replaced`.

    Parameters
    ----------
    ranker : LGBMGAPRanker or XGBGAPRanker
        Its classes list parameters.
    known : collection of str
        Other names.
    replacements : Replacements
        Of the nearest names.
    booster : str
        Name of the booster that knows no other parameters: those without a near name are refused.
    """
    found: dict[str, str | Callable[[object], str]] = {}
    kind: type = type(ranker)
    names = _listed(kind).union(known)
    for name in ranker.get_params(deep=False):
        if name in names or name in replacements:
            continue
        if name in signature(type(ranker).fit).parameters:
            found[name] = f"{name}=... in fit"
        elif near := get_close_matches(name, sorted(names.union(replacements)), 1, 0.8):
            # A word of Python is no argument.
            new = "reg_lambda" if near[0] == "lambda" else near[0]
            found[name] = renamed(new, replacements.get(new))
        elif booster:
            found[name] = f"leave it out: {booster} has no such parameter"
    return found


@cache
def _listed(kind: type) -> frozenset[str]:
    """Return the parameters that a class and those that it extends list."""
    return frozenset(name for base in kind.__mro__ for name in signature(base).parameters)


def note_names(error: Exception, sets: Collection[str], names: Sequence[str]) -> None:
    """Add the names of reported metrics to the error of a callback that looks for another one.

    An error that is no KeyError has them only if it quotes another name of a reported measure.

    Parameters
    ----------
    error : Exception
    sets : collection of str
        Evaluation sets.
    names : sequence of str
        Metrics, as callbacks name them; perhaps with the evaluation set before a hyphen.
    """
    near: list[str] = []
    for text in re.findall(r"""['"]([^'"]+)['"]""", str(error)):
        data_set, hyphen, word = text.rpartition("-")
        with suppress(TypeError, ValueError):
            (name,) = metric_names([_nearest_measure(word)])
            same = [one for one in names if one.rpartition("-")[2] == name and one != text]
            near += get_close_matches(data_set + hyphen + name, same, 1, 0)
    if near or isinstance(error, KeyError):
        found = "no metric is reported without eval_set"
        if sets:
            found = f"metrics of {', '.join(sets)} are {', '.join(names)}"
        error.add_note(found + (f"; did you mean {near[0]!r}?" if near else ""))


def _nearest_measure(text: str) -> Measure:
    try:
        return as_measure(text)
    except NotAMeasure as error:
        return as_measure(error.near)

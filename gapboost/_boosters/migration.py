"""Parameters of the boosters without effect here: one error says what replaces them."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from gapboost._boosters.callbacks import unpacked
from gapboost._boosters.metrics import metric_names
from gapboost.measures import Measure, as_measure, nDCG
from gapboost.measures.parser import NotAMeasure
from gapboost.objectives import Objective
from gapboost.validation import short_repr

# What replaces a parameter, or a function of its value that says it; None keeps the value.
Replacements = Mapping[str, str | Callable[[Any], str | None]]

OF_NDCG = ("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart")

# LightGBM's other names of its metrics.
LIGHTGBM_METRICS = {**dict.fromkeys(OF_NDCG, "ndcg"), "mean_average_precision": "map"}

# What the objectives of both boosters train for, as code.
TRAINED_FOR = {**dict.fromkeys((*OF_NDCG, "rank:ndcg"), "'ndcg'"), "rank:map": "'ap'"}

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

ALL_PAIRS = "leave it out: the gradient is that of all pairs"


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


WEIGHTS = "sample_weight=... in fit"


class Foreign(NamedTuple):
    """Parameters that would change nothing, as they are written, and what replaces them."""

    names: str
    written: str
    instead: str


def refuse_foreign(
    given: Mapping[str, object], replacements: Replacements, others: Sequence[Foreign] = ()
) -> None:
    """Raise one ValueError for all parameters that would change nothing.

    Parameters
    ----------
    given : mapping
        Parameters of a ranker, or of a booster's `train`. None means not given.
    replacements : Replacements
    others : sequence of Foreign
        To be named too.
    """
    found = []
    for name, replacement in replacements.items():
        value = given.get(name)
        new = replacement(value) if callable(replacement) and value is not None else replacement
        if value is not None and new is not None:
            found.append(Foreign(name, f"{name}={short_repr(value)}", str(new)))
    found += others
    if found:
        names = ", ".join(dict.fromkeys(each.names for each in found))
        lines = [f"\n  {each.written} -> {each.instead}" for each in found]
        raise ValueError(f"{names}: without effect here; write instead{''.join(lines)}")


def together(
    given: Mapping[str, Any], instead: str, of_fit: Mapping[str, Any] | None = None
) -> list[Foreign]:
    """Return one replacement for all that is given to the constructor and to `fit`, if anything."""
    places = ((given, ""), (of_fit or {}, " in fit"))
    written = [f"{n}={short_repr(v)}{place}" for found, place in places for n, v in found.items()]
    names = dict.fromkeys([*given, *(of_fit or {})])
    return [Foreign(", ".join(names), ", ".join(written), instead)] if written else []


def misplaced(
    ranker: object, arguments: Mapping[str, Any], known: Collection[str], replacements: Replacements
) -> list[Foreign]:
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
    if not arguments:
        return []
    kind: Any = type(ranker)
    taken = [n for n, p in signature(kind.fit).parameters.items() if p.kind != p.VAR_KEYWORD]
    found = []
    for name, value in arguments.items():
        new: Any = replacements.get(name)
        same = [other for names in SAME_IN_FIT if name in names for other in names]
        near = get_close_matches(name, taken, 1, 0.8)
        if there := [other for other in same if other in taken]:
            is_short = isinstance(value, str | list) and len(repr(value)) <= 100
            new = f"{there[0]}={repr(value) if is_short else '...'} in fit"
        elif callable(new):
            new = new(value)
        elif new is None and name in _listed(kind).union(known):
            new = f"{name}={short_repr(value)} in the constructor"
        elif new is None and near:
            new = f"{near[0]}=... in fit"
        new = new or f"leave it out: {kind.__name__}.fit has no such argument"
        found += together({}, new, {name: value})
    return found


def misspelt(
    ranker: Any,
    known: Collection[str],
    replacements: Replacements,
    overruled: Collection[str] = (),
    booster: str = "",
) -> Replacements:
    """Return the nearest name of each parameter that a ranker does not know, for `refuse_foreign`.

    Parameters
    ----------
    ranker : LGBMGAPRanker or XGBGAPRanker
        Its classes list parameters.
    known : collection of str
        Other names.
    replacements : Replacements
        Of the nearest names.
    overruled : collection of str
        Names that would be ignored.
    booster : str
        Name of the booster that knows no other parameters: those without a near name are refused.
    """
    found: dict[str, str | Callable[[object], str]] = {}
    kind: type = type(ranker)
    names = _listed(kind).union(known)
    for name in ranker.get_params(deep=False):
        if name in names or name in replacements:
            continue
        right = sorted(names.union(replacements).difference(overruled))
        if name in signature(type(ranker).fit).parameters:
            found[name] = f"{name}=... in fit"
        elif near := get_close_matches(name, right, 1, 0.8):
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


def ndcg(gains: Any, k: int | None = None) -> str:
    """Return nDCG with LightGBM's gains of labels, or those of a name, as code."""
    if isinstance(gains, str) and "," in gains:
        gains = np.array(gains.split(","), np.float64)
    if not isinstance(gains, str):
        gains = tuple(np.asarray(gains).tolist())
    return f"gb.nDCG(gains={gains!r}" + (f", k={k})" if k else ")")


def has_measure(ranker: Any) -> bool:
    """Return True if a ranker names another measure than the default one."""
    return bool(ranker.measure != "gap" or ranker.g is not None)


def of_objective(ranker: Any) -> str:
    """Return the measure that the objective of a ranker means in the boosters, as code; or nothing.

    One name is also ours: "lambdarank" of a measure.
    """
    name = ranker.objective
    if not isinstance(name, str) or (name == "lambdarank" and has_measure(ranker)):
        return ""
    return TRAINED_FOR.get(name, "")


def pairwise(objective: object) -> str | None:
    """Return what replaces XGBoost's objective of pairs."""
    is_ranknet = isinstance(objective, str) and objective == "rank:pairwise"
    return "objective='ranknet'" if is_ranknet else None


def trained_for(
    ranker: Any, given: Mapping[str, Any], measure: str = "", sigma: Any = None
) -> list[Foreign]:
    """Return one replacement for the parameters that choose what is trained for.

    Parameters
    ----------
    ranker : LGBMGAPRanker or XGBGAPRanker
    given : mapping
        The parameters to replace; None means not given.
    measure : str
        The measure that they ask for, as code. By default that of the ranker.
    sigma : float, optional
        Steepness of the gradients.
    """
    given = {n: v for n, v in given.items() if v is not None}
    if not given:
        return []
    own = has_measure(ranker)
    kind = {"ranknet": "RankNet", "softrank": "", "approxrank": ""}.get(
        str(ranker.objective), "LambdaRank"
    )
    instead = "leave it out"
    if isinstance(ranker.objective, Objective):
        pass
    elif sigma is not None and kind:
        measure = measure or repr(str(as_measure(ranker.measure, ranker.g)) if own else "gap")
        instead = f"objective=gb.{kind}({measure}, sigma={sigma!r})"
        instead += ", without measure and g" if own else ""
    elif measure and measure != repr(ranker.measure):
        instead = f"measure={measure}" + (", without g" if ranker.g is not None else "")
        instead += "" if own else ", or leave it out to train for GAP"
    return together(given, instead)


def cutoff(ranker: Any) -> int | None:
    """Return the cutoff of a ranker's measure."""
    return as_measure(ranker.measure, ranker.g).k


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
            (name,) = metric_names([_known(word)[1]])
            same = [one for one in names if one.rpartition("-")[2] == name and one != text]
            near += get_close_matches(data_set + hyphen + name, same, 1, 0)
    if near or isinstance(error, KeyError):
        found = "no metric is reported without eval_set"
        if sets:
            found = f"metrics of {', '.join(sets)} are {', '.join(names)}"
        error.add_note(found + (f"; did you mean {near[0]!r}?" if near else ""))


def listed_metrics(metrics: object) -> list[Any]:
    """Return one metric or several as a list, those of a native metric of ours one by one."""
    if metrics is None:
        return []
    return unpacked(metrics if isinstance(metrics, list | tuple | set) else [metrics])


def take_gains(metrics: Sequence[object], gains: object) -> bool:
    """Return True if there are gains, and a metric is nDCG that does not name its own."""
    return gains is not None and metrics_at(metrics, None, gains) != metrics_at(metrics, None)


def metrics_at(metrics: Sequence[Any], cutoffs: object, gains: Any = None) -> list[str]:
    """Return the names of metrics that are measures, at cutoffs, and of callables.

    Parameters
    ----------
    metrics : sequence of str, Measure or callable
        Also by LightGBM's names. Those that have a cutoff keep it.
    cutoffs : int, sequence of int, str or None
        A text such as "5,10" too.
    gains : sequence of float or str, optional
        Of nDCG that does not name its own.
    """
    ks = re.findall(r"[1-9]\d*", "" if cutoffs is None else str(np.asarray(cutoffs)))
    found = []
    for metric in metrics:
        if callable(metric) and not isinstance(metric, type | Measure):
            found.append(metric.__name__)
            continue
        text = str(metric)
        text = LIGHTGBM_METRICS.get(text, text)
        with suppress(TypeError, ValueError):
            text, measure = _known(text)
            is_cut = "@" in text or "k=" in text or "k" not in signature(type(measure)).parameters
            if gains is not None and measure == nDCG(k=measure.k):
                found += [ndcg(gains, k) for k in (ks if ks and not is_cut else [measure.k])]
            else:
                found += [repr(text)] if is_cut or not ks else [repr(f"{text}@{k}") for k in ks]
    return list(dict.fromkeys(found))


def _known(text: str) -> tuple[str, Measure]:
    """Return the name of a measure, or the nearest one, and the measure; raise without any."""
    try:
        return text, as_measure(text)
    except NotAMeasure as error:
        return error.near, as_measure(error.near)

"""`compare_rankers`: everything is checked, then trained."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib

from gapboost._data.arguments import one_of, whole
from gapboost._data.columns import raveled
from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost._optional import progress_bar
from gapboost.comparison.checkpoint import Checkpoint, Setting, setting_name
from gapboost.comparison.comparison import Comparison
from gapboost.comparison.data import documents, splits
from gapboost.comparison.digest import digest
from gapboost.comparison.field import checked_rankers, described
from gapboost.comparison.handing import stops_early
from gapboost.comparison.run import Run
from gapboost.comparison.spaces import candidates
from gapboost.comparison.values import Values
from gapboost.comparison.work import Work, check_rankers
from gapboost.measures import Measure, Measures, as_measure, as_measures

MEASURES = ("gap", "ndcg@10", "map")


def compare_rankers(
    X: Any,
    y: Any,
    qid: Any = None,
    rankers: Mapping[str, Any] | None = None,
    *,
    group: Any = None,
    measures: Measures = MEASURES,
    cv: Any = 5,
    seeds: int = 3,
    tune: int | None = None,
    choose_by: str | Measure | None = None,
    spaces: Mapping[str, Mapping[str, Any]] | None = None,
    leave_out: Sequence[str] = (),
    shuffle: bool = True,
    checkpoint: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Train rankers on the same folds of whole queries, test them on the others, and say which is ahead of which.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Features; a data frame may hold the query ids as its column ``qid``.
    y : array-like of shape (N,)
        Grades.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    rankers : mapping {name: ranker}, optional
        Estimators with `fit` and `predict` of any library, each handed its data in the form that its `fit` wants: ids, sizes or
        neither. None is `standard_rankers`.
    group : array-like of shape (Q,), optional
        Sizes of the queries in place of `qid`, where the rows come query by query.
    measures : str, Measure or sequence of them
        What is tested, by ties' expected values. An open g is uniform over the grades of all rows, not of a fold's.
    cv : int, splitter, or iterable of (train, test) or (train, vali, test) row numbers, default=5
        Folds of whole queries: a number as in `sklearn.model_selection.GroupKFold`, or ready-made ones. None tests a query twice.
    seeds : int, default=3
        Models of each ranker on each fold, with ``random_state`` 1, 2, ...; one for a ranker without it.
    tune : int, optional
        Candidates of each ranker, drawn from `spaces`; the validation queries of a fold choose. None takes rankers as they come.
    choose_by : str or Measure, optional
        The one measure that chooses candidates, and the best ranker. By default the first of `measures`.
    spaces : mapping {name: {parameter: list or distribution}}, optional
        For `tune`, as `sklearn.model_selection.ParameterSampler` takes them. By default ``gapboost.comparison.spaces.SPACES``,
        one for each of LightGBM, XGBoost and CatBoost.
    leave_out : sequence of str
        Names of rankers that are not to be compared, such as one that does not take these grades.
    shuffle : bool, default=True
        Bring the documents of a query into a random order, the same for all: LightGBM breaks ties in training by the order of
        rows, which a file sorted by grades would give away.
    checkpoint : path, optional
        A folder for finished trainings. The same call goes on from it; several processes may share it, and
        with it the work; on Windows each does all that it does not find finished. Rankers, data and folds are compared by
        their content, which lambdas among the parameters of a ranker do not have.
    n_jobs : int, optional
        Processes (joblib's). A ranker that does not say how many threads it wants gets one; the values are the same for every
        `n_jobs`.
    progress : bool, optional
        Show a progress bar with the time left (needs tqdm). None shows it in a terminal or notebook where tqdm is installed.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        Before the first training, where an argument is unusable, a fold holds fewer than two queries in a part, a ranker does
        not take these features or grades, or the checkpoint belongs to other data or settings.

    Notes
    -----
    Where a ranker is tuned or stops early, fold k of a number of folds validates on the queries that fold k + 1 tests, and no
    ranker trains on them.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> from sklearn.linear_model import Ridge
    >>> train = load_digits_ranking().train
    >>> rankers = {"line": Ridge(), "GAP": LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)}
    >>> comparison = compare_rankers(train.X, train.y, train.qid, rankers, measures="map", seeds=1)
    >>> comparison.summary("line")["verdict"].tolist()
    ['ahead']
    """
    run = prepared(
        X, y, qid, rankers, group=group, measures=measures, cv=cv, seeds=seeds, tune=tune, choose_by=choose_by, spaces=spaces,
        leave_out=leave_out, shuffle=shuffle, checkpoint=checkpoint, n_jobs=n_jobs,
    )  # fmt: skip
    one_of(progress, "progress", (True, False, None))
    with progress_bar(run.total, progress, "compare_rankers") as advance:
        return carried_out(run, lambda result: advance(1))


def prepared(
    X: Any,
    y: Any,
    qid: Any,
    rankers: Mapping[str, Any] | None,
    *,
    group: Any,
    measures: Measures,
    cv: Any,
    seeds: int,
    tune: int | None,
    choose_by: str | Measure | None,
    spaces: Mapping[str, Mapping[str, Any]] | None,
    leave_out: Sequence[str],
    shuffle: bool,
    checkpoint: Any,
    n_jobs: int | None,
    source: str = "",
) -> Run:
    """All that `compare_rankers` checks, ready to be carried out."""
    field = checked_rankers(rankers, leave_out)
    named = _measures_by_name(measures)
    chooses = next(iter(named.values())) if choose_by is None else as_measure(choose_by, None, "choose_by")
    whole(seeds, "seeds")
    one_of(shuffle, "shuffle", (True, False))
    resolve_n_jobs(n_jobs)
    drawn = candidates(field, tune, spaces)
    (y,) = raveled({"y": y})
    docs, queries = documents(X, y, qid, group, [*named.values(), chooses], shuffle)
    folds = splits(queries, cv, bool(drawn) or any(map(stops_early, field.values())), X, y)
    work = Work(
        docs, folds, field, {name: measure.resolved(docs.grades) for name, measure in named.items()},
        chooses.resolved(docs.grades), drawn, source,
    )  # fmt: skip
    check_rankers(work)
    saved = None if checkpoint is None else Checkpoint(Path(checkpoint), _settings(work))
    if saved is not None:
        saved.open()
    return Run(work, seeds, saved, joblib.effective_n_jobs(n_jobs))


def carried_out(run: Run, seen: Any) -> Comparison:
    """Train what is left, and put the answer together; `seen` is shown each result as it comes."""
    searches, tested = run.results(seen)
    work = run.work
    return Comparison(Values(tested, [work.documents.ids[split.test] for split in work.splits]), work, searches)


def _measures_by_name(measures: Measures) -> dict[str, Measure]:
    """Measures by the names that the caller gives them.

    Raises
    ------
    ValueError
        Where there are none, or one is there twice.
    """
    values = as_measures(measures)
    given = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"measures is {measures!r}; expected one or more measures, each once")
    return {str(name): value for name, value in zip(given, values, strict=True)}


def _settings(work: Work) -> dict[str, Setting]:
    """Return everything that the results depend on."""
    docs, tuned = work.documents, work.candidates
    size = f"{len(docs.all.y)} documents of {len(docs.ids)} queries with {docs.all.X.shape[1]} features"
    ids = [str(i) for i in docs.ids]
    folds = [(split.train, split.vali, split.test) for split in work.splits]
    measures = dict(work.measures)
    chooses = work.choose_by if tuned else None
    return {
        "data": Setting(size, digest((docs.all.X, docs.all.y, docs.all.sizes, ids), "X")),
        "cv": Setting(f"{len(folds)} folds", digest(folds, "cv")),
        "measures": Setting(
            ", ".join(f"{name}: {measure}" for name, measure in measures.items()), digest(measures, "measures")
        ),
        "choose_by": Setting(str(chooses), digest(chooses, "choose_by")),
        **{
            setting_name(name): Setting(
                described(ranker) + (f", tuned: {tuned[name]}" if name in tuned else ""),
                digest([digest(ranker, f"rankers[{name!r}]"), digest(tuned.get(name), f"spaces[{name!r}]")], "rankers"),
            )
            for name, ranker in work.rankers.items()
        },
    }

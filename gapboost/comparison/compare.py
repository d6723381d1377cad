"""`compare_rankers`, the public function."""

import os
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_memory

from gapboost.comparison.data import find_leaks, shuffled, splits
from gapboost.comparison.rankers import check_trees, checked_rankers
from gapboost.comparison.result import Comparison
from gapboost.comparison.spaces import draw_candidates
from gapboost.comparison.training import Trainer
from gapboost.data import ArrayLike, QueryIds, RankingDataset
from gapboost.measures import Measure, Measures, as_measure
from gapboost.measures.labels import grade_limit
from gapboost.measures.parser import measures_by_name
from gapboost.optional import progress_bar
from gapboost.validation import as_integer, one_of, resolve_n_jobs, warn

DEFAULT_MEASURES = ("gap", "ndcg@10", "map")


def compare_rankers(
    X: object,
    y: ArrayLike,
    qid: QueryIds = None,
    rankers: Mapping[str, Any] | None = None,
    *,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    measures: Measures = DEFAULT_MEASURES,
    cv: object = 5,
    repeats: int = 3,
    tune: int | None = None,
    choose_trees: bool = False,
    choose_by: str | Measure | None = None,
    spaces: Mapping[str, Mapping[str, object]] | None = None,
    shuffle: bool = True,
    memory: object = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Train rankers on the same folds of whole queries, and compare them on the test queries.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Features; a data frame may hold the query ids in a column ``qid``.
    y : array-like of shape (N,), or (N, L)
        Grades. Of several labels, measures say which they read (`gapboost.measures.OfLabel`), and
        so do rankers of gapboost. Rankers of other libraries train on the first label.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    rankers : mapping {name: ranker}, optional
        Estimators of any library with `fit` and `predict`. Each gets queries in the form that its
        `fit` takes: ids, sizes or none. Steps of a pipeline get ``qid`` if they request it, as
        `gapboost.preprocessing.QueryRelativeFeatures` does, and transform validation and test
        queries too. Leave out early stopping, as no ranker gets an evaluation set: see
        `choose_trees`. None compares `standard_rankers`.
    group : array-like of shape (Q,), optional
        Sizes of the queries, instead of `qid`, if the rows come query by query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries or of the rows, as in `LGBMGAPRanker.fit`. They count in the training
        of each ranker whose `fit` takes weights: XGBoost's and CatBoost's own rankers take the
        mean of each query. Test queries count alike.
    measures : str, Measure or sequence of them
        Measures of the test queries; ties count their expected value. An open g is uniform over the
        grades of all rows, not of one fold.
    cv : int, splitter, or iterable of (train, test) or (train, vali, test) row numbers, default=5
        Folds of whole queries: their number, or your own. A number deals the queries to folds at
        random. Your own test each query at most once.
    repeats : int, default=3
        Repeat r trains with ``random_state=r``. If `cv` is a number, each repeat also has its own
        folds, and errors account for queries and for models. Your own folds are the same in each
        repeat, with documents in another order if `shuffle`, and values are averaged over the
        repeats.
    tune : int, optional
        Number of candidates of each ranker, drawn from `spaces`. The candidate with the best values
        on the validation queries of a split is tested, so that tuning trains as many models for
        each split. None does not tune.
    choose_trees : bool, default=False
        Choose the number of trees of each model: the one of every fifth number with the best values
        on the validation queries of its split, up to the ranker's own number. Rankers of LightGBM,
        XGBoost and CatBoost are treated alike. Others have no trees, and are tested as they are.
    choose_by : str or Measure, optional
        Measure that chooses candidates, trees and the best ranker. By default the first of
        `measures`.
    spaces : mapping {name: {parameter: list or distribution}}, optional
        Spaces for `tune`, in the form of `sklearn.model_selection.ParameterSampler`. By default
        ``gapboost.comparison.spaces.SPACES``, which has one for each of LightGBM, XGBoost and
        CatBoost, for the last step of a pipeline too. In your own space, parameters of a pipeline
        are named like ``lgbmgapranker__num_leaves``. ``{}`` leaves a ranker as it is.
    shuffle : bool, default=True
        Bring the documents of each query into a random order, the same for all rankers. A
        booster may order ties in training by row, and a file that is sorted by grade would give the
        grades away.
    memory : path or joblib.Memory, optional
        Cache of trainings, as in `sklearn.pipeline.Pipeline`. An interrupted call continues from
        it, and several processes may share it. A training is found again if data, fold, ranker,
        measures and versions of libraries are the same. A class of your own counts by its name:
        clear the cache when you change its code.
    n_jobs : int, optional
        Number of joblib's processes; each trains one ranker on one split. A ranker without a number
        of threads gets one thread. The values are the same for every `n_jobs`.
    progress : bool, optional
        Show a progress bar; needs tqdm. None shows it in a terminal or notebook if tqdm is
        installed.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        Before the first training, if an argument is unusable, a part of a fold holds fewer than two
        queries, or a ranker cannot be trained on the first fold.

    Warns
    -----
    UserWarning
        If a feature alone ranks like the grades, before the first training; if the repeats of a
        ranker are identical; if a candidate of `tune` cannot be trained.

    Notes
    -----
    If rankers are tuned, or trees are chosen, and `cv` has no validation queries, fold k validates
    on the queries that fold k + 1 tests, and no ranker trains on them.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> from sklearn.linear_model import Ridge
    >>> train = load_digits_ranking().train
    >>> rankers = {"line": Ridge(), "GAP": LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)}
    >>> comparison = compare_rankers(
    ...     train.X, train.y, train.qid, rankers, measures="map", repeats=1
    ... )
    >>> comparison.summary("line")["verdict"].tolist()
    ['ahead']
    """
    rankers = checked_rankers(rankers)
    named = measures_by_name(measures)
    chooser = next(iter(named.values()))
    if choose_by is not None:
        chooser = as_measure(choose_by, None, "choose_by")
    as_integer(repeats, "repeats")
    one_of(shuffle, "shuffle", (True, False))
    one_of(progress, "progress", (True, False, None))
    resolve_n_jobs(n_jobs)
    if one_of(choose_trees, "choose_trees", (True, False)):
        check_trees(rankers)
    candidates = draw_candidates(rankers, tune, spaces)
    if isinstance(memory, str | os.PathLike):
        memory = os.path.abspath(memory)  # joblib's processes may be in another directory
    cache = check_memory(memory)
    limit = grade_limit([*named.values(), chooser])
    dataset = RankingDataset.of(X, y, qid, group, sample_weight, limit=limit)
    data = dataset.grouped()
    data = shuffled(data, 0) if shuffle else data
    grades = data.query_data.occurring
    training = Trainer(
        data,
        splits(dataset.query_data.queries, cv, repeats, bool(candidates) or choose_trees, X, y),
        rankers,
        candidates,
        {name: measure.resolved(grades) for name, measure in named.items()},
        chooser.resolved(grades),
        choose_trees,
        shuffle,
        cache,
    )
    leaks = find_leaks(data)
    if leaks:
        message = f"X has features that alone rank like the grades, such as {next(iter(leaks))!r}"
        warn(f"{message}; expected none")
    training.try_rankers()
    total = len(rankers) * len(training.splits)
    with progress_bar(total, progress, "compare_rankers") as advance:
        found = Comparison(training, training.run(n_jobs, advance), leaks)
    if found.identical_repeats:
        message = f"repeats is {repeats}, but those of {', '.join(found.identical_repeats)} are "
        message += "identical; expected repeats=1, or cv as a number of folds"
        warn(message)
    return found

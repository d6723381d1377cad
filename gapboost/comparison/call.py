"""`compare_rankers`, the public function."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from gapboost.comparison.comparison import Comparison
from gapboost.comparison.remaining import progress_of
from gapboost.comparison.run import prepare_run
from gapboost.comparison.settings import DEFAULT_MEASURES, ComparisonSettings
from gapboost.measures import Measure, Measures


def compare_rankers(
    X: Any,
    y: Any,
    qid: Any = None,
    rankers: Mapping[str, Any] | None = None,
    *,
    group: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    cv: Any = 5,
    repeats: int = 3,
    tune: int | None = None,
    choose_trees: bool = False,
    choose_by: str | Measure | None = None,
    spaces: Mapping[str, Mapping[str, Any]] | None = None,
    leave_out: Sequence[str] = (),
    shuffle: bool = True,
    checkpoint: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    seeds: int | None = None,
) -> Comparison:
    """Train rankers on the same folds of whole queries, and compare them on the test queries.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Features; a data frame may hold the query ids in a column ``qid``.
    y : array-like of shape (N,)
        Grades.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    rankers : mapping {name: ranker}, optional
        Estimators of any library with `fit` and `predict`. Each gets queries in the form that its
        `fit` takes: ids, sizes or none. Steps of a pipeline get ``qid`` if they request it, as
        `gapboost.preprocessing.QueryRelativeFeatures` does, and transform validation and test
        queries too. None compares `standard_rankers`.
    group : array-like of shape (Q,), optional
        Sizes of the queries, instead of `qid`, if the rows come query by query.
    measures : str, Measure or sequence of them
        Measures of the test queries; ties count their expected value. An open g is uniform over the
        grades of all rows, not of one fold.
    cv : int, splitter, or iterable of (train, test) or (train, vali, test) row numbers, default=5
        Folds of whole queries: their number, or your own. A number deals the queries to folds at
        random. Your own test each query at most once.
    repeats : int, default=3
        Repeat r trains with ``random_state=r``. If `cv` is a number, each repeat also has its own
        folds, and errors account for queries and for models. Your own folds are the same in each
        repeat, and values are averaged over the repeats.
    tune : int, optional
        Number of candidates of each ranker, drawn from `spaces`. The candidate with the best values
        on the validation queries of a split is tested, so that tuning trains as many models for
        each split. None does not tune.
    choose_trees : bool, default=False
        Choose the number of trees of each model: the one of every fifth number with the best values
        on the validation queries of its split, up to the ranker's own number. Rankers of LightGBM,
        XGBoost and CatBoost are treated alike, whatever they evaluate themselves.
    choose_by : str or Measure, optional
        Measure that chooses candidates, trees and the best ranker. By default the first of
        `measures`.
    spaces : mapping {name: {parameter: list or distribution}}, optional
        Spaces for `tune`, in the form of `sklearn.model_selection.ParameterSampler`. By default
        ``gapboost.comparison.spaces.SPACES``, which has one for each of LightGBM, XGBoost and
        CatBoost, for the last step of a pipeline too. In your own space, parameters of a pipeline
        are named like ``lgbmgapranker__num_leaves``.
    leave_out : sequence of str
        Names of rankers to leave out, such as one that does not take these grades.
    shuffle : bool, default=True
        Bring the documents of each query into a random order, the same for all rankers. LightGBM
        breaks ties in training by the order of rows, so that a file sorted by grades would give
        grades away.
    checkpoint : path, optional
        Folder for finished trainings. The same call continues from it. Several processes may share
        the folder and the trainings; on Windows, two of them may do the same training. Rankers,
        data and folds are compared by their content: a lambda among the parameters of a ranker is
        an error.
    n_jobs : int, optional
        Number of joblib's processes. A ranker without a number of threads gets one thread. The
        values are the same for every `n_jobs`.
    progress : bool, optional
        Show a progress bar with the time left; needs tqdm. None shows it in a terminal or notebook
        if tqdm is installed.
    seeds : int, optional
        Deprecated name of `repeats`, which will be removed in version 0.3.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        Before the first training, if an argument is unusable, a part of a fold holds fewer than two
        queries, a ranker does not take these features or grades, or the checkpoint belongs to other
        data or settings.

    Notes
    -----
    If a ranker is tuned or stops early, or trees are chosen, and `cv` has no validation queries,
    fold k validates on the queries that fold k + 1 tests, and no ranker trains on them.

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
    if seeds is not None:
        warnings.warn(
            "seeds is deprecated and will be removed in version 0.3; use repeats, which also has "
            "its own folds for each seed",
            FutureWarning,
            stacklevel=2,
        )
        repeats = seeds
    settings = ComparisonSettings(
        rankers=rankers, measures=measures, cv=cv, repeats=repeats, tune=tune,
        choose_trees=choose_trees, choose_by=choose_by, spaces=spaces, leave_out=leave_out,
        shuffle=shuffle, checkpoint=checkpoint, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    run = prepare_run(settings, X, y, qid, group)
    with progress_of(run, settings.progress, "compare_rankers") as on_result:
        return run.compare(on_result)

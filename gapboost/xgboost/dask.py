"""XGBoost ranker on a Dask cluster."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

from gapboost._boosters.dask import DaskCollection
from gapboost.data import ArrayLike, check_names, feature_names, pop_query_ids, without_qid
from gapboost.optional import imported
from gapboost.validation import PathLike

imported("distributed", "dask", "by gapboost.xgboost.dask")

import dask.array as da
import numpy as np
import xgboost.dask
from xgboost.callback import EarlyStopping

from gapboost._boosters.callbacks import check_one_label
from gapboost._boosters.dask import DaskDataset, dask_data, is_same
from gapboost._boosters.evaluation_sets import EvaluationSet, check_stopping, evaluation_sets
from gapboost._boosters.migration import note_names, refuse
from gapboost.data.grades import GradeLimit
from gapboost.xgboost import XGBGAPRanker, _compat
from gapboost.xgboost.callbacks import XGBoostMetric, XGBoostObjective, training_callbacks
from gapboost.xgboost.models import checked_copy, to_continue
from gapboost.xgboost.ranker import NAMES

NO_FUNCTIONS = (
    "XGBoost has no functions as metrics on Dask, because it adds up measures over its workers"
)


class DaskXGBGAPRanker(XGBGAPRanker, xgboost.dask.DaskXGBRanker):  # type: ignore[misc]
    """`XGBGAPRanker` trained by `xgboost.dask.train`.

    It promises that ``g=None`` is that of all rows, that no query is cut, and that metrics are
    exact means over all queries: early stopping ends on all workers in the same round. It does not
    promise the model of one machine: ties, for one, are ordered within each worker.

    It has no weights and no positions. Empty partitions are left out, and a worker without
    validation rows trains like the others.

    Parameters
    ----------
    coll_cfg : xgboost.collective.Config, optional
    **kwargs
        Parameters of `XGBGAPRanker`. Set the attribute `client` to use another client than the one
        that was opened last.

    Examples
    --------
    >>> from gapboost.xgboost.dask import DaskXGBGAPRanker
    >>> DaskXGBGAPRanker(measure="gap", n_estimators=20).get_params()["n_estimators"]
    20
    """

    def __init__(self, *, coll_cfg: object = None, **kwargs: Any) -> None:
        super().__init__(coll_cfg=coll_cfg, **kwargs)

    def fit(  # type: ignore[override]
        self,
        X: DaskCollection,
        y: DaskCollection,
        qid: "DaskCollection | None" = None,
        *,
        base_margin: "DaskCollection | None" = None,
        eval_set: Sequence[tuple["DaskCollection", "DaskCollection"]] | None = None,
        eval_qid: Sequence["DaskCollection | None"] | None = None,
        base_margin_eval_set: Sequence["DaskCollection | None"] | None = None,
        verbose: bool | int | None = False,
        xgb_model: PathLike | xgboost.Booster | xgboost.XGBModel | None = None,
        feature_weights: ArrayLike | None = None,
        **others: object,
    ) -> Self:
        """Train on all workers that hold partitions.

        Parameters
        ----------
        X : Dask array or data frame of shape (N, n_features)
            Each partition holds whole queries, as those of a data frame after
            ``frame.shuffle("qid")``.
        y : Dask array or series of shape (N,)
            Grades ``0..c``, with the partitions of `X`.
        qid : Dask array or series of shape (N,)
            Query id of each row. A data frame `X` may hold it as the column ``qid``.
        base_margin : Dask array or series of shape (N,), optional
        eval_set : list of (X, y), optional
            The last one stops training early. The same collections `X` and `y` are the training
            set: it is reported, and stops training only if there is no other set.
        eval_qid, base_margin_eval_set : list of Dask collections, optional
            Query ids and initial scores of each evaluation set.
        verbose, xgb_model
            As in `XGBGAPRanker.fit`.
        feature_weights : array-like of shape (n_features,), optional
            As the parameter of the ranker.
        **others
            An error, which says where they belong.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable, if a query is in several partitions, or if
            categories of a column differ between partitions.
        """
        plan = self._plan(others)
        refuse({"eval_metric": plan.functions or None}, NO_FUNCTIONS)
        refuse({"allow_group_split": self.allow_group_split or None}, "no query is cut here")
        check_one_label([plan.objective.measure, *plan.measures], "XGBoost's data on Dask")
        arguments = {"X": X, "y": y, "qid": qid, "init_score": base_margin}
        data = dask_data(self.client, arguments, plan.limit, NAMES)
        data.summary.check_mixed_grades("y")
        plan = plan.resolved(data.summary.occurring)
        weights = self._feature_weights(feature_weights, data.X.shape[1])
        weights = None if weights is None else da.asarray(weights)
        before = None
        if xgb_model is not None:
            before = to_continue(checked_copy(xgb_model, data.X, self.missing))
        train = self._dask_matrix(data, feature_weights=weights)
        metadata = {
            "qid": ("eval_qid", eval_qid),
            "init_score": ("base_margin_eval_set", base_margin_eval_set),
        }
        evals = []
        for i, each in enumerate(evaluation_sets(eval_set, metadata)):
            matrix = train
            if not _is_training_set(each.given, arguments):
                matrix = self._evaluation_matrix(each, plan.limit, feature_names(data.X), train)
            evals.append((matrix, f"validation_{i}"))
        rounds = self.early_stopping_rounds
        check_stopping(self.callbacks, EarlyStopping, rounds, evals)
        n_jobs = min(self.client.nthreads().values())
        held_out = [name for matrix, name in evals if matrix is not train]
        metric = XGBoostMetric(plan.measures, n_jobs)
        callbacks = training_callbacks(self.callbacks, rounds, plan, metric.names, held_out)
        try:
            with _compat.usable_values(data.X):
                found = xgboost.dask.train(
                    self.client,
                    self._train_parameters(self.get_xgb_params(), data.summary.n_rows),
                    train,
                    self.get_num_boosting_rounds(),
                    evals=evals,
                    obj=XGBoostObjective(plan.objective, n_jobs),
                    custom_metric=metric,
                    verbose_eval=verbose,
                    xgb_model=before,
                    callbacks=callbacks,
                    coll_cfg=self.coll_cfg,
                )
        except KeyError as error:
            sets = [name for _, name in evals]
            note_names(error, sets, [f"{s}-{name}" for s in sets for name in metric.names])
            raise
        booster = found["booster"]
        _compat.set_fitted(self, booster, found["history"])
        self._set_fitted(plan.objective, data.summary, booster.feature_names or ())
        return self

    def _evaluation_matrix(
        self, each: EvaluationSet, limit: GradeLimit, names: Sequence[str], train: Any
    ) -> Any:
        """Return the matrix of an evaluation set; `names` are those of the training columns."""
        data, of_X = dask_data(self.client, each.given, limit, each.names), each.names["X"]
        found = feature_names(data.X)
        check_names(found, names, of_X)
        if bool(found) != bool(names):
            kinds = ("an array", "a data frame") if names else ("a data frame", "an array")
            raise ValueError(f"{of_X} is {kinds[0]}; expected {kinds[1]}, as X is")
        each.check(data.X.shape[1], train.num_col(), data.summary)
        matrix = self._dask_matrix(data, ref=train)
        _compat.place_as_training(matrix, train, self.client)
        return matrix

    def _dask_matrix(self, data: DaskDataset, **others: object) -> Any:
        """Return a matrix of XGBoost; `others` are arguments of it."""
        # XGBoost keeps 32 bits of an id, and aligns series by their index. Dask would make dates
        # without a time zone of those with one.
        ids = data.queries.astype(object) if hasattr(data.queries, "dtypes") else data.queries
        numbers = _flat(ids).map_blocks(partial(np.searchsorted, data.ids), dtype=np.int64)
        return xgboost.dask.DaskQuantileDMatrix(
            self.client,
            data.X,
            _flat(data.y),
            qid=numbers,
            base_margin=None if data.init_score is None else _flat(data.init_score),
            missing=self.missing,
            feature_types=self.feature_types,
            max_bin=self.max_bin,
            enable_categorical=self.enable_categorical,
            **others,
        )

    def predict(self, X: DaskCollection, **kwargs: object) -> DaskCollection:
        """Return the scores of Dask collections, lazily; arguments as in `XGBGAPRanker.predict`.

        Parameters
        ----------
        X : Dask array or data frame of shape (N, n_features)

        Returns
        -------
        Dask array of shape (N,)
        """
        return xgboost.dask.DaskXGBRanker.predict(self, without_qid(X)[0], **kwargs)

    def to_local(self) -> XGBGAPRanker:
        """Return the local ranker with the same parameters and, once fitted, the same booster."""
        given = self.get_params(deep=False)
        del given["coll_cfg"]
        local = XGBGAPRanker(**given)
        others = {*given, "coll_cfg", "allow_group_split", "_client", "_asynchronous", "kwargs"}
        local.__dict__.update({n: v for n, v in vars(self).items() if n not in others})
        return local


def _flat(values: DaskCollection) -> DaskCollection:
    """Return a Dask array of one dimension."""
    array = da.asarray(values)
    return array if array.ndim == 1 else array[:, 0]


def _is_training_set(given: Mapping[str, Any], training: Mapping[str, Any]) -> bool:
    """Return True if X and y are those of training, and nothing else is given beside them."""
    X, qid = pop_query_ids(given["X"], given["qid"])
    of_X, of_qid = pop_query_ids(training["X"], training["qid"])
    beside = (qid, of_qid), (given["init_score"], training["init_score"])
    return (
        is_same(X, of_X)
        and is_same(given["y"], training["y"])
        and all(a is None or (b is not None and is_same(a, b)) for a, b in beside)
    )

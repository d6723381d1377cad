"""Mixin of the Dask rankers: arguments of `fit`, lazy predictions, and the local ranker."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.distributed import Client
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.data_set import DataSet
from gapboost._boosters.eval_metric import refuse_functions
from gapboost._boosters.fit_arguments import FitArguments
from gapboost._boosters.one_label import check_one_label
from gapboost._boosters.parameter_table import ParameterRule
from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.request import TrainingRequest
from gapboost._data.arguments import whole
from gapboost._data.features import check_names, feature_names, without_qid
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array
from gapboost.dask.collections import Collections, checked, is_array, partitions
from gapboost.dask.fit import fit_on_cluster
from gapboost.dask.session import Session, running_client
from gapboost.evaluation import evaluate

THREADS_RULE = ParameterRule(
    ("num_threads", "num_thread", "nthread", "nthreads"),
    lambda request, n, _: replace(request, n_jobs=whole(n, "n_jobs", -1)),
    why="n_jobs is the number of its threads that a worker uses",
)


class DaskGAPRanker(GAPRanker):
    """Mixin of `DaskLGBMGAPRanker` and `DaskXGBGAPRanker`."""

    client: Client | None

    _local: ClassVar[type[Any]]
    _booster_network: ClassVar[Any]  # a `BoosterNetwork`
    # Words about the network, which change nothing.
    _network_rule: ClassVar[ParameterRule]
    # What is said of the cluster, which a local ranker is not told.
    _cluster_rules: ClassVar[tuple[ParameterRule, ...]]

    @property
    def client_(self) -> Client:
        """The client that `fit` uses: `client`, or the one that was opened last."""
        check_is_fitted(
            self, msg="Cannot access property client_ before calling fit of this %(name)s"
        )
        return running_client(self.client)

    def to_local(self) -> Any:
        """The local ranker with the same parameters and, once fitted, the same booster."""
        local = self._unfitted()
        if "_result" in vars(self):
            local._remember(self._learned_by_booster(), self._result)
        return local

    def to_vendor(self) -> Any:  # noqa: D102, the docstring is inherited
        return self.to_local().to_vendor()

    def _predict(self, X: Any, like: Array, series: bool, **options: Any) -> Any:
        """Predict lazily, with `options` of `predict` of the local ranker.

        `like` is the prediction of the local ranker for no rows: it sets dtype and dimensions.
        Predictions for a dataframe are a series with its index, or an array.
        """
        check_is_fitted(self)
        if not is_dask_collection(X):
            raise TypeError(
                f"X is a {type(X).__name__}; expected a Dask array or dataframe, or "
                "to_local().predict(X)"
            )
        X, _ = without_qid(X)
        if options["validate_features"] is not False:
            check_names(feature_names(X), self._trained_names, "X")
        # One task makes the model from bytes: a copy that nobody else uses, sent once to each
        # worker.
        model = dask.delayed(_single_threaded)(pickle.dumps(self.to_local()))
        if is_array(X):
            X = X.rechunk({1: -1})
            shape: dict[str, Any] = (
                {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], like.shape[1:])}
            )
            return X.map_blocks(
                _predicted, model=model, like=like, options=options, meta=like, **shape
            )
        import dask.dataframe as dd
        import pandas as pd

        # map_partitions of older versions would pass the delayed model on as it is.
        parts = [dask.delayed(_predicted)(part, model, like, options) for part in partitions(X)]
        if not series:
            return da.concatenate(
                [da.from_delayed(part, (np.nan, *like.shape[1:]), meta=like) for part in parts]
            )
        scores = [
            dask.delayed(_series)(part, values)
            for part, values in zip(partitions(X), parts, strict=True)
        ]
        empty = pd.Series(like, name="score")
        divisions = X.divisions if X.known_divisions else None
        return dd.from_delayed(scores, meta=empty, divisions=divisions, verify_meta=False)

    def score(
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, group: Any = None
    ) -> float:
        """Mean of `measure_` over the queries of `X`, as `gapboost.evaluate` computes it.

        The predictions, y, qid and weights of all rows come to the client; X does not.

        Parameters
        ----------
        X : Dask Array or DataFrame of shape (N, n_features)
        y, qid : Dask Array or Series of shape (N,)
            A data frame `X` may hold qid as a column ``qid`` instead.
        sample_weight : Dask Array or Series of shape (N,), optional
        group : Dask Array or Series, optional
            Sizes of the queries in each partition, instead of `qid`.

        Raises
        ------
        ValueError, TypeError
            As in `fit`.
        """
        measure = self.measure_
        given = checked(DataSet(X, y, qid, sample_weight, group=group).raveled())
        columns = [
            given.y,
            given.qid,
            self._predict(given.X, np.empty(0), series=True, validate_features=None),
            *([] if sample_weight is None else [given.weight]),
        ]
        client = self.client_
        found = client.gather(client.compute(columns))
        y_true, ids, scores = (np.asarray(column) for column in found[:3])
        weights = np.asarray(found[3]) if len(found) == 4 else None
        return float(
            evaluate(measure, y_true, scores, ids, sample_weight=weights, n_jobs=self._n_jobs)[
                measure
            ]
        )

    def _fit(self, arguments: FitArguments) -> Self:
        self._warn_of_network()
        refuse_functions(arguments.eval_metric)
        train, of_booster = arguments.train, self._with_model(arguments.of_booster)
        request = self._request(
            eval_metric=arguments.eval_metric, eval_at=arguments.eval_at, position=train.position
        )
        check_one_label(
            [request.objective.measure, *request.metrics],
            "measure",
            f"{type(self).__name__} on Dask",
        )
        self._check_stopping(of_booster)
        train_set = checked(train.raveled())
        eval_sets = [
            self._evaluation_set(one, train, train_set) for one in arguments.evaluation_sets()
        ]
        with Session(running_client(self.client)) as session:
            report = fit_on_cluster(
                session,
                train_set,
                eval_sets,
                self._unfitted(),
                request,
                self._booster_network,
                of_booster,
            )
        self._remember(report.ranker._learned_by_booster(), report.ranker._result)
        if report.warning is not None:
            warn_caller(report.warning)
        return self

    def _evaluation_set(
        self, given: DataSet, train: DataSet, train_set: Collections
    ) -> Collections:
        """Check an evaluation set; the collections of training stand for the training set."""
        if given.is_training_set(train, inherits=self._library.inherits):
            return replace(train_set, names=given.names)
        found = checked(given.raveled())
        check_names(feature_names(found.X), feature_names(train_set.X), given.names.X)
        return found

    def _booster_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self._unfitted()._booster_parameters()
        return parameters

    def _warn_of_network(self) -> None:
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        unused = [name for name in self._network_rule.names if parameters.get(name) is not None]
        if unused:
            warn_caller(
                f"{', '.join(unused)} will be ignored: Dask knows the addresses of the workers, "
                "and each fit takes free ports"
            )

    def _with_model(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the model to continue, if any, as the workers can use it."""
        name = self._library.terms.model
        model = arguments[name]
        if isinstance(model, str | Path):
            model = self._library.booster(model_file=model)  # workers may not see the file
        if isinstance(model, DaskGAPRanker):
            model = model.to_local()
        return {**arguments, name: model}

    def _unfitted(self) -> Any:
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        parameters.pop("client", None)
        of_cluster = {name for rule in self._cluster_rules for name in rule.names}
        n_jobs = self._parameter_table.translated(
            parameters, TrainingRequest(n_jobs=self.n_jobs)
        ).n_jobs
        local = {name: value for name, value in parameters.items() if name not in of_cluster}
        return self._local(**{**local, "n_jobs": n_jobs})

    def set_params(self, **params: Any) -> Self:  # noqa: D102, the docstring is inherited
        # LightGBM keeps what it is told in a second place too, and a client can be neither copied
        # nor stored.
        if "client" in params:
            self.client = params.pop("client")
        return super().set_params(**params)  # type: ignore[misc, no-any-return]

    # `get_params` of a subclass looks at a copy, of which the boosters' own rankers lose the
    # client.
    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    # A connection to a cluster is nothing to store.
    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Any:
        # A client cannot be copied, and the copy is to use the same.
        client, self.client = self.client, None
        try:
            cloned: Any = super().__sklearn_clone__()  # type: ignore[misc]
        finally:
            self.client = client
        cloned.client = client
        return cloned


def _single_threaded(pickled: bytes) -> Any:
    # Workers compute as many partitions at a time as they have threads.
    return pickle.loads(pickled).set_params(n_jobs=1)


def _predicted(X: Any, model: Any, like: Array, options: dict[str, Any]) -> Any:
    # LightGBM refuses to predict for no rows.
    return model.predict(X, **options) if X.shape[0] else like


def _series(X: Any, scores: Array) -> Any:
    import pandas as pd

    return pd.Series(scores, index=X.index, name="score")

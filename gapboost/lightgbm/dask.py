"""LightGBM ranker on a Dask cluster."""

from dataclasses import replace
from inspect import signature
from typing import Any, Self

from gapboost._boosters.dask import DaskCollection
from gapboost.optional import imported

imported("distributed", "dask", "by gapboost.lightgbm.dask")

from distributed import default_client
from lightgbm.dask import DaskLGBMRanker

from gapboost._boosters.dask import dask_data
from gapboost._boosters.evaluation_sets import check_callbacks
from gapboost._boosters.migration import EARLY_STOPPING, refuse
from gapboost.data import DataSummary, RankingDataset
from gapboost.lightgbm import LGBMGAPRanker, _compat
from gapboost.lightgbm.callbacks import train_booster
from gapboost.lightgbm.features import check_positions
from gapboost.lightgbm.models import to_continue, with_objective_name

# Arguments of `LGBMGAPRanker.fit` that LightGBM's Dask training hands on.
HANDED_ON = {"feature_name", "categorical_feature", "callbacks", "init_model"}
NO_METRICS = (
    "each of LightGBM's workers evaluates its own rows alone, so that values would depend on the "
    "worker that reports them"
)
NO_POSITIONS = "LightGBM's Dask training passes no positions to its workers"


class DaskLGBMGAPRanker(LGBMGAPRanker, DaskLGBMRanker):  # type: ignore[misc]
    """`LGBMGAPRanker` trained by LightGBM's own Dask training.

    Every worker trains on its own partitions by gradients of its own queries, as
    `lightgbm.DaskLGBMRanker` does with LightGBM's objectives.

    It promises that ``g=None`` and the units of the gradients are those of all rows, and that no
    query is cut. It does not promise the model of one machine: bins of features are made of the
    rows of the workers, which also estimate the sizes of leaves, and ties are ordered within each
    worker.

    It has no evaluation sets, no early stopping and no positions. Empty partitions are left out. If
    a worker fails, the others may wait for LightGBM's `time_out`.

    Parameters
    ----------
    client : distributed.Client, optional
        None uses the client that was opened last.
    **kwargs
        Parameters of `LGBMGAPRanker`. Each worker uses as many threads as Dask gave it.

    Examples
    --------
    >>> from gapboost.lightgbm.dask import DaskLGBMGAPRanker
    >>> DaskLGBMGAPRanker(measure="gap", n_estimators=20).get_params()["client"] is None
    True
    """

    def __init__(self, *, client: object = None, **kwargs: Any) -> None:
        super().__init__(client=client, **kwargs)

    def __copy__(self) -> Self:
        # LightGBM's `get_params` copies the ranker. Its `__getstate__` would copy the parameters
        # too, and scikit-learn's `clone` refuses parameters that are other objects.
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__, client=None)
        return copied

    def fit(
        self,
        X: DaskCollection,
        y: DaskCollection,
        qid: "DaskCollection | None" = None,
        sample_weight: "DaskCollection | None" = None,
        *,
        group: "DaskCollection | None" = None,
        init_score: "DaskCollection | None" = None,
        init_model: object = None,
        **booster: Any,
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
            Query id of each row, in any order within a partition. A data frame `X` may hold it as
            the column ``qid``.
        sample_weight, init_score : Dask array or series of shape (N,), optional
            As in `LGBMGAPRanker.fit`, one value for each row.
        group : Dask array or series, optional
            Instead of `qid`: each partition holds the sizes of the queries in the partition of `X`,
            whose rows come query by query. `lightgbm.DaskLGBMRanker` takes the same.
        init_model
            As in `LGBMGAPRanker.fit`. A file has to exist where `fit` is called.
        **booster
            `feature_name`, `categorical_feature` and `callbacks`, as in `LGBMGAPRanker.fit`. Each
            worker calls its own copy of the callbacks.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable, if a query is in several partitions, or if
            categories of a column differ between partitions.
        """
        given = {n: v for n, v in self.get_params(deep=False).items() if v is not None}
        early = {name: given.get(name) for name in (*EARLY_STOPPING, "stopping_metric")}
        refuse({"position": booster.pop("position", None)}, NO_POSITIONS)
        taken = {*signature(LGBMGAPRanker.fit).parameters, *EARLY_STOPPING}
        unknown = {name: booster.pop(name) for name in [*booster] if name not in taken}
        plan = self._plan(others=unknown)
        others = {name: value for name, value in booster.items() if name not in HANDED_ON}
        refuse({**early, **others}, NO_METRICS)
        check_callbacks(booster.get("callbacks"))
        client = given.pop("client", None) or default_client()
        arguments = {
            "X": X,
            "y": y,
            "qid": qid,
            "group": group,
            "sample_weight": sample_weight,
            "init_score": init_score,
        }
        data = dask_data(client, arguments, plan.limit)
        data.summary.check_mixed_grades("y")
        objective = plan.resolved(data.summary.occurring).objective
        check_positions(X, given, booster.get("categorical_feature", "auto"))
        if init_model is not None:
            init_model = to_continue(init_model, data.X, booster.get("feature_name", "auto"))
        trained = _compat.train_on_dask(
            client=client,
            data=data.X,
            label=data.y,
            params={**given, "measure": "gap", "g": None, "objective": objective},
            model_factory=WorkerRanker,
            sample_weight=data.sample_weight,
            init_score=data.init_score,
            group=data.queries,
            queries="qid" if group is None else "group",
            summary=data.summary,
            init_model=init_model,
            **booster,
        )
        _compat.set_fitted(self, trained.booster_, trained.evals_result_)
        self._set_fitted(objective, data.summary, trained._trained_names)
        return self

    def predict(
        self, X: DaskCollection, *args: object, validate_features: bool = True, **kwargs: object
    ) -> DaskCollection:
        """Return the scores of Dask collections, lazily; arguments as in `LGBMGAPRanker.predict`.

        Parameters
        ----------
        X : Dask array or data frame of shape (N, n_features)

        Returns
        -------
        Dask array of shape (N,)
        """
        kwargs["validate_features"] = validate_features
        return super(LGBMGAPRanker, self).predict(X, *args, **kwargs)

    def to_local(self) -> LGBMGAPRanker:
        """Return the local ranker with the same parameters and, once fitted, the same booster."""
        local: LGBMGAPRanker = _compat.to_local(self, LGBMGAPRanker)
        return local


class WorkerRanker(LGBMGAPRanker):
    """`LGBMGAPRanker` as LightGBM's Dask training fits it on the rows of one worker."""

    def fit(  # type: ignore[override]
        self,
        X: DaskCollection,
        y: DaskCollection,
        *,
        sample_weight: "DaskCollection | None",
        init_score: "DaskCollection | None",
        group: "DaskCollection | None",
        queries: str,
        summary: DataSummary,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: object = None,
        **others: Any,
    ) -> Self:
        """Train on rows that may teach nothing, and weigh nothing.

        Parameters
        ----------
        X, y, sample_weight, init_score
            As in `LGBMGAPRanker.fit`.
        group : array-like
            Query ids or sizes of queries, as `queries` says by the name of the argument.
        queries : {"qid", "group"}
        summary : DataSummary
            Of the rows of all workers.
        feature_name, categorical_feature, callbacks, init_model
            As in `LGBMGAPRanker.fit`.
        **others
            Evaluation sets, which are None.
        """
        plan = self._plan()
        given = {queries: group, "sample_weight": sample_weight, "init_score": init_score}
        # Gradients have the weights. LightGBM, which needs them for metrics alone, refuses a worker
        # whose rows all weigh 0.
        data = RankingDataset.of(X, y, **given, limit=plan.limit, partial=True).grouped()
        data = replace(data, weights_given=False)
        plan = plan.resolved(summary.occurring)
        gradients = self._gradients(plan, data, global_summary=summary)
        parameters = self.train_parameters(summary.n_rows)
        train = self._data_set(data, parameters, "X", feature_name, categorical_feature)
        rounds, callbacks = self.n_estimators, list(callbacks or ())
        booster = train_booster(
            parameters, train, gradients, rounds, callbacks, init_model=init_model
        )
        _compat.set_fitted(self, with_objective_name(booster), {})
        self._set_fitted(plan.objective, summary, data.frame_columns)
        return self

"""LightGBM ranker on a Dask cluster."""

from typing import Any, Self

from distributed import default_client
from lightgbm.dask import DaskLGBMRanker

from gapboost._boosters.ranker import EARLY_STOPPING, Plan, refuse
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.training import Gradients
from gapboost._data.features import split
from gapboost._data.judged import DataSummary
from gapboost.dask.rows import survey
from gapboost.lightgbm import LGBMGAPRanker, private
from gapboost.lightgbm.callbacks import units

# Arguments of `LGBMGAPRanker.fit` that LightGBM's Dask training hands on.
HANDED_ON = {"feature_name", "categorical_feature", "callbacks", "init_model"}
OFFERED = "LightGBM has no evaluation sets, early stopping, positions and sizes of queries on Dask"


class DaskLGBMGAPRanker(LGBMGAPRanker, DaskLGBMRanker):  # type: ignore[misc]
    """`LGBMGAPRanker` trained by LightGBM's own Dask training.

    Every worker trains on its own partitions by gradients of its own queries, as
    `lightgbm.DaskLGBMRanker` does with LightGBM's objectives.

    It promises that ``g=None`` and the units of the gradients are those of all rows, and that no
    query is cut. It does not promise the model of one machine: bins of features are made of the
    rows of the workers, which also smooth leaves by estimates of their sizes, and ties are ordered
    within each worker.

    It has no evaluation sets, no early stopping and no positions, because LightGBM adds up no
    Python metrics over its workers. If a worker fails, the others wait for LightGBM's `time_out`.

    Parameters
    ----------
    client : distributed.Client, optional
        None uses the client that was opened last.
    **kwargs
        Parameters of `LGBMGAPRanker`. Each worker uses as many threads as Dask gave it.

    Examples
    --------
    >>> from gapboost.dask import DaskLGBMGAPRanker
    >>> DaskLGBMGAPRanker(measure="gap", n_estimators=20).get_params()["client"] is None
    True
    """

    def __init__(self, *, client: Any = None, **kwargs: Any) -> None:
        super().__init__(client=client, **kwargs)

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        init_score: Any = None,
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
        **booster
            `feature_name`, `categorical_feature`, `callbacks` and `init_model`, as in
            `LGBMGAPRanker.fit`. Each worker calls its own copy of the callbacks.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable, or if a query is in several partitions.
        """
        given = {n: v for n, v in self.get_params(deep=False).items() if v is not None}
        early = {name: given.get(name) for name in (*EARLY_STOPPING, "stopping_metric")}
        others = {name: value for name, value in booster.items() if name not in HANDED_ON}
        refuse({**early, **others}, OFFERED)
        plan = self._plan()
        X, qid = split(X, qid)
        client = given.pop("client", None) or default_client()
        summary, _ = survey(client, plan.limit, y=y, qid=qid, sample_weight=sample_weight)
        summary.check_contrasts("y")
        objective = plan.resolved(summary.occurring).objective
        trained = private.train_on_dask(
            client=client,
            data=X,
            label=y,
            params={**given, "measure": "gap", "g": None, "objective": objective},
            model_factory=WorkerRanker,
            sample_weight=sample_weight,
            init_score=init_score,
            group=qid,
            summary=summary,
            **booster,
        )
        learned = private.learned(trained)
        del learned["_of_all"]
        self._learn(objective, summary, trained._trained_names, learned)
        return self

    def predict(self, X: Any, *args: Any, validate_features: bool = True, **kwargs: Any) -> Any:
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
        local: LGBMGAPRanker = private.to_local(self, LGBMGAPRanker)
        return local


class WorkerRanker(LGBMGAPRanker):
    """`LGBMGAPRanker` as LightGBM's Dask training fits it on the rows of one worker."""

    _of_all: DataSummary

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, *, group: Any, summary: DataSummary, **others: Any
    ) -> Self:
        """Train; `group` holds query ids, and `summary` is that of the rows of all workers.

        Those of this one may teach nothing.
        """
        self._of_all = summary
        return super().fit(X, y, group, **others)

    def _gradients(self, plan: Plan, rows: RankingRows, continued: Any = None) -> Gradients:
        every = self._of_all
        scale = units(plan.objective, every)
        return Gradients(plan.objective, rows.data, scale, plan.n_jobs, private.TEAM, every=every)

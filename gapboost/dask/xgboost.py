"""XGBoost on a Dask cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

try:
    import xgboost
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.xgboost needs dask and xgboost; expected both installed: pip install 'gapboost[dask,xgboost]'"
    ) from error

from gapboost._boosters.signature import taking
from gapboost.dask.ranker import DaskGAPRanker
from gapboost.dask.rings import xgboost_ring
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost import XGBGAPRanker

__all__ = ["DaskXGBGAPRanker"]


class DaskXGBGAPRanker(DaskGAPRanker, XGBGAPRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure, on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        None is the one that was opened last. Not part of a pickle.
    measure, g, objective
        As in `gapboost.xgboost.XGBGAPRanker`.
    **kwargs
        Every parameter of `xgboost.XGBRanker`. Workers use `n_jobs` threads each, at most and by default as many as they
        have.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, best_iteration_, evals_result_, ...
        As in `gapboost.xgboost.XGBGAPRanker`.
    """

    _local = XGBGAPRanker
    _ring = staticmethod(xgboost_ring)
    _score_dtype = "float32"

    @taking(XGBGAPRanker)
    def __init__(
        self,
        *,
        client: Client | None = None,
        measure: str | Measure = "gap",
        g: Sequence[float] | None = None,
        objective: str | Objective = "lambdarank",
        **kwargs: Any,
    ) -> None:
        super().__init__(measure=measure, g=g, objective=objective, **kwargs)
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
    ) -> "DaskXGBGAPRanker":
        """Train on all workers of the cluster.

        Parameters
        ----------
        X : Dask Array or DataFrame of shape (N, n_features)
            In any partitions and any order of rows; queries are brought together where partitions cut them.
        y : Dask Array or Series of shape (N,)
            Integer grades ``0..c``; with the partitions of `X`, as everything that has one entry a row.
        qid : Dask Array or Series of shape (N,)
            Query id of each row.
        sample_weight : Dask Array or Series of shape (N,), optional
            Constant in a query.
        eval_set, eval_qid, base_margin, sample_weight_eval_set, base_margin_eval_set, verbose, xgb_model
            As in `gapboost.xgboost.XGBGAPRanker.fit`, data as Dask collections. Metrics are exact means over the queries of
            all workers, so early stopping is the same decision on each of them.

        Raises
        ------
        ValueError, TypeError
            Before any training, where an argument or parameter is unusable; the message names it, what was found and
            what is expected.
        RuntimeError
            Where a worker or its training process dies: nothing is left running, and this ranker is as it was.
        """
        if isinstance(xgb_model, str | Path):
            xgb_model = xgboost.Booster(model_file=xgb_model)  # workers may not see the file
        if isinstance(xgb_model, DaskXGBGAPRanker):
            xgb_model = xgb_model.get_booster()
        self._fit_on_cluster(
            X,
            y,
            qid,
            sample_weight,
            base_margin,
            eval_set,
            eval_qid,
            sample_weight_eval_set,
            base_margin_eval_set,
            self.eval_metric,
            {"verbose": verbose, "xgb_model": xgb_model},
        )
        return self

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters that XGBoost itself knows."""
        parameters: dict[str, Any] = super().get_xgb_params()
        parameters.pop("client", None)
        return parameters

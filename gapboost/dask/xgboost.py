"""XGBoost on a Dask cluster."""

from typing import Any

try:
    import xgboost  # noqa: F401
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.xgboost needs dask and xgboost; expected both installed: pip install "
        "'gapboost[dask,xgboost]'"
    ) from error

import numpy as np

from gapboost._boosters.described import described
from gapboost._boosters.parameter_table import ParameterRule
from gapboost._boosters.signature import taking
from gapboost.dask.booster_network import xgboost_network
from gapboost.dask.ranker import THREADS_RULE, DaskGAPRanker
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.parameter_table import XGBOOST

__all__ = ["DaskXGBGAPRanker"]

# How the training processes find each other is settled anew for each fit.
NETWORK = ParameterRule(("coll_cfg",), lambda request, _, __: request)

# Queries stay whole, whether or not they may be split.
WHOLE_QUERIES = ParameterRule(("allow_group_split",), lambda request, _, __: request)


@described
class DaskXGBGAPRanker(DaskGAPRanker, XGBGAPRanker):
    """XGBoost trained for graded average precision or another measure, on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        None is the one that was opened last. Not part of a pickle.
    {own_parameters}
    **kwargs
        Every parameter of `xgboost.XGBRanker`, and `allow_group_split`: queries stay whole in any
        case. `coll_cfg` has no effect and gives a warning: Dask knows the addresses of the workers.
        Each worker uses `n_jobs` threads, at most and by default as many as it has.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, best_iteration_, evals_result_
        As in `gapboost.xgboost.XGBGAPRanker`, like all others of a fitted ranker.
    """

    _local = XGBGAPRanker
    _network_rule = NETWORK
    _cluster_rules = (THREADS_RULE, NETWORK, WHOLE_QUERIES)
    _parameter_table = XGBOOST.with_rules(*_cluster_rules)
    _booster_network = staticmethod(xgboost_network)

    @taking(XGBGAPRanker, last=("client",))
    def __init__(self, *, client: Client | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.client = client

    def predict(  # type: ignore[override]
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        iteration_range: tuple[int, int] | None = None,
    ) -> Any:
        """Scores, computed lazily and partition by partition.

        Parameters
        ----------
        X : Dask Array or DataFrame of shape (N, n_features)
            A column ``qid`` of a data frame is left out.
        output_margin, validate_features, iteration_range
            As in the local ranker.

        Returns
        -------
        Dask Array or Series of shape (N,)
            With the partitions of `X`. Other kinds of prediction: ``X.map_blocks`` with `to_local`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        TypeError
            If `X` is not a Dask collection.
        ValueError
            If its columns are not those of the training data.
        """
        return self._predict(
            X,
            np.empty(0, dtype=np.float32),
            series=True,
            output_margin=output_margin,
            validate_features=validate_features,
            iteration_range=iteration_range,
        )

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost knows."""
        parameters: dict[str, Any] = super().get_xgb_params()
        parameters.pop("client", None)
        return parameters

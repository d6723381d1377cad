"""LightGBM on a Dask cluster."""

from functools import partial
from typing import Any

try:
    import lightgbm  # noqa: F401
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.lightgbm needs dask and lightgbm; expected both installed: pip install "
        "'gapboost[dask,lightgbm]'"
    ) from error

import numpy as np

from gapboost._boosters.described import described
from gapboost._boosters.parameter_table import ParameterRule
from gapboost._boosters.signature import taking
from gapboost.dask.booster_network import lightgbm_network
from gapboost.dask.ranker import THREADS_RULE, DaskGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.parameter_table import LIGHTGBM

__all__ = ["DaskLGBMGAPRanker"]

# How the training processes find each other is settled anew for each fit; `time_out` counts for
# their sockets.
NETWORK = ParameterRule(
    (
        *("machines", "workers", "nodes"),
        *("num_machines", "num_machine"),
        *("local_listen_port", "local_port", "port"),
        *("machine_list_filename", "machine_list_file", "machine_list", "mlist"),
    ),
    lambda request, _, __: request,
)
# LightGBM's way to send less between workers that have rows of their own.
VOTING = ("voting", "voting_parallel")

TREE_LEARNER = ParameterRule(
    ("tree_learner", "tree", "tree_type", "tree_learner_type"),
    why="each worker has rows of its own, and all features",
    passed_on=lambda value: value in ("serial", "data", "data_parallel", *VOTING),
)


@described
class DaskLGBMGAPRanker(DaskGAPRanker, LGBMGAPRanker):
    """LightGBM trained for graded average precision or another measure, on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        None is the one that was opened last. Not part of a pickle.
    {own_parameters}
    extra_trees : bool, default=True
        As in `gapboost.lightgbm.LGBMGAPRanker`. Several workers draw other thresholds than one,
        from the same seed.
    **kwargs
        Every parameter of `lightgbm.LGBMRanker`. `machines`, `num_machines` and `local_listen_port`
        have no effect and give a warning: Dask knows the addresses of the workers, and each fit
        takes free ports. Each worker uses `n_jobs` threads, at most and by default as many as it
        has.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, booster_, best_iteration_, evals_result_
        As in `gapboost.lightgbm.LGBMGAPRanker`, like all others of a fitted ranker.
    """

    _local = LGBMGAPRanker
    _network_rule = NETWORK
    _cluster_rules = (THREADS_RULE, NETWORK)
    _parameter_table = LIGHTGBM.with_rules(THREADS_RULE, NETWORK, TREE_LEARNER)

    @taking(LGBMGAPRanker, last=("client",))
    def __init__(self, *, client: Client | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.client = client

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """Scores, computed lazily and partition by partition.

        Parameters
        ----------
        X : Dask Array or DataFrame of shape (N, n_features)
            A column ``qid`` of a data frame is left out.
        raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, validate_features
            As in the local ranker.
        **kwargs
            As in the local ranker.

        Returns
        -------
        Dask Array of shape (N,)
            With the partitions of `X`; of a data frame, chunk sizes are unknown. With `pred_leaf`
            and `pred_contrib` of shape (N, n_trees) and (N, n_features + 1), with sparse blocks of
            contributions where those of `X` are.

        Raises
        ------
        NotFittedError
            Before `fit`.
        TypeError
            If `X` is not a Dask collection.
        ValueError
            If its columns are not those of the training data.
        """
        options = {
            "raw_score": raw_score,
            "start_iteration": start_iteration,
            "num_iteration": num_iteration,
            "pred_leaf": pred_leaf,
            "pred_contrib": pred_contrib,
            "validate_features": validate_features,
            **kwargs,
        }
        like = np.empty(0)
        if pred_leaf or pred_contrib:
            # How many trees these options take into account, LightGBM knows.
            like = self.to_local().predict(np.zeros((1, self.n_features_in_)), **options)[:0]
        return self._predict(X, like, series=False, **options)

    @property
    def _booster_network(self) -> Any:
        parameters = self.get_params(deep=False)
        voting = any(parameters.get(name) in VOTING for name in TREE_LEARNER.names)
        return partial(lightgbm_network, tree_learner="voting" if voting else "data")

"""LightGBM on a Dask cluster."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

try:
    import lightgbm
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.lightgbm needs dask and lightgbm; expected both installed: pip install 'gapboost[dask,lightgbm]'"
    ) from error

from gapboost._boosters.signature import taking
from gapboost.dask.ranker import DaskGAPRanker
from gapboost.dask.rings import lightgbm_ring
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.measures import Measure
from gapboost.objectives import Objective

__all__ = ["DaskLGBMGAPRanker"]

# How the training processes find each other is settled anew for each fit. A wrong word here would only be waited for.
NETWORK = ("machines", "num_machines", "local_listen_port", "machine_list_filename", "time_out")
NETWORK_ALIASES = (
    "workers",
    "nodes",
    "num_machine",
    "local_port",
    "port",
    "machine_list_file",
    "machine_list",
    "mlist",
)
TREE_LEARNER = ("tree_learner", "tree", "tree_type", "tree_learner_type")


class DaskLGBMGAPRanker(DaskGAPRanker, LGBMGAPRanker):  # type: ignore[misc]
    """LightGBM trained for graded average precision or another measure, on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        None is the one that was opened last. Not part of a pickle.
    measure, g, objective, extra_trees
        As in `gapboost.lightgbm.LGBMGAPRanker`. Several workers draw other thresholds than one, from the same seed.
    **kwargs
        Every parameter of `lightgbm.LGBMRanker` but those of its network. Workers use `n_jobs` threads each, at most and by
        default as many as they have.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, booster_, best_iteration_, evals_result_, ...
        As in `gapboost.lightgbm.LGBMGAPRanker`.
    """

    _local = LGBMGAPRanker
    _ring = staticmethod(lightgbm_ring)
    _score_dtype = "float64"

    @taking(LGBMGAPRanker)
    def __init__(
        self,
        *,
        client: Client | None = None,
        measure: str | Measure = "gap",
        g: Sequence[float] | None = None,
        objective: str | Objective = "lambdarank",
        extra_trees: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(measure=measure, g=g, objective=objective, extra_trees=extra_trees, **kwargs)
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        init_score: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_names: list[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: list[Callable[..., Any]] | None = None,
        init_model: Any = None,
    ) -> "DaskLGBMGAPRanker":
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
        eval_set, eval_qid, eval_metric, init_score, eval_names, eval_sample_weight, eval_init_score, feature_name,
        categorical_feature, callbacks, init_model
            As in `gapboost.lightgbm.LGBMGAPRanker.fit`, data as Dask collections. Metrics are exact means over the queries of
            all workers, so early stopping is the same decision on each of them. Every worker calls its own copy of the
            callbacks.

        Raises
        ------
        ValueError, TypeError
            Before any training, where an argument or parameter is unusable; the message names it, what was found and
            what is expected.
        RuntimeError
            Where a worker or its training process dies: nothing is left running, and this ranker is as it was.
        """
        if isinstance(init_model, str | Path):
            init_model = lightgbm.Booster(model_file=init_model)  # workers may not see the file
        arguments = {
            "eval_names": eval_names,
            "feature_name": feature_name,
            "categorical_feature": categorical_feature,
            "callbacks": callbacks,
            "init_model": init_model.to_local() if isinstance(init_model, DaskLGBMGAPRanker) else init_model,
        }
        self._fit_on_cluster(
            X,
            y,
            qid,
            sample_weight,
            init_score,
            eval_set,
            eval_qid,
            eval_sample_weight,
            eval_init_score,
            eval_metric,
            arguments,
        )
        return self

    def _unfitted(self) -> Any:
        local = super()._unfitted()
        parameters = local.get_params()
        for name in (*NETWORK, *NETWORK_ALIASES):
            if parameters.get(name) is not None:
                raise ValueError(f"{name} is {parameters[name]!r}; expected it unset: Dask tells where the workers are")
        for name in TREE_LEARNER:
            if parameters.get(name) not in (None, "serial", "data"):
                raise ValueError(f"{name} is {parameters[name]!r}; expected it unset: each worker has its own queries")
        return local

"""LightGBM on a Dask cluster."""

from collections.abc import Sequence
from typing import Any

try:
    import lightgbm  # noqa: F401
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.lightgbm needs dask and lightgbm; expected both installed: pip install 'gapboost[dask,lightgbm]'"
    ) from error

from gapboost._boosters.signature import taking
from gapboost._boosters.vocabulary import Entry
from gapboost.dask.ranker import THREADS, DaskGAPRanker
from gapboost.dask.rings import lightgbm_ring
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.vocabulary import LIGHTGBM
from gapboost.measures import Measure
from gapboost.objectives import Objective

__all__ = ["DaskLGBMGAPRanker"]

# How the training processes find each other is settled anew for each fit. A wrong word here would only be waited for.
NETWORK = Entry(
    (
        *("machines", "workers", "nodes"),
        *("num_machines", "num_machine"),
        *("local_listen_port", "local_port", "port"),
        *("machine_list_filename", "machine_list_file", "machine_list", "mlist"),
        "time_out",
    ),
    why="Dask tells where the workers are",
)
TREE_LEARNER = Entry(
    ("tree_learner", "tree", "tree_type", "tree_learner_type"),
    why="each worker has its own queries",
    taken=lambda value: value in ("serial", "data"),
)


class DaskLGBMGAPRanker(DaskGAPRanker, LGBMGAPRanker):  # type: ignore[misc]
    """LightGBM trained for graded average precision or another measure, on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        None is the one that was opened last. Not part of a pickle.
    measure, g, objective
        As in `gapboost.lightgbm.LGBMGAPRanker`.
    extra_trees : bool, default=True
        As there. Several workers draw other thresholds than one, from the same seed.
    **kwargs
        Every parameter of `lightgbm.LGBMRanker` but those of its network. Workers use `n_jobs` threads each, at most and by
        default as many as they have.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, booster_, best_iteration_, evals_result_
        As in `gapboost.lightgbm.LGBMGAPRanker`, like all others of a fitted ranker.
    """

    _local = LGBMGAPRanker
    _vocabulary = LIGHTGBM.beside(THREADS, NETWORK, TREE_LEARNER)
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

"""LightGBM on a Dask cluster."""

from collections.abc import Sequence
from typing import Any, Self

try:
    import lightgbm  # noqa: F401
    from dask.distributed import Client
except ImportError as error:
    raise ImportError(
        "gapboost.dask.lightgbm needs dask and lightgbm; expected both installed: pip install 'gapboost[dask,lightgbm]'"
    ) from error

from gapboost._boosters.callers import warn_caller
from gapboost._boosters.request import FitRequest
from gapboost._boosters.signature import taking
from gapboost._boosters.vocabulary import Entry
from gapboost.dask.ranker import THREADS, DaskGAPRanker
from gapboost.dask.rings import lightgbm_ring
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.vocabulary import LIGHTGBM
from gapboost.measures import Measure
from gapboost.objectives import Objective

__all__ = ["DaskLGBMGAPRanker"]

# How the training processes find each other is settled anew for each fit; `time_out` counts for their sockets.
NETWORK = Entry(
    (
        *("machines", "workers", "nodes"),
        *("num_machines", "num_machine"),
        *("local_listen_port", "local_port", "port"),
        *("machine_list_filename", "machine_list_file", "machine_list", "mlist"),
    ),
    lambda asked, _, __: asked,
)
TREE_LEARNER = Entry(
    ("tree_learner", "tree", "tree_type", "tree_learner_type"),
    why="each worker has its own queries",
    passed_on=lambda value: value in ("serial", "data"),
)


class DaskLGBMGAPRanker(DaskGAPRanker, LGBMGAPRanker):
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
        Every parameter of `lightgbm.LGBMRanker`; `machines`, `num_machines` and `local_listen_port` change nothing, with a
        warning: Dask tells where the workers are, and each fit takes ports that are free. Workers use `n_jobs` threads
        each, at most and by default as many as they have.

    Attributes
    ----------
    measure_, objective_, g_, n_queries_in_, booster_, best_iteration_, evals_result_
        As in `gapboost.lightgbm.LGBMGAPRanker`, like all others of a fitted ranker.
    """

    _local = LGBMGAPRanker
    _of_cluster = (THREADS, NETWORK)
    _vocabulary = LIGHTGBM.beside(THREADS, NETWORK, TREE_LEARNER)
    _ring = staticmethod(lightgbm_ring)
    _score_dtype = "float64"

    @taking(LGBMGAPRanker, last=("client",))
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

    def predict(  # type: ignore[override]
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        validate_features: bool = False,
    ) -> Any:
        """Scores, computed lazily and partition by partition.

        Parameters
        ----------
        X : Dask Array or DataFrame of shape (N, n_features)
            A column ``qid`` of a data frame is left out.
        raw_score, start_iteration, num_iteration, validate_features
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
            Where `X` is not a Dask collection.
        ValueError
            Where its columns are not those of the training data.
        """
        return self._predict(
            X,
            raw_score=raw_score,
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            validate_features=validate_features,
        )

    def _fit(self, X: Any, y: Any, qid: Any, request: FitRequest, arguments: dict[str, Any]) -> Self:
        self._warn_of_network()
        return super()._fit(X, y, qid, request, arguments)

    def _warn_of_network(self) -> None:
        parameters = self.get_params(deep=False)
        unused = [name for name in NETWORK.names if parameters.get(name) is not None]
        if unused:
            warn_caller(
                f"{', '.join(unused)} changes nothing here: Dask tells where the workers are, and each fit takes free "
                "ports"
            )

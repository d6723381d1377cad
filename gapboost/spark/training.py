"""Training of the local ranker on the queries of one worker, inside XGBoost's communicator.

All workers of a fit are the tasks of one barrier stage. If one of them fails, Spark ends the others
and the fit with an error. Spark retries a barrier stage that returns the result only if it has lost
shuffled rows. It then starts all tasks anew. For that reason the tracker of the communicator runs
in the first task.
"""

import json
import pickle
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pyspark import BarrierTaskContext
from scipy.sparse import csr_matrix
from xgboost.collective import CommunicatorContext
from xgboost.spark.data import _read_csr_matrix_from_unwrapped_spark_vec, alias, stack_series
from xgboost.tracker import RabitTracker

from gapboost._boosters.data_set import ArgumentNames, DataSet
from gapboost._boosters.result import TrainingResult
from gapboost._boosters.rows import RankingRows, ranking_rows, stand_in
from gapboost._boosters.task import Task
from gapboost._boosters.training import prepare
from gapboost._data.judged import Whole
from gapboost._data.positions import Positions
from gapboost._data.weights import checked_weights, weights_of_rows
from gapboost._kernels import Array
from gapboost.spark.columns import LABEL, POSITION, QID, ROW, START, VALID, WEIGHT
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.callbacks import sum_over_workers

# Rows in which the first worker sends its message, in parts: Spark's rows should not be large.
SCHEMA = "rank int, number int, data binary"
PIECE_BYTES = 16 * 2**20


class FeatureColumns(NamedTuple):
    """Format of the features of the rows.

    Attributes
    ----------
    columns : list of str or None
        One column a feature; None where one column holds arrays.
    sparse : bool
        True if that column holds vectors that become a sparse matrix.
    names : list of str or None
        Names of the features, where one column holds arrays.
    """

    columns: list[str] | None
    sparse: bool
    names: list[str] | None

    def table(self, rows: pd.DataFrame) -> Any:
        """The features of some rows as a ranker takes them."""
        if self.columns is not None:
            return rows[self.columns].reset_index(drop=True)
        if rows["featureVectorType" if self.sparse else alias.data].isna().any():
            raise ValueError("features_col holds nulls; expected an array or vector in every row")
        try:
            X = (
                _read_csr_matrix_from_unwrapped_spark_vec(rows)
                if self.sparse
                else stack_series(rows[alias.data])
            )
        except (AssertionError, ValueError):
            raise ValueError(
                "features_col holds rows of several lengths; expected the same number of features "
                "in every row"
            ) from None
        return X if self.names is None else pd.DataFrame(X, columns=self.names)

    def empty_row(self, n_features: int, missing: float) -> Any:
        """One row in which every feature is missing."""
        if self.sparse:
            return csr_matrix((1, n_features), dtype=np.float32)
        X = np.full((1, n_features), missing, dtype=np.float32)
        names = self.columns or self.names
        return X if names is None else pd.DataFrame(X, columns=names)


@dataclass(frozen=True, eq=False)
class WorkerJob:
    """Training job of the workers.

    Attributes
    ----------
    ranker : XGBGAPRanker
        Not fitted.
    task : Task
    features : FeatureColumns
    positions : list or None
        The distinct positions.
    validated : bool
        True if there is a validation set.
    of_booster : dict
        Arguments of `XGBGAPRanker.fit` that only XGBoost has.
    n_workers : int
    """

    ranker: XGBGAPRanker
    task: Task
    features: FeatureColumns
    positions: list[Any] | None
    validated: bool
    of_booster: dict[str, Any]
    n_workers: int

    def __call__(self, batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Train on the rows of this task, and send the model from the first one."""
        context = BarrierTaskContext.get()
        rank = context.partitionId()
        tables = [batch for batch in batches if len(batch)]
        table = pd.concat(tables, ignore_index=True) if tables else None
        tables.clear()  # the rows are there twice at most
        if table is not None:
            table = table.sort_values(ROW, ignore_index=True)
        rows, evaluated, n_features = self._sets(table)
        del table
        tracker = _tracker(context, self.n_workers) if rank == 0 and self.n_workers > 1 else None
        own = {
            "n_features": n_features,
            "n_rows": 0 if rows is None else len(rows.y),
            "n_queries": 0 if rows is None else len(rows.sizes),
            "tracker": None if tracker is None else tracker.worker_args(),
        }
        peers = [json.loads(message) for message in context.allGather(json.dumps(own))]
        self._check(peers)
        rows = self._completed(rows, peers, rank)
        with _communicator(tracker, peers[0]["tracker"], rank):
            sets = [rows]
            if self.validated:
                sets.append(stand_in(rows) if evaluated is None else evaluated)
            total = sum_over_workers if self.n_workers > 1 else None
            training = prepare(self.ranker._library, self.task, rows, sets, total)
            self.ranker._train(training, self.of_booster)
        if rank == 0:
            yield from _sent(rank, self.ranker, training.warning)

    def _sets(
        self, table: pd.DataFrame | None
    ) -> tuple[RankingRows | None, RankingRows | None, int]:
        """Return a worker's training and validation rows, and the number of features.

        The rows are None if there are none.
        """
        if table is None:
            return None, None, 0
        valid = (
            table[VALID].to_numpy(dtype=bool)
            if VALID in table
            else np.zeros(len(table), dtype=bool)
        )
        parts = [None if chosen.all() else table[~chosen] for chosen in (valid, ~valid)]
        rows, evaluated = (
            None if part is None else self._rows(part, i == 0) for i, part in enumerate(parts)
        )
        some = rows or evaluated
        assert some is not None
        return rows, evaluated, some.X.shape[1]

    def _rows(self, part: pd.DataFrame, trains: bool) -> RankingRows:
        start = part[START].to_numpy() if START in part else None
        names = ArgumentNames("features_col", "label_col", "qid_col", start="base_margin_col")
        given = DataSet(
            self.features.table(part), part[LABEL].to_numpy(), part[QID], start=start, names=names
        )
        rows = ranking_rows(given, self.task.limit)
        queries = rows.data.queries
        if WEIGHT in part:  # all those of one worker may be 0
            weights = weights_of_rows(
                queries.grouped(checked_weights(part[WEIGHT].to_numpy(), "weight_col")), queries
            )
            data = replace(rows.data, weights=weights.by_query, factors=weights.factors)
            rows = replace(rows, data=data, weighted=True)
        if self.positions is not None and trains:
            numbers = {position: number for number, position in enumerate(self.positions)}
            codes = np.fromiter(
                map(numbers.__getitem__, part[POSITION].tolist()), np.int64, len(part)
            )
            rows = replace(rows, positions=Positions(self.positions, queries.grouped(codes)))
        return rows

    def _check(self, peers: list[dict[str, Any]]) -> None:
        """Refuse rows that were not surveyed, or whose features do not match."""
        reported = sum(p["n_queries"] for p in peers), sum(p["n_rows"] for p in peers)
        before = self.task.summary
        if reported != (before.n_queries, before.n_rows):
            raise RuntimeError(
                f"the workers hold {reported[0]} queries and {reported[1]} rows to train on, but "
                f"there were {before.n_queries} and {before.n_rows} before; expected a data frame "
                "that stays the same: cache() one that draws at random"
            )
        counts = {p["n_features"] for p in peers if p["n_features"]}
        if len(counts) > 1:
            raise ValueError(
                f"features_col holds {sorted(counts)} features; expected the same number in every "
                "row"
            )

    def _completed(
        self, rows: RankingRows | None, peers: list[dict[str, Any]], rank: int
    ) -> RankingRows:
        """Return the training rows as a part; without any, one row of weight 0 and no features."""
        if self.n_workers == 1:
            assert rows is not None
            return rows
        if rows is None:
            X = self.features.empty_row(
                max(p["n_features"] for p in peers), float(self.ranker.missing)
            )
            rows = ranking_rows(DataSet(X, np.zeros(1), np.zeros(1)), self.task.limit)
            codes = (
                None
                if self.positions is None
                else Positions(self.positions, np.zeros(1, dtype=np.int64))
            )
            data = replace(rows.data, weights=np.zeros(1))
            rows = replace(rows, data=data, weighted=True, positions=codes)
        earlier = sum(p["n_rows"] for p in peers[:rank])
        begins: Array = rows.data.queries.offsets[:-1] + earlier
        return replace(rows, data=replace(rows.data, whole=Whole(begins, self.task.summary)))


class Fitted(NamedTuple):
    """Trained model as the first worker sends it.

    Attributes
    ----------
    booster : bytes
    history : dict {set: {metric: list of float}}
    result : TrainingResult
    warning : str or None
    """

    booster: bytes
    history: dict[str, dict[str, list[float]]]
    result: TrainingResult
    warning: str | None


def from_pieces(rows: list[Any]) -> Fitted:
    """Return the trained model that the first worker sent in parts."""
    pieces = sorted(rows, key=lambda row: row["number"])
    found: Fitted = pickle.loads(b"".join(bytes(row["data"]) for row in pieces))
    return found


def _sent(rank: int, ranker: XGBGAPRanker, warning: str | None) -> Iterator[pd.DataFrame]:
    raw = bytes(ranker.get_booster().save_raw("ubj"))
    sent = pickle.dumps(Fitted(raw, ranker.evals_result_, ranker._result, warning))
    for number, first in enumerate(range(0, len(sent), PIECE_BYTES)):
        piece = sent[first : first + PIECE_BYTES]
        yield pd.DataFrame({"rank": [rank], "number": [number], "data": [piece]})


def _tracker(context: BarrierTaskContext, n_workers: int) -> RabitTracker:
    host = (
        context.getTaskInfos()[0].address.rpartition(":")[0].strip("[]")
        or context.getTaskInfos()[0].address
    )
    tracker = RabitTracker(n_workers=n_workers, host_ip=socket.gethostbyname(host), sortby="task")
    tracker.start()
    return tracker


@contextmanager
def _communicator(
    tracker: RabitTracker | None, arguments: dict[str, Any] | None, rank: int
) -> Iterator[None]:
    """XGBoost's communicator among the workers; nothing for a single one."""
    if arguments is None:
        yield
        return
    with CommunicatorContext(**arguments, dmlc_task_id=f"{rank:08}"):
        yield
    if tracker is not None:
        tracker.wait_for()

"""Contexts in which the training processes of one fit join the booster's own network."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gapboost.dask.exchange import Exchange


@contextmanager
def lightgbm_network(
    exchange: Exchange, host: str, tree_learner: str = "data"
) -> Iterator[dict[str, Any]]:
    """Parameters for LightGBM's sockets; it opens them when training begins."""
    with socket.socket() as reserved:
        # LightGBM listens on this port only after the socket is closed. Another program may take
        # the port in between; LightGBM then raises an error.
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("", 0))
        port = reserved.getsockname()[1]
        machines = [message.decode() for message in exchange.gather(f"{host}:{port}".encode())]
    yield {
        "network": {
            "machines": ",".join(machines),
            "local_listen_port": port,
            "num_machines": exchange.n_peers,
            "tree_learner": tree_learner,
        }
    }


@contextmanager
def xgboost_network(exchange: Exchange, host: str) -> Iterator[dict[str, Any]]:
    """XGBoost's communicator, with its tracker in the process of rank 0."""
    from xgboost.collective import CommunicatorContext
    from xgboost.tracker import RabitTracker

    tracker, own = None, b""
    if exchange.rank == 0:
        tracker = RabitTracker(n_workers=exchange.n_peers, host_ip=host, sortby="task")
        tracker.start()
        own = json.dumps(tracker.worker_args()).encode()
    arguments = json.loads(exchange.gather(own)[0])
    communicator = CommunicatorContext(**arguments, dmlc_task_id=f"{exchange.rank:08}")
    communicator.__enter__()
    yield {}
    try:
        communicator.__exit__()
    finally:
        # The tracker goes last: the other processes take leave of it too.
        if tracker is not None:
            tracker.wait_for()

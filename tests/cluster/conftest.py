"""A Dask cluster of two workers."""

import logging

import pytest
from on_cluster import features, ranking


@pytest.fixture(scope="session")
def client():
    # Here, as Spark's environment has no Dask.
    from distributed import Client, LocalCluster

    from gapboost.lightgbm import LGBMGAPRanker

    logging.getLogger("distributed").setLevel(logging.ERROR)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as opened:
        # What the workers compile is compiled once.
        frame = ranking(400)
        LGBMGAPRanker(n_estimators=1, n_jobs=1, verbose=-1).fit(features(frame), frame.y, frame.qid)
        yield opened

"""
On a Dask cluster
=================

Train the same rankers on data that do not fit into one machine. Queries stay whole for any
partitions. Metrics are exact over all workers, so all workers stop early in the same round.
"""

import logging

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

from gapboost.dask import DaskLGBMGAPRanker
from gapboost.datasets import load_digits_ranking

train, vali, test = load_digits_ranking()

# %%
# Start two workers in this process as a small cluster. Pass Dask arrays or data frames to ``fit``,
# in any partitions and any order of rows. The partitions here cut queries. Their rows then come
# together on one worker.

logging.getLogger("distributed").setLevel(logging.ERROR)
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)
X = da.from_array(train.X, chunks=(1111, -1))
y, qid = (da.from_array(values, chunks=1111) for values in (train.y, train.qid))

ranker = DaskLGBMGAPRanker(client=client, measure="gap", n_estimators=40, verbose=-1).fit(
    X, y, qid=qid
)

# %%
# The end of the first partition cuts a query. One worker trains on all its rows.

from matplotlib import pyplot as plt

near = np.arange(1051, 1171)
cut = train.qid[near] == train.qid[1111]
_, ax = plt.subplots(figsize=(6, 3))
ax.plot(near[~cut], train.qid[near][~cut], ".", label="queries that one partition has")
ax.plot(near[cut], train.qid[near][cut], "o", label="the query that comes together")
ax.axvline(1110.5, color="gray", linestyle="--", label="end of the first partition")
ax.set(xlabel="row", ylabel="query id")
ax.legend(loc="upper left", fontsize=8)
plt.tight_layout()

# %%
# Predictions are lazy, one partition after the other.

scores = ranker.predict(da.from_array(test.X, chunks=(2000, -1)))
scores

# %%
# ``to_local()`` returns a local ranker with the same booster.

local = ranker.to_local()
same = np.array_equal(scores.compute(), local.predict(test.X))
print(
    f"same predictions: {same}; mean GAP of the test queries "
    f"{local.score(test.X, test.y, qid=test.qid):.3f}"
)

# %%

client.close()
cluster.close()

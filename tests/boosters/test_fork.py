"""Predictions in processes that are forked after a model was loaded, as servers do."""

import os
import pickle
import subprocess
import sys

import pytest
from twins import TEST, XGBOOST, twins

# The parent uses the booster's threads before it forks; the child must not wait for them.
SERVER = """
import os, pickle, sys, time
model = pickle.load(open(sys.argv[1], "rb"))
X, y, qid = pickle.load(open(sys.argv[2], "rb"))
expected = model.predict(X)
child = os.fork()
if not child:
    same = (model.predict(X) == expected).all() and model.score(X, y, qid) > 0
    os._exit(0 if same else 1)
begun = time.time()
while time.time() - begun < 30:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.01)
os.kill(child, 9)
sys.exit("the child does not answer")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("threads", [2, None])
@twins
def test_a_forked_child_predicts(twin, threads, tmp_path):
    ranker = twin.fitted().set_params(n_jobs=threads)
    if twin is XGBOOST:
        ranker.get_booster().set_param({"nthread": threads or 0})
    for name, value in (("model", ranker), ("data", (TEST.X, TEST.y, TEST.qid))):
        (tmp_path / name).write_bytes(pickle.dumps(value))
    found = subprocess.run(
        [sys.executable, "-c", SERVER, tmp_path / "model", tmp_path / "data"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, found.stderr

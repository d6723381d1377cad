"""Kill one of two executors, in processes of their own, in the third round of training.

Print the error of the fit.
"""

import os
import signal
from pathlib import Path

import xgboost
from spark_session import FEATURES, ranking, session

from gapboost.spark import SparkXGBGAPRanker


def parent(process):
    """The id of the process that started one."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


class LosesExecutor(xgboost.callback.TrainingCallback):
    """Kills the JVM that started the daemon which started this process."""

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2 and xgboost.collective.get_rank() == 1:
            os.kill(parent(os.getppid()), signal.SIGKILL)
        return False


if __name__ == "__main__":
    table = session("local-cluster[2,1,1024]").createDataFrame(ranking())
    ranker = SparkXGBGAPRanker(qid_col="qid", features_col=FEATURES, n_estimators=4, num_workers=2)
    try:
        ranker.copy({ranker.callbacks: [LosesExecutor()]}).fit(table)
    except RuntimeError as error:
        print(error)

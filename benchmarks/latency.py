"""One row by each door: the rankers, the boosters' own wrappers, the boosters, ONNX; and what a fresh process loads for it.

``python -m benchmarks.latency``, on Linux, prints the tables of docs/guide/production.md. It wants onnxmltools and onnxruntime.
"""

import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import onnxmltools
import onnxruntime
from onnxmltools.convert.common.data_types import FloatTensorType

import gapboost.lightgbm
import gapboost.xgboost
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

REPEATS, CALLS = 15, 200

# Each is told the folder with the model files and prints how long it took and what it holds then.
PROCESSES = {
    "ONNX": "import onnxruntime; s = onnxruntime.InferenceSession(folder + '/lightgbm.onnx'); "
    "s.run(None, {'X': X.astype('float32')})",
    "LightGBM's booster": "import lightgbm; lightgbm.Booster(model_file=folder + '/lightgbm.txt').predict(X)",
    "XGBoost's booster": "import xgboost; xgboost.Booster(model_file=folder + '/xgboost.json').inplace_predict(X)",
    "to_vendor(), LightGBM": "import joblib; joblib.load(folder + '/vendor.joblib').predict(X)",
    "LGBMGAPRanker": "import joblib; joblib.load(folder + '/ranker.joblib').predict(X)",
}
AROUND = """
import sys, time
folder = sys.argv[1]
import numpy as np
X = np.zeros((1, {n_features}))
{code}
seconds = time.process_time()
status = open("/proc/self/status").read()  # the peak of this process alone; getrusage knows its parent's too
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(seconds, peak, *(name in sys.modules for name in ("gapboost", "numba", "sklearn")))
"""


def trained() -> tuple[LGBMGAPRanker, XGBGAPRanker, np.ndarray]:
    """Both rankers, 100 trees, and rows to predict."""
    train, _, test = load_digits_ranking()
    kinds = (LGBMGAPRanker, {"verbose": -1}), (XGBGAPRanker, {})
    rankers = (Ranker(n_estimators=100, n_jobs=1, **quiet) for Ranker, quiet in kinds)
    first, second = (ranker.fit(train.X, train.y, qid=train.qid) for ranker in rankers)
    return first, second, np.asarray(test.X, dtype=float)


def doors(light: LGBMGAPRanker, xgb: XGBGAPRanker, row: np.ndarray) -> dict[str, Callable[[], Any]]:
    """What predicts one row, by name."""
    session, single = onnx_session(light, row.shape[1]), {"X": row.astype(np.float32)}
    light_vendor, xgb_vendor = light.to_vendor(), xgb.to_vendor()
    booster, other = light.booster_, xgb.get_booster()
    return {
        "`LGBMGAPRanker.predict`": lambda: light.predict(row),
        "`to_vendor().predict`, LightGBM's wrapper": lambda: light_vendor.predict(row),
        "`booster_.predict`, LightGBM": lambda: booster.predict(row, num_threads=1),
        "`XGBGAPRanker.predict`": lambda: xgb.predict(row),
        "`to_vendor().predict`, XGBoost's wrapper": lambda: xgb_vendor.predict(row),
        "`get_booster().inplace_predict`, XGBoost": lambda: other.inplace_predict(row),
        "ONNX Runtime, of the LightGBM model": lambda: session.run(None, single),
    }


def onnx_session(ranker: LGBMGAPRanker, n_features: int, path: Path | None = None) -> onnxruntime.InferenceSession:
    """The model in ONNX Runtime, on one thread."""
    inputs = [("X", FloatTensorType([None, n_features]))]
    model = onnxmltools.convert_lightgbm(gapboost.lightgbm.exportable(ranker), initial_types=inputs)
    if path is not None:
        path.write_bytes(model.SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def microseconds(call: Callable[[], Any]) -> float:
    """Of the processor, as other processes share it; the best of some means."""
    call()
    return min(timeit.repeat(call, timer=time.process_time, repeat=REPEATS, number=CALLS)) / CALLS * 1e6


def started(folder: Path, code: str, n_features: int) -> list[str]:
    """Seconds of the processor, MB and modules of a fresh process that predicts one row; the best of three."""
    text = AROUND.format(n_features=n_features, code=code)
    command = [sys.executable, "-c", text, str(folder)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ) for _ in range(3)]
    return min((run.stdout.split() for run in runs), key=lambda run: float(run[0]))


def main() -> None:
    """Print both tables."""
    light, xgb, X = trained()
    print("| one row by | microseconds |\n| --- | --- |")
    for name, call in doors(light, xgb, X[:1]).items():
        print(f"| {name} | {microseconds(call):.0f} |")
    print(
        "\n| a fresh process predicts by | s of the processor | MB at its peak | loads gapboost | numba | scikit-learn |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        light.booster_.save_model(folder / "lightgbm.txt")
        xgb.get_booster().save_model(folder / "xgboost.json")
        onnx_session(light, X.shape[1], folder / "lightgbm.onnx")
        joblib.dump(light.to_vendor(), folder / "vendor.joblib")
        joblib.dump(light, folder / "ranker.joblib")
        for door, code in PROCESSES.items():
            seconds, peak, *loads = started(folder, code, X.shape[1])
            said = " | ".join("yes" if load == "True" else "no" for load in loads)
            print(f"| {door} | {float(seconds):.2f} | {float(peak):.0f} | {said} |")


if __name__ == "__main__":
    main()

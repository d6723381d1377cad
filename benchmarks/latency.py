"""One row by each way to predict, and what a fresh process loads for it. Linux only."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np

import gapboost.lightgbm
from benchmarks.harness import HERE, Row, Runs, Subject, output_of, race
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

PAGE = HERE.parent / "docs" / "guide" / "production.md"
PACKAGES = ("lightgbm", "xgboost", "onnxmltools", "onnxruntime")
PEERS = ("`booster_.predict`, LightGBM", "`get_booster().inplace_predict`, XGBoost")
LOADED = ("gapboost", "numba", "sklearn")

# Code that predicts `X` with a file of `folder`.
PROCESSES = {
    "ONNX": "import onnxruntime; s = onnxruntime.InferenceSession(folder + '/lightgbm.onnx'); "
    "s.run(None, {'X': X.astype('float32')})",
    "LightGBM's booster": "import lightgbm; lightgbm.Booster(model_file=folder + "
    "'/lightgbm.txt').predict(X)",
    "XGBoost's booster": "import xgboost; xgboost.Booster(model_file=folder + "
    "'/xgboost.json').inplace_predict(X)",
    "`to_vendor()`, LightGBM": "import joblib; joblib.load(folder + '/vendor.joblib').predict(X)",
    "`LGBMGAPRanker`": "import joblib; joblib.load(folder + '/ranker.joblib').predict(X)",
}
AROUND = """
import sys, time
folder = sys.argv[1]
import numpy as np
X = np.zeros((1, {n_features}))
{code}
seconds = time.process_time()
status = open("/proc/self/status").read()  # the peak of this process; getrusage adds its parent's
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(seconds, peak, *("yes" if name in sys.modules else "no" for name in {loaded}))
"""


def trained(smoke: bool) -> tuple[LGBMGAPRanker, XGBGAPRanker, np.ndarray]:
    """Return both rankers and one row to predict."""
    train, _, test = load_digits_ranking((20, 5, 5), 20) if smoke else load_digits_ranking()
    light = LGBMGAPRanker(n_estimators=100, n_jobs=1, verbose=-1)
    xgb = XGBGAPRanker(n_estimators=100, n_jobs=1)
    for ranker in (light, xgb):
        ranker.fit(train.X, train.y, qid=train.qid)
    return light, xgb, np.asarray(test.X[:1], dtype=float)


def onnx_model(ranker: LGBMGAPRanker, n_features: int) -> bytes:
    """Return the model in ONNX."""
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType

    types = [("X", FloatTensorType([None, n_features]))]
    model = onnxmltools.convert_lightgbm(gapboost.lightgbm.exportable(ranker), initial_types=types)
    content: bytes = model.SerializeToString()
    return content


def ways(light: LGBMGAPRanker, xgb: XGBGAPRanker, row: np.ndarray) -> list[Runs]:
    """Return the ways to predict one row on one thread, for each booster."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx_model(light, row.shape[1]), options)
    single = {"X": row.astype(np.float32)}
    light_vendor, xgb_vendor = light.to_vendor(), xgb.to_vendor()
    booster, other = light.booster_, xgb.get_booster()
    return [
        {
            "`LGBMGAPRanker.predict`": lambda: light.predict(row),
            "`to_vendor().predict`, LightGBM's wrapper": lambda: light_vendor.predict(row),
            PEERS[0]: lambda: booster.predict(row, num_threads=1),
            "ONNX Runtime, of the LightGBM model": lambda: session.run(None, single),
        },
        {
            "`XGBGAPRanker.predict`": lambda: xgb.predict(row),
            "`to_vendor().predict`, XGBoost's wrapper": lambda: xgb_vendor.predict(row),
            PEERS[1]: lambda: other.inplace_predict(row),
        },
    ]


def one_row(smoke: bool) -> Iterator[Row]:
    """Yield the seconds of one prediction."""
    calls, repetitions = (2, 1) if smoke else (200, 15)
    for peer, runs in zip(PEERS, ways(*trained(smoke)), strict=True):
        many = {name: lambda run=run: [run() for _ in range(calls)] for name, run in runs.items()}
        yield from race(many, peer, repetitions, "µs", 1e6 / calls)


def first_row(smoke: bool) -> Iterator[Row]:
    """Yield processor seconds, memory and modules of fresh processes, the fastest of three."""
    light, xgb, row = trained(smoke)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        light.booster_.save_model(folder / "lightgbm.txt")
        xgb.get_booster().save_model(folder / "xgboost.json")
        (folder / "lightgbm.onnx").write_bytes(onnx_model(light, row.shape[1]))
        joblib.dump(light.to_vendor(), folder / "vendor.joblib")
        joblib.dump(light, folder / "ranker.joblib")
        for way, code in list(PROCESSES.items())[: 1 if smoke else None]:
            text = AROUND.format(n_features=row.shape[1], code=code, loaded=LOADED)
            runs = [output_of(text, str(folder)).split() for _ in range(1 if smoke else 3)]
            seconds, peak, *loaded = min(runs, key=lambda run: float(run[0]))
            loads = dict(zip((f"loads {module}" for module in LOADED), loaded, strict=True))
            cost = {"processor s": float(seconds), "MB at its peak": float(peak)}
            yield {"a fresh process predicts by": way, **cost, **loads}


SUBJECTS = [
    Subject("latency", "one row by each way to predict", one_row, PACKAGES, page=PAGE),
    Subject("first_row", "a fresh process that predicts one row", first_row, PACKAGES, page=PAGE),
]

"""Check an installed gapboost without extras, and with no sources in reach."""

import os
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path.cwd() / "cache"))

import gapboost as gb

package = Path(gb.__file__).parent
assert package.is_relative_to(sys.prefix), package
assert (package / "py.typed").is_file()
assert distribution("gapboost").version == gb.__version__
assert not [
    name for name in ("lightgbm", "xgboost", "tests", "benchmarks", "examples") if find_spec(name)
]

gap = gb.GAP(g=(0.5, 0.5))
best = gb.evaluate([gap, "ndcg@10"], [2, 1, 0], [3.0, 2.0, 1.0]).by_label()
assert best.keys() == {gap.label, "nDCG_at_10"}
assert all(abs(value - 1) < 1e-12 for value in best.values()), best
assert gb.LambdaRank(gap).gradients([0, 1], [2.0, 1.0])[0][0] > 0
missing = ""
try:
    import gapboost.lightgbm
except ImportError as error:
    missing = str(error)
assert "pip install 'gapboost[lightgbm]'" in missing, missing
print(f"gapboost {gb.__version__} works in {sys.prefix}")

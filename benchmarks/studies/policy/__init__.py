"""False alarms and power of the statistics that `compare_rankers` uses."""

from pathlib import Path

RESULTS = Path(__file__).parent / "results"
COMPONENTS = Path(__file__).parents[1] / "variance" / "results" / "resplits.csv"
# Numbers of queries of a comparison.
SIZES = (50, 200, 1000)

"""Spark's Python daemon with the package imported: the workers that it forks start at once."""

from pyspark.daemon import manager

import gapboost.spark  # noqa: F401

if __name__ == "__main__":
    manager()

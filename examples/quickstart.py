"""Quick start: train both boosters for GAP on a graded task of handwritten digits.

An image is the query, other images are the documents; grade 2 is the same digit, grade 1 a digit
that looks like it.
"""

from comparison import compare

from gapboost.datasets import load_digits_ranking

if __name__ == "__main__":
    compare(load_digits_ranking())

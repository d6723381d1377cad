"""Train and evaluate on a LETOR directory with train.txt, vali.txt and test.txt (plain or .gz).

Usage: ``python examples/letor.py path/to/Fold1``.
"""

import sys

from comparison import compare

from gapboost.datasets import load_letor_fold

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compare(load_letor_fold(sys.argv[1]))

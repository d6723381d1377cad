"""Names of scikit-learn that are not part of its interface, checked with 1.6.1 and 1.9.1."""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _num_samples as num_samples

__all__ = ["check_feature_names_in", "num_samples", "safe_indexing"]

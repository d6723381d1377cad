"""The one name that annotations have for arrays."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

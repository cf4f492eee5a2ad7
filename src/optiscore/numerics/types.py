"""Names for the array types in signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]

#: log(2 pi), of Gaussian densities.
LOG_2PI = float(np.log(2 * np.pi))

"""Arrays of other libraries than NumPy's: whose they are, and the way to the host and back (scikit-learn's dispatch).

Samples and what is said of them stay on their device, in their library; moments and tables, which are small, are made
on the host. Where the device is the host's own memory, NumPy works on the samples in place, which is fastest.
"""

from typing import Any, TypeAlias

import numpy as np
from sklearn import get_config
from sklearn.utils import _array_api

#: Refuse arrays of another library than those of the fit, where scikit-learn knows how to.
check_same_namespace = getattr(_array_api, "check_same_namespace", lambda X, estimator, *, attribute, method: None)

#: The device that an array is on.
device_of = _array_api.device

#: An array of NumPy's or of a library that follows the array API standard.
Array: TypeAlias = Any


def is_numpy(array: Array) -> bool:
    """Whether an array is NumPy's own."""
    return isinstance(array, np.ndarray)


def namespace_of(array: Array) -> Any:
    """The functions of an array's library, by the names of the standard; NumPy's for what is no array."""
    if is_numpy(array) or not get_config()["array_api_dispatch"]:
        return np
    # scikit-learn looks at the versions of all libraries each time: that takes longer than what is done to a block.
    if type(array) not in _namespaces:
        _namespaces[type(array)] = _find_namespace(array)
    return _namespaces[type(array)]


_namespaces: dict[type, Any] = {}


def _find_namespace(array: Array) -> Any:
    try:
        xp, is_array = _array_api.get_namespace(array)
    # Whatever else it is, scikit-learn's checks will make an array of it.
    except TypeError:
        return np
    return xp if is_array and not _array_api._is_numpy_namespace(xp) else np


def float_types(array: Array) -> list[Any]:
    """The types of samples that are kept as they are, on the device of an array."""
    xp = namespace_of(array)
    if xp is np or _widest_float(xp, array) == xp.float64:
        return [xp.float64, xp.float32]
    return [xp.float32]


def to_host(array: Array) -> Any:
    """An array of another library as one of NumPy's; everything else as it is."""
    xp = namespace_of(array)
    if xp is np:
        return array
    return np.asarray(_array_api._convert_to_numpy(_without_gradient(array), xp))


def in_place(array: Array) -> Array:
    """NumPy's view of an array that lies in the host's memory; arrays on other devices where they are."""
    return to_host(array) if is_on_host(array) else _without_gradient(array)


def _without_gradient(array: Array) -> Array:
    """The same numbers: gradients are of no use here, and tensors that ask for them convert to nothing else."""
    return array.detach() if hasattr(array, "detach") else array


def is_on_host(array: Array) -> bool:
    """Whether an array lies in the host's memory."""
    return is_numpy(array) or "cpu" in str(device_of(array)).lower()


def like(values: Array, array: Array, dtype: Any = None) -> Array:
    """Numbers from the host on the device and in the library of an array; doubles as wide as the device has them.

    Arrays that are of another library than NumPy already are there.
    """
    if not is_numpy(values):
        return values
    if is_numpy(array):
        return values if dtype is None else values.astype(dtype, copy=False)
    xp = namespace_of(array)
    if dtype is None and values.dtype == np.float64:
        dtype = _widest_float(xp, array)
    # Beyond the range of a narrower type lies infinity.
    with np.errstate(over="ignore"):
        return xp.asarray(values, dtype=dtype, device=device_of(array))


def to_widest_float(array: Array) -> Array:
    """An array in the widest floating-point type of its device."""
    xp = namespace_of(array)
    return xp.astype(array, _widest_float(xp, array), copy=False)


def _widest_float(xp: Any, array: Array) -> Any:
    return _array_api._max_precision_float_dtype(xp, device_of(array))

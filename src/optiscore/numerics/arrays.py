"""Arrays of other libraries than NumPy's: whose they are, and the way to the host and back (scikit-learn's dispatch).

Samples and answers stay on their device, in their library; moments and tables, which are small, are made
on the host. Where the device is the host's own memory, NumPy works on the samples in place, which is fastest.
"""

from typing import Any, TypeAlias

import numpy as np
from sklearn import config_context, get_config

# scikit-learn has no public name for its dispatch. Where the private ones are gone, there are NumPy's arrays only.
try:
    from sklearn.utils import _array_api as _dispatch

    _get_namespace, _convert_to_numpy = _dispatch.get_namespace, _dispatch._convert_to_numpy
    _is_numpy_namespace = _dispatch._is_numpy_namespace
    _widest_float_on = _dispatch._max_precision_float_dtype
    #: Whether scikit-learn tells of which library an array is.
    has_dispatch = True
except (ImportError, AttributeError):
    _dispatch, has_dispatch = None, False

#: An array of NumPy's or of a library that follows the array API standard.
Array: TypeAlias = Any


def check_same_namespace(X: Array, estimator: Any, *, attribute: str, method: str) -> None:
    """Refuse arrays of another library than those of the fit, where scikit-learn knows how to."""
    check = getattr(_dispatch, "check_same_namespace", None)
    if check is not None:
        check(X, estimator, attribute=attribute, method=method)


def device_of(array: Array) -> Any:
    """The device that an array is on."""
    return "cpu" if isinstance(array, np.ndarray) or _dispatch is None else _dispatch.device(array)


def namespace_of(array: Array) -> Any:
    """The functions of an array's library, by the names of the standard; NumPy's for what is no array."""
    if isinstance(array, np.ndarray) or not get_config()["array_api_dispatch"]:
        return np
    # scikit-learn looks at the versions of all libraries each time: that takes longer than what is done to a block.
    if type(array) not in _namespaces:
        _namespaces[type(array)] = _find_namespace(array)
    return _namespaces[type(array)]


_namespaces: dict[type, Any] = {}


def _find_namespace(array: Array) -> Any:
    if not has_dispatch:
        return np
    try:
        xp, is_array = _get_namespace(array)
    # Whatever else it is, scikit-learn's checks will make an array of it.
    except TypeError:
        return np
    return xp if is_array and not _is_numpy_namespace(xp) else np


def float_types(array: Array) -> list[Any]:
    """The types of samples that are kept as they are, on the device of an array."""
    if isinstance(array, np.ndarray):
        return [np.float64, np.float32]
    xp = namespace_of(array)
    if xp is np or _widest_float(xp, array) == xp.float64:
        return [xp.float64, xp.float32]
    return [xp.float32]


def to_host(array: Array) -> Any:
    """An array of another library as one of NumPy's; everything else as it is."""
    if isinstance(array, np.ndarray) or (xp := namespace_of(array)) is np:
        return array
    return np.asarray(_convert_to_numpy(_without_gradient(array), xp))


def to_host_always(array: Array) -> Any:
    """As `to_host`, even where scikit-learn's dispatch is switched off."""
    if isinstance(array, np.ndarray) or not hasattr(array, "shape"):
        return array
    with config_context(array_api_dispatch=True):
        return to_host(array)


def in_place(array: Array) -> Array:
    """NumPy's view of an array that lies in the host's memory; arrays on other devices where they are."""
    if isinstance(array, np.ndarray):
        return array
    return to_host(array) if is_on_host(array) else _without_gradient(array)


def _without_gradient(array: Array) -> Array:
    """The same numbers: gradients are of no use here, and tensors that ask for them convert to nothing else."""
    return array.detach() if hasattr(array, "detach") else array


def is_on_host(array: Array) -> bool:
    """Whether an array lies in the host's memory."""
    return isinstance(array, np.ndarray) or "cpu" in str(device_of(array)).lower()


def like(values: Array, array: Array, dtype: Any = None) -> Array:
    """Numbers from the host on the device and in the library of an array; doubles as wide as the device has them.

    Arrays that are of another library than NumPy already are there.
    """
    if not isinstance(values, np.ndarray):
        return values
    if isinstance(array, np.ndarray):
        return values if dtype is None else values.astype(dtype, copy=False)
    xp = namespace_of(array)
    if dtype is None and values.dtype == np.float64:
        dtype = _widest_float(xp, array)
    # Beyond the range of a narrower type lies infinity. Libraries that share memory want it to be writeable.
    with np.errstate(over="ignore"):
        return xp.asarray(values if values.flags.writeable else values.copy(), dtype=dtype, device=device_of(array))


def to_widest_float(array: Array) -> Array:
    """An array in the widest floating-point type of its device."""
    xp = namespace_of(array)
    return xp.astype(array, _widest_float(xp, array), copy=False)


def take_rows(array: Array, rows: np.ndarray) -> Array:
    """Some rows of an array, in its library."""
    return array[rows] if isinstance(array, np.ndarray) else namespace_of(array).take(array, like(rows, array), axis=0)


def argmax_of_rows(array: np.ndarray) -> np.ndarray:
    """Return the first row that holds the largest number of each column, several times as fast as NumPy does."""
    return first_true_row(array == array.max(axis=0))


def first_true_row(flags: np.ndarray) -> np.ndarray:
    """Return the index of the first true row of each column, of which one is true."""
    is_later = ~flags[0]
    index = is_later.astype(np.int8 if len(flags) < 128 else np.intp)
    for row in flags[1:-1]:
        np.greater(is_later, row, out=is_later)
        index += is_later
    return index


def _widest_float(xp: Any, array: Array) -> Any:
    return _widest_float_on(xp, device_of(array))

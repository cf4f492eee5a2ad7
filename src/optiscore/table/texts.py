"""Cells of categories as text, for pipelines that are kept in model files."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

#: What stands for a missing cell.
MISSING_TEXT = "(missing)"


class CellTexts(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from cells to their texts (`as_text`), whatever cells a pipeline is given."""

    def fit(self, X: Any, y: Any = None) -> "CellTexts":
        """Learn the names of the columns."""
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return texts."""
        return as_text(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def as_text(cells: Any) -> np.ndarray:
    """Cells spelled as those of a text file: however they came, equal ones are equal.

    Empty and missing cells are "(missing)", booleans "true" and "false", and 1 is 1.0.
    """
    columns = np.asarray(cells, dtype=object)
    spelled = np.empty_like(columns)
    for j, column in enumerate(columns.T):
        known = {value: _spelled(value) for value in set(column.tolist())}
        is_plain = all(value is text for value, text in known.items())
        spelled[:, j] = column if is_plain else [known[value] for value in column.tolist()]
    return spelled


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        lowered = value.lower()
        return lowered if lowered in ("true", "false") and lowered != value else value or MISSING_TEXT
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if _is_missing(value):
        return MISSING_TEXT
    is_integer = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    return f"{value:.0f}" if is_integer and abs(value) < 2**53 else str(value)


def _is_missing(value: Any) -> bool:
    """None, and what is not equal to itself; pandas' NA is neither equal nor unequal to anything."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True

"""Schemas of scikit-learn's objects in a model file, by the name of the type."""

from collections.abc import Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np

from .members import (
    LABELS,
    N_FEATURES,
    NAMES,
    Categories,
    Count,
    Each,
    Members,
    RefusedError,
    Word,
    cells,
    numbers,
)


def _encodings(model: Any) -> None:
    """One encoding per feature, or per feature and class, with a number for each category."""
    per_feature = 1 if len(model.classes_) == 2 else len(model.classes_)
    wanted = [len(categories) for categories in model.categories_ for _ in range(per_feature)]
    if [len(encoding) for encoding in model.encodings_] != wanted:
        raise RefusedError("encodings_ must have a number for each of categories_")

    mean = np.asarray(model.target_mean_)
    if mean.dtype.kind != "f" or mean.shape not in ((), (len(model.classes_),)) or not np.isfinite(mean).all():
        raise RefusedError("target_mean_ must hold a finite number, or one per class")


def _imputed(model: Any) -> None:
    """Numbers are not imputed in columns of text."""
    if model.statistics_.dtype.kind != "O" and getattr(model, "_fit_dtype", np.dtype(float)).kind in "UO":
        raise RefusedError("statistics_ and _fit_dtype must be of one kind")


def _linear(model: Any) -> None:
    """One function for two classes, or else one per class."""
    if len(model.coef_) != (1 if len(model.classes_) == 2 else len(model.classes_)):
        raise RefusedError("coef_ must have a row for each of classes_, or one for two")


def _rotations(model: Any) -> None:
    """As many scalings as directions, for each class."""
    for scaling, rotation in zip(model.scalings_, model.rotations_, strict=True):
        if len(scaling) != rotation.shape[1]:
            raise RefusedError("scalings_ must have a number for each column of rotations_")


def _dropped(model: Any) -> None:
    """Indices of dropped categories, where there are any."""
    for name in ("drop_idx_", "_drop_idx_after_grouping"):
        dropped = getattr(model, name, None)
        if dropped is None:
            continue
        if not isinstance(dropped, np.ndarray) or dropped.shape != (len(model.categories_),):
            raise RefusedError(f"{name} must have an entry for each of categories_")
        for index, categories in zip(dropped.tolist(), model.categories_, strict=True):
            if index is not None and not (isinstance(index, Integral) and 0 <= int(index) < len(categories)):
                raise RefusedError(f"{name} must hold indices of categories_")


_CLASSES = {"classes_": LABELS, "priors_": numbers("K", 0, 1, sums_to_one=True), "means_": numbers("K d")}
_LINEAR = {"classes_": LABELS, "coef_": numbers("m d"), "intercept_": numbers("m")}

#: By the module and the name of the type.
SCHEMAS: Mapping[str, Members] = MappingProxyType(
    {
        "sklearn.impute._base.SimpleImputer": Members(
            {**N_FEATURES, "statistics_": cells("d")},
            {**NAMES, "_fit_dtype": Word(type=np.dtype), "_fill_dtype": Word(type=np.dtype)},
            together=_imputed,
        ),
        "sklearn.preprocessing._data.StandardScaler": Members(
            {**N_FEATURES, "n_samples_seen_": Count()},
            {
                "mean_": numbers("d", may_be_nan=True),
                "var_": numbers("d", 0, may_be_nan=True),
                "scale_": numbers("d", 1e-300, may_be_nan=True),
                **NAMES,
            },
        ),
        "sklearn.preprocessing._encoders.OneHotEncoder": Members(
            {**N_FEATURES, "categories_": Each(Categories(), "d")}, NAMES, together=_dropped
        ),
        "sklearn.preprocessing._target_encoder.TargetEncoder": Members(
            {
                **N_FEATURES,
                "categories_": Each(Categories(), "d"),
                "classes_": LABELS,
                "encodings_": Each(numbers("n")),
            },
            NAMES,
            together=_encodings,
        ),
        "sklearn.compose._column_transformer.ColumnTransformer": Members(N_FEATURES, NAMES),
        "sklearn.linear_model._logistic.LogisticRegression": Members(
            {**_LINEAR, **N_FEATURES}, {"n_iter_": numbers("1", 0, kinds="iu"), **NAMES}, together=_linear
        ),
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": Members(
            {**_CLASSES, **_LINEAR, **N_FEATURES},
            {"covariance_": numbers("d d"), "xbar_": numbers("d"), **NAMES},
            together=_linear,
        ),
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": Members(
            {
                **_CLASSES,
                **N_FEATURES,
                "scalings_": Each(numbers("r", 0), "K"),
                "rotations_": Each(numbers("d r"), "K"),
            },
            NAMES,
            together=_rotations,
        ),
    }
)

"""What the members of each type in a model file must be, by the name of the type."""

import math
import re
from collections.abc import Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np

from .members import (
    Categories,
    Cells,
    Columns,
    Count,
    Each,
    Labels,
    Members,
    Number,
    Numbers,
    RefusedError,
    Texts,
    Type,
)

_D = {"n_features_in_": Number(1, 1e9, length="d")}
_NAMES = {"feature_names_in_": Texts("d")}
_CLASSES = {"classes_": Labels(), "priors_": Numbers("K", 0, 1, sums_to_one=True), "means_": Numbers("K d")}


def _search(model: Any) -> None:
    """Candidates are all combinations; the mean score of each is that of its splits, and the best one has one."""
    table = model.cv_results_
    others = {(str(name), float(t)) for name, t in zip(table["param_likelihood"], table["param_pooling"], strict=True)}
    if len(table["params"]) != len(others) * math.prod(map(len, model.radius_axes_)):
        raise RefusedError("radius_axes_ must be those of the candidates in cv_results_")
    splits = [column for key, column in table.items() if re.fullmatch(r"split\d+_test_score", key)]
    means, best = table["mean_test_score"], getattr(model, "best_index_", 0)
    if any(column.dtype.kind != "f" for column in splits):
        raise RefusedError("cv_results_ must hold scores that are numbers")
    if not splits or not np.allclose(np.mean(splits, axis=0), means, equal_nan=True):
        raise RefusedError("cv_results_['mean_test_score'] must be the mean of the splits")
    if not np.allclose(np.std(splits, axis=0), table["std_test_score"], equal_nan=True):
        raise RefusedError("cv_results_['std_test_score'] must be the deviation of the splits")
    if not 0 <= best < len(means) or not np.isfinite(means[best]):
        raise RefusedError("cv_results_ must have a score of the best candidate")


def _left_out(model: Any) -> None:
    """As many probabilities as there were training rows."""
    counts = model.models_[0].coordinate_models.gaussians.class_count_
    if len(model.left_out_proba_) != counts.sum() or len(model.models_) != len(model.maps_["weight"]):
        raise RefusedError("left_out_proba_ and maps_ must be of the length of the training rows and of models_")


def _coordinates(model: Any) -> None:
    """One coordinate fewer than classes."""
    if model.expansion_.coefficients.shape[1] != len(model.classes_) - 1:
        raise RefusedError("expansion_.coefficients must have one column fewer than classes_ has labels")


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
            if index is not None and not (isinstance(index, Integral) and 0 <= index < len(categories)):
                raise RefusedError(f"{name} must hold indices of categories_")


def _increasing(model: Any) -> None:
    """Each feature has a run of increasing values."""
    starts = model.starts
    if starts[0] != 0 or starts[-1] != len(model.values) or not (starts[1:] > starts[:-1]).all():
        raise RefusedError("starts must divide the values into one run per feature")


_SUMS = {
    "origin": Numbers("d"),
    "unit": Numbers("d", 1e-300),
    "gram": Numbers("2*d+1 2*d+1"),
    "lowest": Numbers("d"),
    "highest": Numbers("d"),
    "resolution": Number(1e-20, 1e-2),
}
_OPTIMISTIC = Members(
    {**_CLASSES, "covariances_": Numbers("K d d"), "radii_": Numbers("K", 0, 1e15), **_D},
    {"offsets_": Numbers("K"), "class_count_": Numbers("K", 0), **_NAMES},
)
_MODERATED = Members(
    {
        **_CLASSES,
        "class_count_": Numbers("K", 0),
        "mean_distance_": Numbers("K+1", 0),
        "effective_features_": Numbers("K+1", 0),
        "kurtosis_": Numbers("K+1"),
        "radial_kurtosis_": Numbers("K+1"),
    },
    {
        "covariances_": Numbers("K d d"),
        "covariance_": Numbers("d d"),
        "n_features_in_": Number(1, 1e9, length="in"),
        "feature_names_in_": Texts("in"),
    },
)
_TRIED = {
    "kernel": Texts("rows"),
    "scaling": Texts("rows"),
    "ridge": Numbers("rows", 0),
    "squared_error": Numbers("rows", 0),
    "log_loss": Numbers("rows", 0, may_be_nan=True),
    "n_rows": Numbers("rows", 1, kinds="iu"),
}
_MIXED = {name: _TRIED[name] for name in ("kernel", "scaling", "ridge")}
_POWER = ("center_", "exponents_", "mapped_center_", "lowest_", "highest_")
_LINEAR = {"classes_": Labels(), "coef_": Numbers("m d"), "intercept_": Numbers("m")}

#: By the module and the name of the type.
SCHEMAS: Mapping[str, Members] = MappingProxyType(
    {
        "optiscore.robust.classifier.OptimisticScoreClassifier": _OPTIMISTIC,
        "optiscore.dask.classifier.OptimisticScoreClassifier": _OPTIMISTIC,
        "optiscore.robust.classifier_cv.OptimisticScoreClassifierCV": Members(
            {
                "cv_results_": Columns(
                    {
                        "mean_test_score": Numbers("rows", may_be_nan=True),
                        "std_test_score": Numbers("rows", 0, may_be_nan=True),
                        "rank_test_score": Numbers("rows", 1, kinds="iu"),
                        "param_pooling": Numbers("rows", 0, 1),
                        "param_likelihood": Cells("rows"),
                        "param_radius": Cells("rows"),
                        "params": Cells("rows"),
                    },
                    others=Cells("rows"),
                ),
                "radius_axes_": Each(Numbers("n", 0, 1e15)),
            },
            together=_search,
        ),
        "optiscore.moderated.classifier.ModeratedDiscriminantAnalysis": _MODERATED,
        "optiscore.dask.moderated.ModeratedDiscriminantAnalysis": _MODERATED,
        "optiscore.kernel.classifier.KernelDiscriminantClassifier": Members(
            {
                "classes_": Labels(),
                **_D,
                "left_out_proba_": Numbers("n K", 0, 1, sums_to_one=True),
                "left_out_log_loss_": Number(0),
                "temperature_": Number(1e-6, 1e6),
                "results_": Columns(_TRIED),
                "maps_": Columns(
                    {**_MIXED, "log_loss": Numbers("rows", 0), "weight": Numbers("rows", 0, 1, sums_to_one=True)}
                ),
            },
            _NAMES,
            together=_left_out,
        ),
        "optiscore.kernel.coordinate_models.CoordinateModels": Members({"sharpness": Number(0, 1e6)}),
        "optiscore.kernel.map.KernelDiscriminantMap": Members(
            {
                "classes_": Labels(),
                **_D,
                "ridge_": Number(0, 1e15),
                "results_": Columns({name: kind for name, kind in _TRIED.items() if name != "log_loss"}),
            },
            _NAMES,
            together=_coordinates,
        ),
        "optiscore.kernel.search.KernelExpansion": Members(
            {"anchors": Numbers("n d"), "coefficients": Numbers("n m"), "offset": Numbers("m")},
            {"bandwidth": Number(0)},
        ),
        "optiscore.kernel.scalings.Standardised": Members(
            {"center": Numbers("d"), "scale": Numbers("d", 1e-300), "lowest": Numbers("d"), "highest": Numbers("d")}
        ),
        "optiscore.kernel.scalings.NormalScores": Members(
            {"values": Numbers("n"), "scores": Numbers("n"), "starts": Numbers("d", 0, kinds="iu")},
            together=_increasing,
        ),
        "optiscore.moderated.power.PowerMap": Members(
            {
                **_D,
                **{name: Numbers("d") for name in _POWER},
                "scale_": Numbers("d", 1e-300),
                "mapped_scale_": Numbers("d", 1e-300),
                "range_": Numbers("2 d"),
            },
            _NAMES,
        ),
        "optiscore.moments.sums.MomentSums": Members(_SUMS),
        "sklearn.impute._base.SimpleImputer": Members(
            {**_D, "statistics_": Cells("d")},
            {**_NAMES, "_fit_dtype": Type("biufUO"), "_fill_dtype": Type("biufUO")},
            together=_imputed,
        ),
        "sklearn.preprocessing._data.StandardScaler": Members(
            {**_D, "n_samples_seen_": Count()},
            {
                "mean_": Numbers("d", may_be_nan=True),
                "var_": Numbers("d", 0, may_be_nan=True),
                "scale_": Numbers("d", 1e-300, may_be_nan=True),
                **_NAMES,
            },
        ),
        "sklearn.preprocessing._encoders.OneHotEncoder": Members(
            {**_D, "categories_": Each(Categories(), "d")}, _NAMES, together=_dropped
        ),
        "sklearn.preprocessing._target_encoder.TargetEncoder": Members(
            {
                **_D,
                "categories_": Each(Categories(), "d"),
                "classes_": Labels(),
                "encodings_": Each(Numbers("n")),
            },
            _NAMES,
            together=_encodings,
        ),
        "sklearn.compose._column_transformer.ColumnTransformer": Members(_D, _NAMES),
        "sklearn.linear_model._logistic.LogisticRegression": Members(
            {**_LINEAR, **_D}, {"n_iter_": Numbers("1", 0, kinds="iu"), **_NAMES}, together=_linear
        ),
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": Members(
            {**_CLASSES, **_LINEAR, **_D},
            {"covariance_": Numbers("d d"), "xbar_": Numbers("d"), **_NAMES},
            together=_linear,
        ),
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": Members(
            {
                **_CLASSES,
                **_D,
                "scalings_": Each(Numbers("r", 0), "K"),
                "rotations_": Each(Numbers("d r"), "K"),
            },
            _NAMES,
            together=_rotations,
        ),
    }
)

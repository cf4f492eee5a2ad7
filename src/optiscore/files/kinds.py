"""Names of the package's own objects in a model file, and schemas of their members."""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..crossfit.calibration import Calibrator, VectorScaling
from .members import (
    LABELS,
    N_FEATURES,
    NAMES,
    Array,
    Columns,
    Each,
    Members,
    Number,
    RefusedError,
    Word,
    cells,
    numbers,
    texts,
)


class Kind(NamedTuple):
    """One kind of object: its public name, its type, and its members, by name where it is neither record nor estimator.

    The name is what files hold: modules and types may move. A new member has a default, so that older files open.
    """

    name: str
    path: str
    members: Members
    attributes: Sequence[str] | None = None


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


def _mixture(model: Any) -> None:
    """As many weights as models, each with a fitted scaling, and as many classes in all of them."""
    n_classes = {len(each.coordinate_models.gaussians.moments.priors) for each in model.models}
    if len(model.models) != len(model.weights) or len(n_classes) != 1:
        raise RefusedError("models and weights must go together")
    for each in model.models:
        z = each.coordinate_models.gaussians.moments.means.shape[1]
        if each.scaling not in model.scalings or each.expansion.coefficients.shape[1] != z:
            raise RefusedError("models must go with scalings and coordinates")


def _kernel(model: Any) -> None:
    """As many probabilities as there were training rows."""
    gaussians = model.mixture_.models[0].coordinate_models.gaussians
    rows = getattr(model, "sampling_rows_", None)
    weighs_alike = rows is None or rows.mass is None
    if weighs_alike and len(model.loo_proba_) != gaussians.moments.class_count.sum():
        raise RefusedError("loo_proba_ must be of the length of the training rows")
    if len(model.mixture_.models) != len(model.maps_["weight"]) or len(model.classes_) != len(gaussians.moments.priors):
        raise RefusedError("maps_ and classes_ must go with mixture_")
    if rows is None:
        return
    widths = [each.expansion.coefficients.shape[1] for each in model.mixture_.models]
    if [errors.shape[1] for errors in rows.errors] != widths or rows.points.shape[1] != model.n_features_in_:
        raise RefusedError("sampling_rows_ must go with mixture_ and the features")


def _weighted(model: Any) -> None:
    """A weight for each scaled feature."""
    scaling = model.scaling
    n = len(scaling.starts) - 1 if hasattr(scaling, "starts") else len(scaling.center)
    if len(model.weights) != n:
        raise RefusedError("weights must be as many as scaled features")


def _sampling_rows(model: Any) -> None:
    """Errors of each map, for each row, and a weight for each if there are any."""
    if model.mass is not None and len(model.mass) != len(model.points):
        raise RefusedError("mass must have a weight for each of points")
    if len(model.errors) != len(model.ridges):
        raise RefusedError("errors and ridges must go together")
    for errors in model.errors:
        if errors.dtype.kind != "f" or errors.ndim != 2 or len(errors) != len(model.points):
            raise RefusedError("errors must be numbers, a row for each of points")
        if not np.isfinite(errors).all():
            raise RefusedError("errors must be finite")


def _calibrations(model: Any) -> None:
    """What calibrates each classifier."""
    known = (VectorScaling, Calibrator, type(None))
    if len(model.calibrations) != len(model.weights) or not isinstance(model.of_mean, known):
        raise RefusedError("calibrations must be as many as weights")
    if not all(isinstance(each, known) for each in model.calibrations):
        raise RefusedError("calibrations must be scalings, objects with predict, or None")


def _crossfit(model: Any) -> None:
    """As many classifiers as weights, of all rows and of each fold, with the same classes."""
    models = [model.estimators_, *model.fold_estimators_]
    if any(len(each) != len(model.mixture_.weights) for each in models):
        raise RefusedError("estimators_ and fold_estimators_ must go with mixture_")
    for each in (single for fitted in models for single in fitted):
        if not hasattr(each, "classes_") or not np.isin(each.classes_, model.classes_).all():
            raise RefusedError("estimators_ must know the classes")
    scalings = [
        each for each in (*model.mixture_.calibrations, model.mixture_.of_mean) if isinstance(each, VectorScaling)
    ]
    if any(len(each.intercepts) != len(model.classes_) for each in scalings):
        raise RefusedError("intercepts must be as many as classes")


def _coordinates(model: Any) -> None:
    """One coordinate fewer than classes."""
    if model.expansion_.coefficients.shape[1] != len(model.classes_) - 1:
        raise RefusedError("expansion_.coefficients must have one column fewer than classes_ has labels")


def _increasing(model: Any) -> None:
    """Each feature has a run of increasing values."""
    starts = model.starts
    if starts[0] != 0 or starts[-1] != len(model.values) or not (starts[1:] > starts[:-1]).all():
        raise RefusedError("starts must divide the values into one run per feature")


def _drift(model: Any) -> None:
    """Correlations of all statistics, or of none."""
    if len(model.correlation) not in (0, model.means.shape[1]):
        raise RefusedError("correlation must go with means")


def _watch(model: Any) -> None:
    """A statistic for each entry."""
    if len(model.reference.center) != len(model.entries):
        raise RefusedError("entries must be as many as the statistics of reference")


# Models that a table may be trained with, whatever they were tried as.
_TAKEN = ("moderated", "kernel", "optimistic")


def _table(model: Any) -> None:
    """Everything about the same classes and columns."""
    if len(model.pipeline[-1].classes_) != len(model.confusion):
        raise RefusedError("confusion must have a row and a column for each class")
    known = {column.name for column in model.columns}
    if not all(entry[0] in known for entry in model.watch.entries):
        raise RefusedError("watch must be about columns of the table")
    counts = [count for _, count in model.class_counts]
    measures = [measure for name, *row in model.tried for measure in row if isinstance(name, str)]
    if not all(isinstance(count, int) for count in counts) or not np.isfinite(measures).all() or not len(measures):
        raise RefusedError("class_counts and tried must hold numbers")
    if model.kind not in (*_TAKEN, *(name for name, *_ in model.tried)):
        raise RefusedError("kind must be one of the models that were tried")
    if not all(isinstance(text, str) for pair in model.failed_peers.items() for text in pair):
        raise RefusedError("failed_peers must hold texts")
    if not all(hasattr(peer, "classes_") for peer in model.peers.values()) or model.seen.part <= 0:
        raise RefusedError("peers and seen must be whole")


_CLASSES = {"classes_": LABELS, "priors_": numbers("K", 0, 1, sums_to_one=True), "means_": numbers("K d")}
_POWER = {
    **{name: numbers("d") for name in ("center", "lambdas", "mapped_center", "lowest", "highest")},
    **{name: numbers("d", 1e-300) for name in ("scale", "mapped_scale")},
    "range": numbers("2 d"),
}
_MOMENTS = {
    "class_count": numbers("K", 0),
    "priors": numbers("K", 0, 1, sums_to_one=True),
    "means": numbers("K z"),
    "mean_distance": numbers("K+1", 0),
    "effective_features": numbers("K+1", 0),
    "kurtosis": numbers("K+1"),
    "radial_kurtosis": numbers("K+1"),
}
_COVARIANCES = {
    "covariances": numbers("K z z"),
    "covariance": numbers("z z"),
    "model_weights": numbers("m", 0, 1, sums_to_one=True),
    "sharpness": Number(0.01, 1),
}
_OPTIMISTIC = {
    **_CLASSES,
    "covariances_": numbers("K d d"),
    "radii_": numbers("K", 0, 1e15),
    "offsets_": numbers("K"),
    "class_count_": numbers("K", 0),
    **N_FEATURES,
}
_LEFT_OUT = {
    "loo_proba_": numbers("n K", 0, 1, sums_to_one=True),
    "loo_codes_": numbers("n", 0, kinds="iu"),
    "loo_weights_": numbers("n", 0),
    "loo_priors_": numbers("K", 0, 1, sums_to_one=True),
    "priors_": numbers("K", 0, 1, sums_to_one=True),
    "typicality_limit_": Number(0, 1, may_be_none=True),
}
_MODERATED = Members(
    {"classes_": LABELS, **{f"{name}_": kind for name, kind in _MOMENTS.items()}},
    {
        **{f"{name}_": kind for name, kind in _COVARIANCES.items()},
        "n_features_in_": Number(1, 1e9, length="in"),
        "feature_names_in_": texts("in"),
        **_LEFT_OUT,
    },
)
_TRIED = {
    "kernel": texts("rows"),
    "scaling": texts("rows"),
    "ridge": numbers("rows", 0),
    "squared_error": numbers("rows", 0),
    "log_loss": numbers("rows", 0, may_be_nan=True),
    "n_rows": numbers("rows", 1, kinds="iu"),
}
_MIXED = {name: _TRIED[name] for name in ("kernel", "scaling", "ridge")}
_SEARCH = {
    "cv_results_": Columns(
        {
            "mean_test_score": numbers("rows", may_be_nan=True),
            "std_test_score": numbers("rows", 0, may_be_nan=True),
            "rank_test_score": numbers("rows", 1, kinds="iu"),
            "param_pooling": numbers("rows", 0, 1),
            "param_likelihood": cells("rows"),
            "param_radius": cells("rows"),
            "params": cells("rows"),
        },
        others=cells("rows"),
    ),
    "radius_axes_": Each(numbers("n", 0, 1e15)),
}
_COUNT = Number(0, is_whole=True)
_COLUMN = Members(
    {
        "name": Word(),
        "kind": Word(),
        "n_distinct": _COUNT,
        "n_missing": _COUNT,
        "is_integer": Word(type=bool),
        "resembles": Word(),
    }
)
_TABLE = Members(
    {
        "kind": Word(),
        "decimal": Word((".", ",")),
        **{name: Word() for name in ("reason", "how", "target", "source")},
        **dict.fromkeys(("n_rows", "n_unlabelled", "n_copies"), _COUNT),
        **{name: Number(0, is_whole=True, may_be_none=True) for name in ("n_sampled", "n_certain")},
        "least_typical": Number(0, 1),
        "failed_peers": Word(type=dict),
        "columns": Each(None),
        "tried": Each(None),
        "class_counts": Each(None, "K"),
        "confusion": Each(Each(_COUNT, "K"), "K"),
    },
    together=_table,
)
_ALL = (
    Kind("OptimisticScoreClassifier", "robust.classifier.OptimisticScoreClassifier", Members(_OPTIMISTIC, NAMES)),
    Kind(
        "OptimisticScoreClassifierCV",
        "robust.classifier_cv.OptimisticScoreClassifierCV",
        Members({**_OPTIMISTIC, **_SEARCH}, NAMES, together=_search),
    ),
    Kind("ModeratedDiscriminantAnalysis", "moderated.classifier.ModeratedDiscriminantAnalysis", _MODERATED),
    Kind("dask.OptimisticScoreClassifier", "dask.classifier.OptimisticScoreClassifier", Members(_OPTIMISTIC, NAMES)),
    Kind("dask.ModeratedDiscriminantAnalysis", "dask.moderated.ModeratedDiscriminantAnalysis", _MODERATED),
    Kind(
        "KernelDiscriminantClassifier",
        "kernel.classifier.KernelDiscriminantClassifier",
        Members(
            {
                "classes_": LABELS,
                **N_FEATURES,
                "loo_proba_": numbers("n K", 0, 1, sums_to_one=True),
                "loo_log_loss_": Number(0),
                "temperature_": Number(1e-6, 1e6),
                "results_": Columns(_TRIED),
                "maps_": Columns(
                    {**_MIXED, "log_loss": numbers("rows", 0), "weight": numbers("rows", 0, 1, sums_to_one=True)}
                ),
            },
            {**NAMES, **_LEFT_OUT, "relevance_": numbers("d", 0, 1), "loo_indices_": numbers("n", 0, kinds="iu")},
            together=_kernel,
        ),
    ),
    Kind(
        "KernelDiscriminantMap",
        "kernel.map.KernelDiscriminantMap",
        Members(
            {
                "classes_": LABELS,
                **N_FEATURES,
                "ridge_": Number(0, 1e15),
                "results_": Columns({name: kind for name, kind in _TRIED.items() if name != "log_loss"}),
            },
            {**NAMES, "relevance_": numbers("d", 0, 1)},
            together=_coordinates,
        ),
    ),
    Kind(
        "PowerMap",
        "moderated.power.PowerMap",
        Members({**N_FEATURES, **{f"{name}_": kind for name, kind in _POWER.items()}}, NAMES),
    ),
    Kind(
        "CrossFitClassifier",
        "crossfit.classifier.CrossFitClassifier",
        Members(
            {
                "classes_": LABELS,
                **_LEFT_OUT,
                "class_count_": numbers("K", 0),
                "fold_part_": Number(0, 1),
                "loo_indices_": numbers("n", 0, kinds="iu"),
                "loo_log_loss_": Number(0),
                "members_": Columns(
                    {
                        "name": texts("rows"),
                        "log_loss": numbers("rows", 0),
                        "weight": numbers("rows", 0, 1, sums_to_one=True),
                    }
                ),
            },
            {"n_features_in_": Number(1, 1e9), "feature_names_in_": texts("in")},
            together=_crossfit,
        ),
    ),
    Kind(
        "mixture of classifiers",
        "crossfit.mixture.Mixture",
        Members({"weights": numbers("m", 0, 1, sums_to_one=True)}, together=_calibrations),
    ),
    Kind(
        "vector scaling",
        "crossfit.calibration.VectorScaling",
        Members({"slope": Number(0, 1e6), "intercepts": numbers("K", -1e6, 1e6), "least": Number(0, 1)}),
    ),
    Kind("calibrator", "crossfit.calibration.Calibrator", Members({})),
    Kind("RidgeCovariance", "moments.covariance.RidgeCovariance", Members({})),
    Kind("DateParts", "table.dates.DateParts", Members({})),
    Kind("CellTexts", "table.texts.CellTexts", Members({})),
    Kind(
        "drift reference",
        "drift.DriftReference",
        Members(
            {
                "center": numbers("p"),
                "scale": numbers("p", 0),
                "counts": numbers("g", 0),
                "means": numbers("g 2*p"),
                "deviations": numbers("g 2*p", 0),
                "correlation": numbers("q q"),
            },
            together=_drift,
        ),
        ("center", "scale", "counts", "means", "deviations", "correlation"),
    ),
    Kind("column", "table.columns.Column", _COLUMN),
    Kind(
        "watch",
        "table.watch.Watch",
        Members({"entries": Each(Each(Word(), "3"))}, together=_watch),
        ("entries", "reference"),
    ),
    Kind(
        "seen rows",
        "table.seen_rows.SeenRows",
        Members(
            {
                "hashes": Array("n", "u", is_increasing=True),
                "part": Number(0, 1),
                "copies": Number(0, 1),
                "n_hashes": Number(0, length="n"),
            }
        ),
        ("hashes", "part", "copies", "n_hashes"),
    ),
    Kind(
        "table model",
        "table.table_model.TableModel",
        _TABLE,
        (*_TABLE.required, "peers", "pipeline", "seen", "watch"),
    ),
    Kind(
        "moment sums",
        "moments.sums.MomentSums",
        Members(
            {
                "origin": numbers("d"),
                "unit": numbers("d", 1e-300),
                "gram": numbers("2*d+1 2*d+1"),
                "lowest": numbers("d"),
                "highest": numbers("d"),
                "resolution": Number(1e-20, 1e-2),
            }
        ),
        ("origin", "unit", "gram", "lowest", "highest", "resolution"),
    ),
    Kind("power transform", "moderated.power.PowerTransform", Members(_POWER)),
    Kind("Gaussian moments", "moderated.gaussians.GaussianMoments", Members(_MOMENTS, _COVARIANCES)),
    Kind("Gaussians", "moderated.gaussians.Gaussians", Members({}), ("moments",)),
    Kind("typicality model", "moderated.typicality.TypicalityModel", Members({})),
    Kind("coordinate models", "kernel.mixture.CoordinateModels", Members({"sharpness": Number(0, 1e6)})),
    Kind("kernel model", "kernel.mixture.KernelModel", Members({})),
    Kind(
        "kernel mixture",
        "kernel.mixture.KernelMixture",
        Members({"weights": numbers("m", 0, 1, sums_to_one=True), "temperature": Number(1e-6, 1e6)}, together=_mixture),
    ),
    Kind(
        "sampling rows",
        "kernel.influence.SamplingRows",
        Members(
            {"points": numbers("n d"), "ridges": numbers("m", 0), "part": Number(0, 1)},
            {"mass": numbers("n", 0)},
            together=_sampling_rows,
        ),
    ),
    Kind(
        "kernel expansion",
        "kernel.expansion.KernelExpansion",
        Members(
            {"anchors": numbers("n d"), "coefficients": numbers("n m"), "offset": numbers("m"), "bandwidth": Number(0)}
        ),
        ("kernel", "anchors", "bandwidth", "coefficients", "offset"),
    ),
    Kind(
        "standardised",
        "kernel.scalings.Standardised",
        Members(
            {"center": numbers("d"), "scale": numbers("d", 1e-300), "lowest": numbers("d"), "highest": numbers("d")}
        ),
    ),
    Kind(
        "weighted scaling",
        "kernel.scalings.Weighted",
        Members({"weights": numbers("d", 0, 1)}, together=_weighted),
    ),
    Kind(
        "normal scores",
        "kernel.scalings.NormalScores",
        Members(
            {"values": numbers("n"), "scores": numbers("n"), "starts": numbers("d", 0, kinds="iu")},
            together=_increasing,
        ),
    ),
)

#: By the names in files.
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ALL})

"""Classification with class moments that are known only up to a radius: optimistic and pessimistic scores."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ambiguity.divergence import moment_divergence
    from .ambiguity.limit_law import LimitLaw
    from .ambiguity.radii import clt_radius, empirical_radius
    from .classifiers.kernel import KernelDiscriminantClassifier
    from .classifiers.moderated import ModeratedDiscriminantAnalysis
    from .classifiers.optimistic import OptimisticScoreClassifier
    from .classifiers.optimistic_cv import OptimisticScoreClassifierCV
    from .features.kernel_map import KernelDiscriminantMap
    from .moments.covariance import RidgeCovariance
    from .moments.sums import MomentSums
    from .scores import LIKELIHOODS, Likelihood, ScoreTable, extremal_moments, log_score

__version__ = "0.1.0"

__all__ = [
    "LIKELIHOODS",
    "KernelDiscriminantClassifier",
    "KernelDiscriminantMap",
    "Likelihood",
    "LimitLaw",
    "ModeratedDiscriminantAnalysis",
    "MomentSums",
    "OptimisticScoreClassifier",
    "OptimisticScoreClassifierCV",
    "RidgeCovariance",
    "ScoreTable",
    "clt_radius",
    "empirical_radius",
    "extremal_moments",
    "log_score",
    "moment_divergence",
]

# Where the public names are: they are loaded when first used (PEP 562), so that the command answers at once.
_MODULES = {
    "LIKELIHOODS": "scores",
    "KernelDiscriminantClassifier": "classifiers.kernel",
    "KernelDiscriminantMap": "features.kernel_map",
    "Likelihood": "scores",
    "LimitLaw": "ambiguity.limit_law",
    "ModeratedDiscriminantAnalysis": "classifiers.moderated",
    "MomentSums": "moments.sums",
    "OptimisticScoreClassifier": "classifiers.optimistic",
    "OptimisticScoreClassifierCV": "classifiers.optimistic_cv",
    "RidgeCovariance": "moments.covariance",
    "ScoreTable": "scores",
    "clt_radius": "ambiguity.radii",
    "empirical_radius": "ambiguity.radii",
    "extremal_moments": "scores",
    "log_score": "scores",
    "moment_divergence": "ambiguity.divergence",
}

_SUBPACKAGES = ("dask", "datasets", "drift", "features", "io", "metrics", "plotting", "scores")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})

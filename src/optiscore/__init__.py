"""Classification with class moments that are known only up to a radius: optimistic and pessimistic scores."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .crossfit.classifier import CrossFitClassifier
    from .files import load, save
    from .kernel.classifier import KernelDiscriminantClassifier
    from .kernel.map import KernelDiscriminantMap
    from .moderated.classifier import ModeratedDiscriminantAnalysis
    from .moderated.power import PowerMap
    from .moments.covariance import RidgeCovariance
    from .moments.sums import MomentSums
    from .robust.classifier import OptimisticScoreClassifier
    from .robust.classifier_cv import OptimisticScoreClassifierCV
    from .robust.divergence import moment_divergence
    from .robust.limit_law import LimitLaw
    from .robust.radii import clt_radius, empirical_radius
    from .robust.scores.points import extremal_moments, log_score
    from .robust.scores.registry import LIKELIHOODS, Likelihood
    from .robust.scores.table import ScoreTable
    from .table.estimator import TableClassifier

__version__ = "0.2.0.dev0"

__all__ = [
    "LIKELIHOODS",
    "CrossFitClassifier",
    "KernelDiscriminantClassifier",
    "KernelDiscriminantMap",
    "Likelihood",
    "LimitLaw",
    "ModeratedDiscriminantAnalysis",
    "MomentSums",
    "OptimisticScoreClassifier",
    "OptimisticScoreClassifierCV",
    "PowerMap",
    "RidgeCovariance",
    "ScoreTable",
    "TableClassifier",
    "clt_radius",
    "empirical_radius",
    "extremal_moments",
    "load",
    "log_score",
    "moment_divergence",
    "save",
]

# Where the public names are: they are loaded when first used (PEP 562), so that the command answers at once.
_MODULES = {
    "LIKELIHOODS": "robust.scores.registry",
    "CrossFitClassifier": "crossfit.classifier",
    "KernelDiscriminantClassifier": "kernel.classifier",
    "KernelDiscriminantMap": "kernel.map",
    "Likelihood": "robust.scores.registry",
    "LimitLaw": "robust.limit_law",
    "ModeratedDiscriminantAnalysis": "moderated.classifier",
    "MomentSums": "moments.sums",
    "OptimisticScoreClassifier": "robust.classifier",
    "OptimisticScoreClassifierCV": "robust.classifier_cv",
    "PowerMap": "moderated.power",
    "RidgeCovariance": "moments.covariance",
    "ScoreTable": "robust.scores.table",
    "TableClassifier": "table.estimator",
    "clt_radius": "robust.radii",
    "empirical_radius": "robust.radii",
    "extremal_moments": "robust.scores.points",
    "load": "files",
    "log_score": "robust.scores.points",
    "moment_divergence": "robust.divergence",
    "save": "files",
}

_SUBPACKAGES = ("dask", "datasets", "drift", "files", "metrics", "plotting", "scores")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        try:
            value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        except ModuleNotFoundError as error:
            raise ImportError(f"{name} needs {error.name}: pip install 'optiscore[table]'.") from error
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})

"""Classification with class moments that are known only up to a radius: optimistic and pessimistic scores."""

# SciPy's modules take longer to load before scikit-learn's than after them.
import sklearn.base  # noqa: F401 - for its effect on what follows

from .classifier import OptimisticScoreClassifier
from .classifier_cv import OptimisticScoreClassifierCV
from .covariance import RidgeCovariance
from .divergence import moment_divergence
from .extremes import extremal_moments, log_score
from .limit_law import LimitLaw
from .moment_sums import MomentSums
from .radii import clt_radius, limit_radius
from .scores import SCORES, Score, ScoreTable

__version__ = "0.1.0.dev0"

__all__ = [
    "SCORES",
    "LimitLaw",
    "MomentSums",
    "OptimisticScoreClassifier",
    "OptimisticScoreClassifierCV",
    "RidgeCovariance",
    "Score",
    "ScoreTable",
    "clt_radius",
    "extremal_moments",
    "limit_radius",
    "log_score",
    "moment_divergence",
]

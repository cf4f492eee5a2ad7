"""The public names of `optiscore.robust.scores`."""

from .robust.scores.base import ALPHA_CEILING, ALPHA_FLOOR, RADIUS_CEILING, ExtremeScore, Extremum, Mixing
from .robust.scores.fixed_mean import FixedMeanOptimistic, FixedMeanPessimistic
from .robust.scores.gaussian import GaussianOptimistic, GaussianPessimistic
from .robust.scores.nonparametric import NonparametricOptimistic, NonparametricPessimistic
from .robust.scores.points import extremal_moments, log_score
from .robust.scores.registry import LIKELIHOODS, Likelihood, LikelihoodName, Side, get_likelihood, name_of
from .robust.scores.table import ScoreTable

__all__ = [
    "ALPHA_CEILING",
    "ALPHA_FLOOR",
    "LIKELIHOODS",
    "RADIUS_CEILING",
    "ExtremeScore",
    "Extremum",
    "FixedMeanOptimistic",
    "FixedMeanPessimistic",
    "GaussianOptimistic",
    "GaussianPessimistic",
    "Likelihood",
    "LikelihoodName",
    "Mixing",
    "NonparametricOptimistic",
    "NonparametricPessimistic",
    "ScoreTable",
    "Side",
    "extremal_moments",
    "get_likelihood",
    "log_score",
    "name_of",
]

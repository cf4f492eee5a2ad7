"""The extreme scores: what each looks like as a function of alpha, their tables, and their registry by name."""

from .base import ALPHA_CEILING, ALPHA_FLOOR, RADIUS_CEILING, ExtremeScore, Extremum, Mixing
from .fixed_mean import FixedMeanOptimistic, FixedMeanPessimistic
from .gaussian import GaussianOptimistic, GaussianPessimistic
from .nonparametric import NonparametricOptimistic, NonparametricPessimistic
from .points import extremal_moments, log_score
from .registry import LIKELIHOODS, Likelihood, LikelihoodName, Side, get_likelihood, name_of
from .table import ScoreTable

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

"""The extreme scores: what each looks like as a function of alpha, their tables, and their registry by name."""

from .base import ALPHA_CEILING, ALPHA_FLOOR, RADIUS_CEILING, ExtremeScore, Extremum, Mixing
from .fixed_mean import FixedMeanOptimistic, FixedMeanPessimistic
from .gaussian import GaussianOptimistic, GaussianPessimistic
from .nonparametric import NonparametricOptimistic, NonparametricPessimistic
from .registry import SCORES, Score, ScoreName, Side, get_score, name_of
from .table import ScoreTable

__all__ = [
    "ALPHA_CEILING",
    "ALPHA_FLOOR",
    "RADIUS_CEILING",
    "SCORES",
    "ExtremeScore",
    "Extremum",
    "FixedMeanOptimistic",
    "FixedMeanPessimistic",
    "GaussianOptimistic",
    "GaussianPessimistic",
    "Mixing",
    "NonparametricOptimistic",
    "NonparametricPessimistic",
    "Score",
    "ScoreName",
    "ScoreTable",
    "Side",
    "get_score",
    "name_of",
]

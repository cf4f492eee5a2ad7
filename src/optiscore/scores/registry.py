"""The kinds of score by name: a string or an object may be passed wherever a score is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from .base import ExtremeScore
from .fixed_mean import FixedMeanOptimistic, FixedMeanPessimistic
from .gaussian import GaussianOptimistic, GaussianPessimistic
from .nonparametric import NonparametricOptimistic, NonparametricPessimistic

ScoreName: TypeAlias = Literal["gaussian", "nonparametric", "fixed-mean"]
Side: TypeAlias = Literal["optimistic", "pessimistic"]


@dataclass(frozen=True)
class Score:
    """A kind of score: its two extremes, and whether it is a density.

    Parameters
    ----------
    name : str
        Name in messages and in the registry.
    optimistic, pessimistic : callable
        ``(radius, n_features) -> ExtremeScore``.
    is_density : bool, default=True
        A density changes with the units of the features: its logarithm contains -log det(S)/2. A probability does not.

    Examples
    --------
    >>> from optiscore.scores import get_score
    >>> get_score("gaussian").at("pessimistic", radius=0.1, n_features=3)
    GaussianPessimistic(radius=0.1, n_features=3)
    """

    name: str
    optimistic: Callable[[Any, int], ExtremeScore]
    pessimistic: Callable[[Any, int], ExtremeScore]
    is_density: bool = True

    def at(self, side: Side, radius: Any, n_features: int) -> ExtremeScore:
        """One extreme of the score over the ambiguity sets of a radius."""
        if not isinstance(side, str) or side not in ("optimistic", "pessimistic"):
            raise ValueError(f"side must be 'optimistic' or 'pessimistic', got {side!r}.")
        extreme = self.optimistic if side == "optimistic" else self.pessimistic
        return extreme(radius, n_features)

    def log_volume(self, logdet: float) -> float:
        """What the units of the features add to the logarithm of the score."""
        return -0.5 * logdet if self.is_density else 0.0


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        score.name: score
        for score in (
            Score("gaussian", GaussianOptimistic, GaussianPessimistic),
            Score("nonparametric", NonparametricOptimistic, NonparametricPessimistic, is_density=False),
            Score("fixed-mean", FixedMeanOptimistic, FixedMeanPessimistic),
        )
    }
)


def get_score(score: ScoreName | Score) -> Score:
    """A score by name, or the object itself."""
    if isinstance(score, Score):
        return score
    if not isinstance(score, str) or score not in SCORES:
        raise ValueError(f"score must be one of {sorted(SCORES)} or a Score object, got {score!r}.")
    return SCORES[score]


def name_of(score: Score) -> str | Score:
    """The name of a score that has one in the registry, or else the score itself."""
    return score.name if SCORES.get(score.name) is score else score

"""The likelihoods by name: a string or an object may be passed wherever a likelihood is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from ...documented import plain_signature
from .base import ExtremeScore
from .fixed_mean import FixedMeanOptimistic, FixedMeanPessimistic
from .gaussian import GaussianOptimistic, GaussianPessimistic
from .nonparametric import NonparametricOptimistic, NonparametricPessimistic

LikelihoodName: TypeAlias = Literal["gaussian", "nonparametric", "fixed-mean"] | str
Side: TypeAlias = Literal["optimistic", "pessimistic"]


@dataclass(frozen=True)
class Likelihood:
    """A kind of score: its two extremes over an ambiguity set, and whether it is a density.

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
    >>> from optiscore.scores import get_likelihood
    >>> get_likelihood("gaussian").at("pessimistic", radius=0.1, n_features=3)
    GaussianPessimistic(radius=0.1, n_features=3)
    """

    name: str
    optimistic: Callable[[Any, int], ExtremeScore]
    pessimistic: Callable[[Any, int], ExtremeScore]
    is_density: bool = True

    def at(self, side: Side, radius: Any, n_features: int) -> ExtremeScore:
        """One extreme of the score over the ambiguity sets of a radius.

        Parameters
        ----------
        side : {"optimistic", "pessimistic"}
            Which one.
        radius : float or ndarray
            Radius >= 0, or one per distance.
        n_features : int
            Dimension.

        Returns
        -------
        ExtremeScore

        Raises
        ------
        ValueError
            If side is neither.
        """
        if not isinstance(side, str) or side not in ("optimistic", "pessimistic"):
            raise ValueError(f"side must be 'optimistic' or 'pessimistic', got {side!r}.")
        extreme = self.optimistic if side == "optimistic" else self.pessimistic
        return extreme(radius, n_features)

    def log_volume(self, logdet: float) -> float:
        """Return the part of the log score that depends on the units of the features.

        Parameters
        ----------
        logdet : float
            Logarithm of the determinant of the nominal covariance.

        Returns
        -------
        float
        """
        return -0.5 * logdet if self.is_density else 0.0


#: The likelihoods that are known by name; a further one is a file beside this one and a line here.
LIKELIHOODS: Mapping[str, Likelihood] = MappingProxyType(
    {
        likelihood.name: likelihood
        for likelihood in (
            Likelihood("gaussian", GaussianOptimistic, GaussianPessimistic),
            Likelihood("nonparametric", NonparametricOptimistic, NonparametricPessimistic, is_density=False),
            Likelihood("fixed-mean", FixedMeanOptimistic, FixedMeanPessimistic),
        )
    }
)


@plain_signature
def get_likelihood(likelihood: LikelihoodName | Likelihood) -> Likelihood:
    """A likelihood by name, or the object itself.

    Parameters
    ----------
    likelihood : str or Likelihood
        A name in the registry, or a likelihood of one's own.

    Returns
    -------
    Likelihood

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> from optiscore.scores import get_likelihood
    >>> get_likelihood("gaussian").is_density
    True
    """
    if isinstance(likelihood, Likelihood):
        return likelihood
    if not isinstance(likelihood, str) or likelihood not in LIKELIHOODS:
        raise ValueError(f"likelihood must be one of {sorted(LIKELIHOODS)} or a Likelihood object, got {likelihood!r}.")
    return LIKELIHOODS[likelihood]


def name_of(likelihood: Likelihood) -> str | Likelihood:
    """The name of a likelihood that has one in the registry, or else the likelihood itself.

    Parameters
    ----------
    likelihood : Likelihood
        Any.

    Returns
    -------
    str or Likelihood

    Examples
    --------
    >>> from optiscore.scores import get_likelihood, name_of
    >>> name_of(get_likelihood("gaussian"))
    'gaussian'
    """
    return likelihood.name if LIKELIHOODS.get(likelihood.name) is likelihood else likelihood

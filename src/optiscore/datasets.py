"""Synthetic samples of the paper's Figures 1 to 3."""

import numpy as np

from .documented import plain_signature
from .numerics.types import FloatArray

__all__ = ["make_chi_square", "make_plane_classes"]

#: Moments of the two Gaussian classes of Figures 2 and 3.
PLANE_MEANS = np.array([[0.0, 1.0], [1.0, 0.0]])
PLANE_COVARIANCES = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.5], [0.5, 1.0]]])


@plain_signature
def make_chi_square(
    n_samples: int, n_features: int = 20, *, n_sets: int = 1, random_state: int | None = None
) -> FloatArray:
    """Samples with independent features (chi2(1) - 1)/sqrt 2, of mean 0 and variance 1 (paper, Figure 1).

    Parameters
    ----------
    n_samples : int
        Number of samples per set.
    n_features : int, default=20
        Number of features.
    n_sets : int, default=1
        Number of sets.
    random_state : int, default=None
        Seed.

    Returns
    -------
    ndarray of shape (n_sets, n_samples, n_features)
        Samples.

    Examples
    --------
    >>> from optiscore.datasets import make_chi_square
    >>> make_chi_square(30, n_sets=2, random_state=0).shape
    (2, 30, 20)
    """
    rng = np.random.default_rng(random_state)
    samples = rng.standard_normal((n_sets, n_samples, n_features))
    np.square(samples, out=samples)
    samples -= 1
    samples /= np.sqrt(2)
    return samples


@plain_signature
def make_plane_classes(n_per_class: int = 1000, *, random_state: int | None = None) -> tuple[FloatArray, np.ndarray]:
    """Two Gaussian classes in the plane (paper, Figures 2 and 3).

    Parameters
    ----------
    n_per_class : int, default=1000
        Number of samples of each class.
    random_state : int, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 2)
        Samples.
    y : ndarray of shape (2 * n_per_class,)
        Classes 0 and 1.

    Examples
    --------
    >>> from optiscore.datasets import make_plane_classes
    >>> X, y = make_plane_classes(500, random_state=0)
    >>> X.shape, y.tolist().count(1)
    ((1000, 2), 500)
    """
    rng = np.random.default_rng(random_state)
    moments = zip(PLANE_MEANS, PLANE_COVARIANCES, strict=True)
    X = np.concatenate([rng.multivariate_normal(mean, S, size=n_per_class) for mean, S in moments])
    return X, np.repeat([0, 1], n_per_class)

"""What the tests are crossed with: the table of scores, and overlapping classes."""

import numpy as np
from sklearn.datasets import make_blobs

from optiscore import LIKELIHOODS

SIDES = ("optimistic", "pessimistic")
RULES = ("tuned", "prior", "minimax")
SETTINGS = [(likelihood, rule) for likelihood in LIKELIHOODS for rule in RULES]
KINDS = [(likelihood, side) for likelihood in LIKELIHOODS for side in SIDES]


def extreme(kind, radius, n_features):
    """One of the six extreme scores."""
    likelihood, side = kind
    return LIKELIHOODS[likelihood].at(side, radius, n_features)


def random_moments_in_set(m, S, rho, rng, n, fixed_mean=False):
    """Means (n, d) and precisions (n, d, d) within divergence rho of (m, S): on the surface half of the time.

    In whitened coordinates the moments move along random directions, mu = t u and Sigma = expm(t H), as far as the
    divergence allows.
    """
    d = len(m)
    H = rng.normal(size=(n, d, d)) * rng.choice([0.05, 0.3, 1.0], size=(n, 1, 1))
    h, Q = np.linalg.eigh(H + H.transpose(0, 2, 1))
    u = np.zeros((n, d)) if fixed_mean else rng.normal(size=(n, d))
    along = np.square(np.einsum("nij,ni->nj", Q, u))

    def divergence(t):
        scaled = t[:, None] * h
        return (np.exp(-scaled) - 1 + scaled + t[:, None] ** 2 * along * np.exp(-scaled)).sum(axis=1)

    low, high = np.zeros(n), np.full(n, 1e-3)
    while (growing := divergence(high) < rho).any():
        high[growing] *= 2
    for _ in range(60):
        middle = (low + high) / 2
        inside = divergence(middle) <= rho
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    t = low * np.where(rng.random(n) < 0.5, 1.0, rng.random(n))
    lower = np.linalg.cholesky(S)
    inverse = np.linalg.inv(lower)
    core = (Q * np.exp(-t[:, None] * h)[:, None, :]) @ Q.transpose(0, 2, 1)
    return m + (t[:, None] * u) @ lower.T, inverse.T @ core @ inverse


def blobs(n_classes=3, n=120, d=3, seed=0):
    """Overlapping classes of unequal shape."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(n, d, centers=n_classes, cluster_std=2.5, center_box=(-4, 4), random_state=seed)
    return X @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))), y

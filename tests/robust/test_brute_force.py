"""All six duals against a direct search over every mean and covariance in the set."""

import numpy as np
import pytest
from kinds import KINDS, extreme
from scipy.optimize import minimize


def unpack(parameters, d, fixed_mean):
    """A mean and the Cholesky factor of a precision matrix from free parameters."""
    factor = np.zeros((d, d))
    factor[np.tril_indices(d)] = parameters[: d * (d + 1) // 2]
    np.fill_diagonal(factor, np.exp(np.diagonal(factor)))
    mean = np.zeros(d) if fixed_mean else parameters[d * (d + 1) // 2 :]
    return mean, factor


def value_of(mean, factor, x, likelihood):
    """L or q at given moments."""
    q = float(np.square(factor.T @ (mean - x)).sum())
    return q if likelihood == "nonparametric" else 2 * float(np.log(np.diagonal(factor)).sum()) - q


def divergence_of(mean, factor):
    """Divergence of the nominal moments (0, I) from those given."""
    d = mean.size
    return float(np.square(factor.T @ mean).sum() + np.square(factor).sum() - d) - 2 * np.log(np.diagonal(factor)).sum()


def search(kind, d, rho, alpha, rng, n_starts=12):
    """Best value that SLSQP finds from several starts."""
    likelihood, side = kind
    fixed = likelihood == "fixed-mean"
    x = np.zeros(d)
    x[0] = np.sqrt(alpha)
    # The value is to be made large for an optimistic density and for a pessimistic q, and small for the other two.
    sign = -1 if (likelihood == "nonparametric") == (side == "pessimistic") else 1

    def objective(parameters):
        return sign * value_of(*unpack(parameters, d, fixed), x, likelihood)

    def slack(parameters):
        return rho - divergence_of(*unpack(parameters, d, fixed))

    best = np.inf
    for _ in range(n_starts):
        start = 0.3 * rng.normal(size=d * (d + 1) // 2 + (0 if fixed else d))
        result = minimize(
            objective,
            start,
            method="SLSQP",
            bounds=[(-5, 5)] * start.size,
            constraints={"type": "ineq", "fun": slack},
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if slack(result.x) > -1e-7:
            best = min(best, result.fun)
    return sign * best


# SciPy before 1.15 warns when SLSQP steps out of its bounds, and clips.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("rho", [0.05, 0.8])
def test_dual_equals_brute_force(kind, d, rho):
    rng = np.random.default_rng(0)
    for alpha in (0.0, 0.6, 2.5, 9.0):
        dual = extreme(kind, rho, d).value(np.array([alpha]))[0]
        assert search(kind, d, rho, alpha, rng) == pytest.approx(dual, rel=1e-5, abs=1e-5), alpha

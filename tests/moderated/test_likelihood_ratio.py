"""Evidence on a pair of classes: against 160 digits, against brute force over all moments, and what must follow."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from optiscore.moderated.likelihood_ratio import OwnEvidence, SharedEvidence
from optiscore.moderated.models import gram_determinant

FORMS = ("own", "shared")


def make(form, n_a, n_b, d, alpha_a, alpha_b, gram, n=None):
    alpha_a, alpha_b, gram = (np.atleast_1d(np.asarray(values, dtype=float)) for values in (alpha_a, alpha_b, gram))
    if form == "own":
        return OwnEvidence(n_a, n_b, d, alpha_a, alpha_b)
    return SharedEvidence(n_a, n_b, n_a + n_b if n is None else n, alpha_a, alpha_b, gram)


def dual(form, n_a, n_b, d, alpha_a, alpha_b, gram, n, log_odds):
    """The dual g(lambda) of docs/theory/certainty.md, maximised by bisection on its slope, to 160 digits."""
    with mp.workdps(160):
        n_a, n_b, d, a, b, gram, n, M = map(mp.mpf, (n_a, n_b, d, alpha_a, alpha_b, gram, n, log_odds))
        constant = 2 * M - (b - a)
        if form == "own":
            end = n_a / (1 + a)

            def g(x):
                first = (n_a - x) * (d * mp.log(n_a / (n_a - x)) + mp.log(1 - x * a / (n_a - x)))
                second = (n_b + x) * (d * mp.log(n_b / (n_b + x)) + mp.log(1 + x * b / (n_b + x)))
                return x * constant + first + second
        else:
            middle = n_a - n_b + n_a * n_b * (b - a) / n
            last = 1 + (n_a * a + n_b * b) / n + n_a * n_b * gram / n**2
            end = (middle + mp.sqrt(middle**2 + 4 * n_a * n_b * last)) / (2 * last)

            def g(x):
                k_a, k_b = x * n_a / (n_a - x), x * n_b / (n_b + x)
                return n * mp.log(1 + (k_b * b - k_a * a) / n - k_a * k_b * gram / n**2) + x * constant

        low, high = mp.mpf(-130), mp.mpf(100)
        for _ in range(110):
            z = (low + high) / 2
            x = end / (1 + mp.exp(-z))
            step = x * mp.mpf(10) ** -70
            low, high = (z, high) if mp.re(g(x + step) - g(x - step)) > 0 else (low, z)
        return mp.re(g(end / (1 + mp.exp(-low))))


@pytest.mark.parametrize("form", FORMS)
def test_dual_in_many_digits(form):
    rng = np.random.default_rng(1)
    for _ in range(120):
        d = int(rng.choice([1, 2, 30, 1000]))
        n_a, n_b, third = 10 ** rng.uniform(np.log10(2), 9, 3)
        n = n_a + n_b + (third if rng.random() < 0.5 else 0)
        alpha_a, alpha_b = 10 ** rng.uniform(-6, 10, 2)
        if rng.random() < 0.5:
            alpha_b = abs(alpha_a + 10 * rng.normal())
        if rng.random() < 0.1:
            alpha_a = 0.0
        gram = alpha_a * alpha_b * rng.choice([0.0, rng.random(), 1.0])
        log_odds = 10 ** rng.uniform(-6, 4)
        found = make(form, n_a, n_b, d, alpha_a, alpha_b, gram, n).likelihood_ratio(np.array([log_odds]))[0]
        expected = dual(form, n_a, n_b, d, alpha_a, alpha_b, gram, n, log_odds)
        assert abs(found - expected) <= 1e-10 * max(1, expected), (d, n_a, n_b, n, alpha_a, alpha_b, gram, log_odds)


def test_at_a_mean_the_shared_supremum_lies_at_the_end():
    """X = m_a, c >= 0: lambda = n_a, where 1 + e is 1 + k_b alpha_b/n with k_b = n_a n_b/(n_a + n_b)."""
    n_a, n_b, alpha_b, c = 12.0, 30.0, 5.0, 0.4
    found = make("shared", n_a, n_b, 2, 0.0, alpha_b, 0.0).likelihood_ratio(np.array([c + alpha_b / 2]))[0]
    expected = (n_a + n_b) * np.log1p(n_a * n_b / (n_a + n_b) * alpha_b / (n_a + n_b)) + 2 * n_a * c
    assert found == pytest.approx(expected, rel=1e-12)


positive = st.floats(1e-3, 1e3)


def variance(form, n_a, n_b, alpha_a, alpha_b, part):
    """V of the log odds in four features, as the models have it, with n = n_a + n_b where it is shared."""
    if form == "own":
        return (alpha_a**2 + 4) / (2 * n_a) + (alpha_b**2 + 4) / (2 * n_b)
    spread = part * alpha_a * alpha_b + 0.5 * (alpha_b - alpha_a) ** 2
    return alpha_a / n_a + alpha_b / n_b + spread / (n_a + n_b)


@pytest.mark.parametrize("form", FORMS)
@given(
    alpha_a=positive, alpha_b=positive, part=st.floats(0, 1), n_a=st.floats(2, 1e4), n_b=st.floats(2, 1e4), M=positive
)
def test_what_follows_from_the_form(form, alpha_a, alpha_b, part, n_a, n_b, M):
    evidence = make(form, n_a, n_b, 4, alpha_a, alpha_b, part * alpha_a * alpha_b)
    ratio = evidence.likelihood_ratio(np.array([M]))[0]
    assert ratio > 0
    # Larger log odds are better supported, and more than in proportion at first.
    assert evidence.likelihood_ratio(np.array([2 * M]))[0] >= 2 * ratio * (1 - 1e-12)
    # The interval is the inverse of the ratio: its lower end costs just what it may.
    lower = evidence.lower_log_odds(np.array([M]), np.array([ratio]))[0]
    assert lower == pytest.approx(0, abs=1e-7 * M)
    # T is M^2/V for small M.
    tiny = 1e-6 * np.sqrt(variance(form, n_a, n_b, alpha_a, alpha_b, part))
    assert evidence.likelihood_ratio(np.array([tiny]))[0] == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_curvature_is_the_derivative_of_the_slope(form):
    evidence = make(form, 20.0, 50.0, 3, 2.0, 7.0, 9.0)
    for z in (-6.0, -1.0, 0.5, 3.0):
        low, mid, high = (evidence.cost(np.array([z + step]), *evidence.arrays) for step in (-1e-5, 0.0, 1e-5))
        width = high.multiplier - low.multiplier
        np.testing.assert_allclose((high.value - low.value) / width, mid.slope, rtol=1e-7)
        np.testing.assert_allclose((high.slope - low.slope) / width, mid.curvature, rtol=1e-7)
        np.testing.assert_allclose(width / 2e-5, mid.stretch, rtol=1e-7)


def test_gram_determinant_of_vectors():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 50, 3))
    inner = [np.einsum("ij,ij->i", a, b) for a, b in ((u, u), (v, v), (u, v))]
    found = gram_determinant(inner[0], inner[1], np.square(u - v).sum(axis=1))
    np.testing.assert_allclose(found, inner[0] * inner[1] - inner[2] ** 2, rtol=1e-10, atol=1e-12)
    assert gram_determinant(np.zeros(1), np.zeros(1), np.zeros(1)) == 0


def moments_of(parameters, d):
    """Two means, and the inverse Cholesky factors of covariances, from free parameters."""
    means = parameters[: 2 * d].reshape(2, d)
    factors = []
    for part in np.split(parameters[2 * d :], (len(parameters) - 2 * d) // (d * (d + 1) // 2)):
        lower = np.zeros((d, d))
        lower[np.tril_indices(d)] = part
        lower[np.diag_indices(d)] = np.exp(np.clip(np.diagonal(lower), -9, 9))
        factors.append(lower)
    return means, factors


def ratio_of(parameters, d, n, nominal):
    """Sum of n_c D((m_c, S_c) || (mu_c, Sigma_c)), with the precisions W'W."""
    means, factors = moments_of(parameters, d)
    total = 0.0
    for c in (0, 1):
        m, S = nominal[c]
        W = factors[c % len(factors)]
        shift = W @ (means[c] - m)
        inside = W @ S @ W.T
        total += n[c] * (shift @ shift + np.trace(inside) - np.linalg.slogdet(inside)[1] - d)
    return total


def log_odds_of(parameters, d, x, c):
    means, factors = moments_of(parameters, d)
    parts = []
    for k in (0, 1):
        W = factors[k % len(factors)]
        shift = W @ (x - means[k])
        parts.append(np.log(np.diagonal(W)).sum() - 0.5 * shift @ shift)
    return c + parts[0] - parts[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_brute_force_over_all_moments(form, d):
    """The smallest likelihood ratio at which the log odds are 0, over all means and covariances."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        n = rng.uniform(4, 40, 2)
        A = [np.eye(d) + 0.5 * rng.normal(size=(d, d)) for _ in range(2)]
        covariances = [a @ a.T + 0.1 * np.eye(d) for a in A]
        means = rng.normal(size=(2, d))
        if form == "shared":
            covariances[1] = covariances[0]
        x, c = 1.5 * rng.normal(size=d), rng.normal()
        W = [np.linalg.inv(np.linalg.cholesky(S)) for S in covariances]
        eta = [W[k] @ (x - means[k]) for k in (0, 1)]
        alpha = [float(e @ e) for e in eta]
        M = (
            c
            + sum(s * np.log(np.diagonal(w)).sum() for s, w in zip((1, -1), W, strict=True))
            - 0.5 * (alpha[0] - alpha[1])
        )
        order = (0, 1) if M >= 0 else (1, 0)
        gram = alpha[0] * alpha[1] - float(eta[0] @ eta[1]) ** 2
        evidence = make(form, n[order[0]], n[order[1]], d, alpha[order[0]], alpha[order[1]], max(gram, 0))
        found = evidence.likelihood_ratio(np.array([abs(M)]))[0]
        nominal = [(means[k], covariances[k]) for k in (0, 1)]
        starts = [np.where(np.eye(d, dtype=bool), np.log(np.maximum(w, 1e-9)), w)[np.tril_indices(d)] for w in W]
        start = np.concatenate([means.ravel(), *(starts if form == "own" else starts[:1])])
        best = np.inf
        for _ in range(6):
            result = minimize(
                ratio_of,
                start + 0.05 * rng.normal(size=start.size),
                args=(d, n, nominal),
                method="SLSQP",
                constraints={"type": "eq", "fun": log_odds_of, "args": (d, x, c)},
                options={"ftol": 1e-15, "maxiter": 2000},
            )
            if abs(log_odds_of(result.x, d, x, c)) < 1e-9:
                best = min(best, result.fun)
        assert found == pytest.approx(best, rel=1e-8, abs=1e-8), (form, d, n, x, c)

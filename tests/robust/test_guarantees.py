"""What the bounds, sets and certificates promise, checked on moments drawn at random from the ambiguity sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import RULES, random_moments_in_set
from sklearn.datasets import make_blobs

from optiscore import OptimisticScoreClassifier, extremal_moments
from optiscore.scores import LIKELIHOODS

# The rule is tried on purpose where it must not be used.
pytestmark = pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")


def log_scores_at(x, means, precisions, likelihood):
    """Log scores of one point under many moments, straight from the definition."""
    w = means - x
    q = np.einsum("ni,nij,nj->n", w, precisions, w)
    if likelihood == "nonparametric":
        return -np.log1p(q)
    return 0.5 * (np.linalg.slogdet(precisions)[1] - q - len(x) * np.log(2 * np.pi))


def draw_log_scores(model, x, likelihood, rng, n_draws):
    """Log scores plus log priors (n_classes, n_draws) under independent random moments of each class."""
    rows = []
    for m, S, rho, prior in zip(model.means_, model.covariances_, model.radii_, model.priors_, strict=True):
        means, precisions = random_moments_in_set(m, S, rho, rng, n_draws, fixed_mean=likelihood == "fixed-mean")
        rows.append(np.log(prior) + log_scores_at(x, means, precisions, likelihood))
    return np.stack(rows)


@settings(max_examples=40)
@given(st.sampled_from(list(LIKELIHOODS)), st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_posteriors_of_all_plausible_moments_lie_within_the_bounds(likelihood, n_classes, d, seed):
    rng = np.random.default_rng(seed)
    X, y = make_blobs(60, d, centers=n_classes, cluster_std=3, random_state=seed % 1000)
    model = OptimisticScoreClassifier(
        likelihood, radius=rng.uniform(0.01, 0.6, n_classes), decision_rule="minimax"
    ).fit(X, y)
    for x in X[:4]:
        draws = draw_log_scores(model, x, likelihood, rng, 500)
        posteriors = np.exp(draws - np.logaddexp.reduce(draws, axis=0))
        (lower,), (upper,) = model.predict_proba_bounds(x[None, :])
        assert (posteriors >= lower[:, None] - 1e-9).all()
        assert (posteriors <= upper[:, None] + 1e-9).all()
        plausible = model.undominated(x[None, :])[0]
        assert plausible[model.predict(x[None, :])[0]]
        assert plausible[draws.argmax(axis=0)].all(), "a class outside the set is the most probable one"


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bounds_are_attained_by_the_extremal_moments(likelihood, n_classes):
    X, y = make_blobs(80, 2, centers=n_classes, cluster_std=2, random_state=1)
    model = OptimisticScoreClassifier(likelihood).fit(X, y)
    for x in X[:5]:
        values = {}
        for side in ("pessimistic", "optimistic"):
            for c in range(n_classes):
                mu, sigma = extremal_moments(
                    x, model.means_[c], model.covariances_[c], model.radii_[c], likelihood=likelihood, side=side
                )
                value = log_scores_at(x, mu[None, :], np.linalg.inv(sigma)[None, :, :], likelihood)[0]
                values[side, c] = model.priors_[c] * np.exp(value)
        (lower,), (upper,) = model.predict_proba_bounds(x[None, :])
        for bound, own, other in ((lower, "pessimistic", "optimistic"), (upper, "optimistic", "pessimistic")):
            for c in range(n_classes):
                rest = sum(values[other, b] for b in range(n_classes) if b != c)
                assert bound[c] == pytest.approx(values[own, c] / (values[own, c] + rest), rel=1e-6)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_certified_factor(likelihood, rule, n_classes):
    """Just inside it no class overtakes the label, just outside the extremal moments make one do so."""
    X, y = make_blobs(150, 2, centers=n_classes, cluster_std=2.5, random_state=2)
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    factors, labels = model.certified_factor(X), model.predict(X)
    certified = model.undominated(X).sum(axis=1) == 1
    np.testing.assert_array_equal(factors > 1, certified & (model.undominated(X).argmax(axis=1) == labels))
    nominal = OptimisticScoreClassifier(likelihood, decision_rule="prior", radius=0).fit(X, y).predict(X)
    assert (factors[nominal != labels] == 0).all()
    assert (factors[nominal == labels] > 0).all()
    inside = (factors > 0) & np.isfinite(factors)
    assert inside.sum() > 50
    for i in np.flatnonzero(inside)[:40]:
        for change, stays in ((0.999, True), (1.001, False)):
            assert stays == (overtaking(model, X[i], labels[i], factors[i] * change, likelihood) < 0)


def overtaking(model, x, label, factor, likelihood):
    """Largest lead of a rival at its best over the label at its worst, by their extremal moments."""

    def value(c, side):
        mu, sigma = extremal_moments(
            x, model.means_[c], model.covariances_[c], factor * model.radii_[c], likelihood=likelihood, side=side
        )
        return np.log(model.priors_[c]) + log_scores_at(x, mu[None, :], np.linalg.inv(sigma)[None, :, :], likelihood)[0]

    rivals = [value(c, "optimistic") for c in range(len(model.classes_)) if c != label]
    return max(rivals) - value(label, "pessimistic")


def test_certificates_without_ambiguity():
    X, y = make_blobs(100, 2, centers=2, cluster_std=4, random_state=3)
    model = OptimisticScoreClassifier(radius=0, decision_rule="tuned").fit(X, y)
    nominal = OptimisticScoreClassifier(radius=0, decision_rule="prior").fit(X, y).predict(X)
    np.testing.assert_array_equal(model.certified_factor(X), np.where(nominal == model.predict(X), np.inf, 0.0))


def test_certificate_of_a_margin_that_stays_at_zero():
    """An exact class at its best score 1 ties with a rival as soon as the rival's set contains the point."""
    X, y = np.array([[0.0, 0], [3, 1], [4, 2], [5, 0]]), [0, 1, 1, 1]
    model = OptimisticScoreClassifier("nonparametric", radius=[0, 10.0], priors=[0.5, 0.5], decision_rule=1e3).fit(X, y)
    assert model.undominated(X[:1]).all()
    assert 0 < model.certified_factor(X[:1])[0] < 1


def test_certificates_far_beyond_the_fitted_radii():
    rng = np.random.default_rng(0)
    X, y = np.vstack([rng.normal(size=(50, 1)), 1e6 + rng.normal(size=(50, 1))]), np.repeat([0, 1], 50)
    model = OptimisticScoreClassifier(radius=[0.1, 0.0], decision_rule="prior").fit(X, y)
    factor = model.certified_factor(model.means_[:1])[0]
    for change, certified in ((0.99, 1), (1.01, 2)):
        wider = OptimisticScoreClassifier(radius=[0.1 * factor * change, 0.0], decision_rule="prior").fit(X, y)
        assert wider.undominated(model.means_[:1]).sum() == certified


@pytest.mark.parametrize("radius", [1e-310, 1e-60, 1e15])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_certificates_of_absurd_radii(radius, dtype):
    X, y = make_blobs(60, 2, centers=3, random_state=5)
    model = OptimisticScoreClassifier(radius=radius, decision_rule="minimax").fit(X.astype(dtype), y)
    assert not np.isnan(model.certified_factor(X.astype(dtype))).any()
    assert np.isfinite(model.predict_proba_bounds(X.astype(dtype))).all()


def test_certificates_that_never_end():
    """A bounded score of the rival and an exact class: no growth of the rival's set overtakes the label."""
    X, y = make_blobs(100, 2, centers=2, cluster_std=1, random_state=4)
    model = OptimisticScoreClassifier("nonparametric", radius=[0.0, 0.5], priors=[0.99, 0.01], decision_rule="prior")
    model.fit(X, y)
    assert model.certified_factor(model.means_[:1]) == np.inf

"""
A fourth likelihood of one's own
================================

The package knows three likelihoods: Gaussian, nonparametric, and Gaussian with a fixed mean. The classifier never
asks which one it has; an object with the same few operations will do. Here is a fourth: the *covariance* is known and
only the mean is uncertain, as in a sensor whose noise was measured once and for all.
"""

# %%
# The mathematics. With Sigma = S the divergence is the squared distance between the means, and everything depends on
# x through alpha, its squared distance from the nominal mean. The best plausible mean goes towards x by a distance of
# sqrt(rho), the worst one goes away:
#
# .. math:: L_{max} = -\bigl(\sqrt\alpha - \sqrt\rho\bigr)_+^2, \qquad L_{min} = -\bigl(\sqrt\alpha + \sqrt\rho\bigr)^2.
#
# `ExtremeScore` wants it through a dual variable: which divergence is spent at each gamma, and what follows from it.
# Towards x, the mean moves by the part 1/(1 + gamma) of the way and spends alpha/(1 + gamma)^2.
import matplotlib.pyplot as plt
import numpy as np

from optiscore import Likelihood, OptimisticScoreClassifier, extremal_moments, log_score
from optiscore.scores import LIKELIHOODS, ExtremeScore, Mixing, get_likelihood


class KnownCovariance(ExtremeScore):
    """What both sides have in common: alpha exp(-2 z) is spent, and there is no need to search for z."""

    def _bracket(self, alpha, rho):
        z = self._search(alpha, rho)
        return z, z

    def _spent(self, z, alpha):
        spent = alpha * np.exp(-2 * z)
        return spent, 2 * spent


class KnownCovarianceOptimistic(KnownCovariance):
    """The nearest plausible mean; z = log(1 + gamma)."""

    @property
    def pivot(self):
        """Where the flat part ends: any closer, and x itself is a plausible mean."""
        return float(np.sqrt(self.radius))

    def _search(self, alpha, rho):
        return np.log(np.maximum(alpha / rho, 1)) / 2

    def _evaluate(self, z, alpha, rho):
        gamma = np.expm1(z)
        left = gamma / np.exp(z)  # the part of the way that is left
        return gamma, -alpha * left**2, -left

    def _mixing(self, z, alpha):
        return Mixing(shift=np.exp(-z), scale=np.ones_like(z), spread=np.zeros_like(z))


class KnownCovariancePessimistic(KnownCovariance):
    """The farthest plausible mean; z = log(gamma - 1)."""

    def _search(self, alpha, rho):
        return np.log(alpha / rho) / 2

    def _evaluate(self, z, alpha, rho):
        way = 1 + np.exp(-z)
        return 1 + np.exp(z), -alpha * way**2, -way

    def _mixing(self, z, alpha):
        return Mixing(shift=-np.exp(-z), scale=np.ones_like(z), spread=np.zeros_like(z))


known = Likelihood("known-covariance", KnownCovarianceOptimistic, KnownCovariancePessimistic)

# %%
# Check it as the tests of the package do: against the formula, and at the extremal moments.
x, mean, S, radius = np.array([[3.0, 1.0]]), np.zeros(2), np.array([[2.0, 0.3], [0.3, 1.0]]), 0.7
alpha = x[0] @ np.linalg.solve(S, x[0])
constant = -0.5 * np.linalg.slogdet(2 * np.pi * S)[1]
for side, sign in (("optimistic", -1), ("pessimistic", 1)):
    score = log_score(x, mean, S, radius, likelihood=known, side=side)[0]
    formula = -0.5 * (np.sqrt(alpha) + sign * np.sqrt(radius)) ** 2 + constant
    mu, sigma = extremal_moments(x[0], mean, S, radius, likelihood=known, side=side)
    there = -0.5 * (x[0] - mu) @ np.linalg.solve(sigma, x[0] - mu) + constant
    print(f"{side:12s} {score:.12f}  formula {formula:.12f}  at the moments {there:.12f}")

# %%
# Beside the three that are known by name.
distance = np.linspace(0, 5, 300)
figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for i, likelihood in enumerate([*LIKELIHOODS, known]):
    kind = get_likelihood(likelihood)
    if kind.is_density:
        best, worst = (kind.at(side, radius, 2).log_score(distance**2) for side in ("optimistic", "pessimistic"))
        ax.fill_between(distance, worst, best, color=f"C{i}", alpha=0.15)
        ax.plot(distance, best, f"C{i}", label=kind.name)
        ax.plot(distance, worst, f"C{i}", linewidth=0.8)
ax.set(xlabel="distance from the nominal mean", ylabel="log score: best and worst", ylim=(-22, 1))
ax.legend()

# %%
# And in the classifier, with all its methods: tables, tuned thresholds, bounds, certificates.
rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, size=(100, 2)), rng.normal(1.5, 1, size=(30, 2))])
y = np.repeat([0, 1], [100, 30])
model = OptimisticScoreClassifier(known, radius=0.1, decision_rule="minimax").fit(X, y)
print(f"accuracy {model.score(X, y):.1%}, certified {np.mean(model.certified_factor(X) >= 1):.1%}")

"""
Heavy tails: is the ball large enough?
======================================

A radius is a promise: the moments of the population lie in the ball. `clt_radius` keeps it for Gaussian samples.
`empirical_radius` reads off the samples how their moments vary, and keeps it for heavy tails, too.
"""

# %%
# Three features, 400 samples. How far from the truth are estimated moments, in units of the radii?
import matplotlib.pyplot as plt
import numpy as np

from optiscore import LimitLaw, OptimisticScoreClassifier, clt_radius, empirical_radius, moment_divergence

N, D, QUANTILE = 400, 3, 0.9
rng = np.random.default_rng(0)
populations = {
    "Gaussian": lambda n: rng.normal(size=(n, D)),
    "Laplace": lambda n: rng.laplace(scale=np.sqrt(0.5), size=(n, D)),
    "Student, 6 degrees": lambda n: rng.standard_t(6, size=(n, D)) / np.sqrt(1.5),
}


def estimate(samples):
    """Mean and covariance."""
    return samples.mean(axis=0), np.cov(samples.T, bias=True)


figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, (name, draw) in zip(axes, populations.items(), strict=True):
    divergences, empirical = [], []
    for _ in range(300):
        samples = draw(N)
        divergences.append(moment_divergence(*estimate(samples), np.zeros(D), np.eye(D)))
        empirical.append(empirical_radius(samples, QUANTILE))
    divergences, empirical, gaussian = np.array(divergences), np.array(empirical), clt_radius(N, D, QUANTILE)
    ax.hist(N * divergences, bins=np.linspace(0, 60, 41), color="0.8")
    ax.axvline(N * gaussian, color="#4477aa", label=f"clt: holds {np.mean(divergences <= gaussian):.0%}")
    held = np.mean(divergences <= empirical)
    ax.axvline(N * np.median(empirical), color="#cc6677", linestyle="--", label=f"empirical: holds {held:.0%}")
    ax.set(title=name, xlabel="n times the divergence")
    ax.legend(fontsize=9)
axes[0].set_ylabel("of 300 samples")
figure.suptitle("How often the ball of nominally 90 % holds the population's moments")

# %%
# Behind both is the limit distribution of the divergence: a sum of chi-squares whose weights say how heavy the tails
# are.
law = LimitLaw.from_samples(populations["Laplace"](5_000))
print("weights for Laplace:", np.sort(law.weights)[::-1][:4].round(2), "; for Gaussian samples all are 1")

# %%
# For classification: the nonparametric likelihood asks for no density at all, only for moments.
scales = np.array([[1.0], [2.0]])


def two_classes(n):
    """Student's t with 3 degrees of freedom, for which fourth moments do not exist."""
    X = rng.standard_t(3, size=(2, n, D)) * scales[:, None]
    X[1] += 1.0
    return X.reshape(-1, D), np.repeat([0, 1], n)


X, y = two_classes(60)
X_new, y_new = two_classes(5_000)
for likelihood in ("gaussian", "nonparametric", "fixed-mean"):
    for radius in ("clt", "empirical"):
        model = OptimisticScoreClassifier(likelihood, radius=radius).fit(X, y)
        print(f"{likelihood:14s} {radius:10s} {model.score(X_new, y_new):.1%}")

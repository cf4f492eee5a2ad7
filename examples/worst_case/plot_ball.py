"""
Where in the ball are the best and the worst moments?
=====================================================

In one dimension a class is a point in the plane: its mean and its variance. Around the nominal point lies the ball of
plausible moments, all those within a divergence of rho. For a sample x, the *optimistic* moments are those of the
ball that make x most likely, the *pessimistic* ones make it least likely.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from optiscore import clt_radius, extremal_moments, log_score, moment_divergence

mean, variance, x = 0.0, 1.0, 2.5
radius = clt_radius(n_samples=20, n_features=1, quantile=0.9)
print(f"radius for 20 samples: {radius:.3f}")

# %%
# The optimistic moments move towards x and widen; the pessimistic ones move away and narrow. Both lie on the surface.
extremes = {
    side: extremal_moments([x], [mean], [[variance]], radius, side=side) for side in ("optimistic", "pessimistic")
}
for side, (mu, sigma) in extremes.items():
    spent = moment_divergence([mean], [[variance]], mu, sigma)
    score = log_score([[x]], [mean], [[variance]], radius, side=side)[0]
    print(f"{side:12s} mean {mu[0]:+.3f}, variance {sigma[0, 0]:.3f}, divergence {spent:.3f}, log score {score:.3f}")

# %%
# White lines join moments under which x has the same density.
means, variances = np.meshgrid(np.linspace(-1.3, 1.3, 300), np.linspace(0.25, 2.9, 300))
divergence = (means - mean) ** 2 / variances + variance / variances - np.log(variance / variances) - 1
log_density = -0.5 * ((x - means) ** 2 / variances + np.log(2 * np.pi * variances))

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
image = left.contourf(means, variances, log_density, levels=25, cmap="cividis")
left.contour(means, variances, log_density, levels=25, colors="white", linewidths=0.4)
left.contour(means, variances, divergence, levels=[radius], colors="black", linewidths=2)
left.plot(mean, variance, "o", color="black")
left.annotate("nominal", (mean, variance), xytext=(8, -4), textcoords="offset points")
for (side, (mu, sigma)), color in zip(extremes.items(), ("#e69f00", "#d55e00"), strict=True):
    left.plot(mu[0], sigma[0, 0], "*", markersize=17, color=color, markeredgecolor="black")
    left.annotate(side, (mu[0], sigma[0, 0]), xytext=(10, 6), textcoords="offset points", fontweight="bold")
left.set(xlabel="mean", ylabel="variance", title=f"The ball, and the log density at x = {x}")
figure.colorbar(image, ax=left, label="log density of x")

grid = np.linspace(-4, 5, 400)


def density(points, mu, sigma):
    """Of a Gaussian."""
    return np.exp(-((points - mu) ** 2) / (2 * sigma)) / np.sqrt(2 * np.pi * sigma)


right.plot(grid, density(grid, mean, variance), "k", label="nominal")
for (side, (mu, sigma)), color in zip(extremes.items(), ("#e69f00", "#d55e00"), strict=True):
    right.plot(grid, density(grid, mu[0], sigma[0, 0]), color=color, label=side)
    right.plot(x, density(x, mu[0], sigma[0, 0]), "o", color=color)
right.axvline(x, color="0.6", linestyle=":")
right.annotate("x", (x, 0.45), xytext=(5, 0), textcoords="offset points")
right.set(title="The three densities", xlabel="feature")
right.legend(loc="upper left")

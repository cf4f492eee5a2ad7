"""
The paper's Figures 1 to 3
==========================

From public functions only. ``make reproduce`` computes them in full, beside Table
1, and compares each cell of it with print.
"""

# %%
# Figure 1: n times the divergence of estimated moments from the true ones, for 20 independent chi-square features,
# against its limit distribution. For these features the exact weights are known.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.covariance import EmpiricalCovariance

from optiscore import LimitLaw, OptimisticScoreClassifier, moment_divergence
from optiscore.datasets import make_chi_square, make_plane_classes

D = 20
law = LimitLaw(np.repeat([4 + np.sqrt(13), 4 - np.sqrt(13), 1.0], [D, D, D * (D - 1) // 2]))
grid = np.linspace(100, 600, 200)
figure, axes = plt.subplots(2, 2, figsize=(8, 5.4), layout="constrained", sharex=True, sharey=True)
for ax, n in zip(axes.flat, (30, 100, 300, 1000), strict=True):
    values = [
        n * moment_divergence(samples.mean(axis=0), np.cov(samples.T, bias=True), np.zeros(D), np.eye(D))
        for samples in make_chi_square(n, D, n_sets=1_500, random_state=n)
    ]
    ax.hist(values, bins=np.linspace(100, 600, 60), density=True, color="#e69f00")
    ax.plot(grid, law.pdf(grid), color="#0072b2", linewidth=2)
    ax.set_title(f"n = {n}")
figure.supxlabel("n times the divergence")

# %%
# Figures 2 and 3: regions of two Gaussian classes in the plane, for equal radii with the threshold 1, and for unequal
# radii with the tuned threshold.
X, y = make_plane_classes(1_000, random_state=2020)
axis = np.linspace(-4, 5, 300)
plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def draw_regions(settings, decision_rule, title):
    """A panel per likelihood and pair of radii."""
    figure, axes = plt.subplots(2, 2, figsize=(7.4, 7.4), layout="constrained", sharex=True, sharey=True)
    for row, radii in zip(axes, settings, strict=True):
        for ax, likelihood in zip(row, ("gaussian", "nonparametric"), strict=True):
            model = OptimisticScoreClassifier(
                likelihood, radius=radii, decision_rule=decision_rule, covariance_estimator=EmpiricalCovariance()
            ).fit(X, y)
            labels = model.predict(plane).reshape(300, 300)
            ax.contourf(axis, axis, labels, levels=[-0.5, 0.5, 1.5], colors=["#4477aa", "#cc6677"])
            ax.plot(*model.means_.T, "o", color="black")
            ax.set_title(f"{likelihood}, radii {radii[0]:g} and {radii[1]:g}", fontsize=10)
            ax.set_aspect("equal")
    figure.suptitle(title)


draw_regions([(0.5, 0.5), (0.7, 0.7)], 1.0, "Figure 2: equal radii, threshold 1")

# %%
draw_regions([(0.1, 1.0), (1.0, 0.1)], "tuned", "Figure 3: unequal radii, tuned threshold")

"""
Nominal, moderated, worst case: three probabilities of the same point
=====================================================================

Twelve samples per class, and three ways to say how probable the second class is:

- *nominal*: the moments of the samples are taken for the truth, as QDA does;
- *moderated*: averaged over what the moments may be, given the samples;
- *worst case*: the smallest and the largest probability over all moments in a ball.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from optiscore import ModeratedDiscriminantAnalysis, OptimisticScoreClassifier
from optiscore.datasets import make_plane_classes

X, y = make_plane_classes(12, random_state=3)

moderated = ModeratedDiscriminantAnalysis(covariance="own", feature_map=None).fit(X, y)
worst_case = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)

axis = np.linspace(-7, 8, 200)
plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
lower, upper = worst_case.predict_proba_bounds(plane)
surfaces = {
    "nominal": moderated.nominal_proba(plane)[:, 1],
    "moderated": moderated.predict_proba(plane)[:, 1],
    "worst case, smallest": lower[:, 1],
    "worst case, largest": upper[:, 1],
}

# %%
# Far from all samples the nominal probability is extreme, and nothing supports it. The moderated one stays moderate
# there: the farther a point, the more the unknown covariances matter. The worst case is wide wherever classes can be
# confused by any moments in the ball.
figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.4), layout="constrained", sharex=True, sharey=True)
for ax, (name, values) in zip(axes.flat, surfaces.items(), strict=True):
    image = ax.contourf(
        axis, axis, values.reshape(200, 200), levels=np.linspace(0, 1, 11), cmap="RdBu_r", vmin=0, vmax=1
    )
    ax.contour(axis, axis, values.reshape(200, 200), levels=[0.5], colors="black", linewidths=1)
    ax.scatter(*X.T, c=np.where(y == 1, "#b2182b", "#2166ac"), s=22, edgecolor="white", linewidth=0.7)
    ax.set(title=name, aspect="equal")
figure.colorbar(image, ax=axes, label="probability of class 1 (red)", shrink=0.8)

# %%
# The same along a line through both means, with the interval that belongs to the nominal probability.
line = np.linspace(-6, 7, 300)
points = np.stack([line, 1 - line], axis=1)
low, high = moderated.predict_proba_interval(points, confidence_level=0.9)
worst, best = worst_case.predict_proba_bounds(points)

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.fill_between(line, worst[:, 1], best[:, 1], color="0.9", label="bounds over the balls")
ax.fill_between(line, low[:, 1], high[:, 1], color="C0", alpha=0.25, label="90 % interval of the nominal one")
ax.plot(line, moderated.nominal_proba(points)[:, 1], "k--", label="nominal")
ax.plot(line, moderated.predict_proba(points)[:, 1], "C0", linewidth=2, label="moderated")
ax.set(xlabel="first feature, along the line through both means", ylabel="probability of class 1")
figure.legend(loc="outside lower center", ncols=4, fontsize=9)

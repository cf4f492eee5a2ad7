"""
Are the boundaries curved? Maps in front of the model
=====================================================

Means and covariances give straight or quadratic boundaries at best. `KernelDiscriminantClassifier` first maps the
features to discriminant coordinates by kernels, tries several, and averages those that are about as good as the best.
There is nothing to tune, and no sample is set aside.
"""

# %%
# Two crescents, 150 samples, and three classifiers.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from optiscore import KernelDiscriminantClassifier, KernelDiscriminantMap, ModeratedDiscriminantAnalysis

X, y = make_moons(150, noise=0.25, random_state=0)
X_new, y_new = make_moons(5_000, noise=0.25, random_state=1)

models = {
    "moderated": ModeratedDiscriminantAnalysis(),
    "one map, moderated behind it": make_pipeline(
        KernelDiscriminantMap(), ModeratedDiscriminantAnalysis(feature_map=None)
    ),
    "kernel: average over maps": KernelDiscriminantClassifier(),
}
for model in models.values():
    model.fit(X, y)

# %%
axis = np.linspace(-2, 3, 160)
grid = np.stack(np.meshgrid(axis, axis), axis=-1)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    proba = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(160, 160)
    image = ax.contourf(axis, axis, proba, levels=np.linspace(0, 1, 11), cmap="RdBu_r", vmin=0, vmax=1, alpha=0.8)
    ax.contour(axis, axis, proba, levels=[0.5], colors="black", linewidths=1)
    ax.scatter(*X.T, c=np.where(y == 1, "#b2182b", "#2166ac"), s=14, edgecolor="white", linewidth=0.5)
    ax.set_title(f"{name}\n{model.score(X_new, y_new):.1%} of 5,000 new samples right", fontsize=10)
    ax.set(xlim=(-2, 3), ylim=(-1.7, 2.2))
figure.colorbar(image, ax=axes, label="probability of the red class", shrink=0.9)

# %%
# What was tried. The maps in the average have weights by their log loss with every training sample left out.
kernel = models["kernel: average over maps"]
for name, scaling, weight in zip(*(kernel.maps_[key] for key in ("kernel", "scaling", "weight")), strict=True):
    print(f"{name:18s} {scaling:9s} {weight:.2f}")

# %%
# Leave-one-out squared error over the ridge, a curve for each kernel and scaling.
results = kernel.results_
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name in dict.fromkeys(results["kernel"]):
    for scaling, style in (("standard", "-"), ("ranks", "--")):
        rows = (results["kernel"] == name) & (results["scaling"] == scaling)
        ax.plot(results["ridge"][rows], results["squared_error"][rows], style, label=f"{name}, {scaling}")
ax.set(xscale="log", yscale="log", xlabel="ridge, in units of the mean eigenvalue", ylabel="squared error")
ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

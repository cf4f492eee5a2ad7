"""
Two balls: what does minimax do between them?
=============================================

Each class has a ball of plausible moments. The paper compares the *best* scores in the balls. Between two balls that
is too generous to the class with the larger one. The minimax rule asks instead which label is right even in the worst
case, and where it can be certain.
"""

# %%
# One dimension, two classes, the second one known from fewer samples.
import matplotlib.pyplot as plt
import numpy as np

from optiscore import LIKELIHOODS, OptimisticScoreClassifier, clt_radius, log_score
from optiscore.plotting import CertifiedRegionsDisplay, PosteriorBoundsDisplay

moments = {"class 0": (-1.0, 1.0, 200), "class 1": (1.5, 1.0, 8)}
grid = np.linspace(-9, 9, 900)
scores = {
    (name, side): log_score(grid[:, None], [mean], [[variance]], clt_radius(n, 1, quantile=0.95), side=side)
    for name, (mean, variance, n) in moments.items()
    for side in ("optimistic", "pessimistic")
}

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 5.6), layout="constrained", sharex=True, gridspec_kw={"height_ratios": [3, 1]}
)
for name, color in zip(moments, ("#4477aa", "#cc6677"), strict=True):
    best, worst = scores[name, "optimistic"], scores[name, "pessimistic"]
    top.fill_between(grid, worst, best, color=color, alpha=0.3)
    top.plot(grid, best, color=color, label=f"{name}, {moments[name][2]} samples: best")
    top.plot(grid, worst, color=color, linestyle="--", label="worst")
top.set(ylim=(-22, 0.5), ylabel="log score")
top.legend(ncols=2, fontsize=8, loc="lower center")

(best_0, worst_0), (best_1, worst_1) = ((scores[name, "optimistic"], scores[name, "pessimistic"]) for name in moments)
rows = {
    "optimistic": np.where(best_1 > best_0, 1.0, 0.0),
    "minimax": np.where(best_1 + worst_1 > best_0 + worst_0, 1.0, 0.0),
    "certified": np.where(worst_1 > best_0, 1.0, np.where(worst_0 > best_1, 0.0, np.nan)),
}
for height, labels in enumerate(reversed(rows.values())):
    for label, color in ((0.0, "#4477aa"), (1.0, "#cc6677")):
        bottom.fill_between(grid, height + 0.1, height + 0.9, where=labels == label, color=color, linewidth=0)
bottom.set_yticks([0.5, 1.5, 2.5], labels=list(reversed(rows)))
bottom.set(xlabel="feature", ylim=(0, 3))

# %%
# Far to the left the wide ball of class 1 has the best score of the two, although the samples of class 0 are nearer:
# the optimistic rule names class 1 there. Minimax compares the mean of best and worst. Certified are the places where
# the worst score of a class beats the best of the other.
#
# In the plane, and for all three likelihoods: solid colours are certified, pale ones are decided only.
rng = np.random.default_rng(1)
X = np.vstack([rng.normal([-1.2, 0], 0.8, size=(200, 2)), rng.normal([1.4, 0.5], 0.9, size=(25, 2))])
y = np.repeat([0, 1], [200, 25])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for ax, likelihood in zip(axes, LIKELIHOODS, strict=True):
    model = OptimisticScoreClassifier(likelihood, decision_rule="minimax").fit(X, y)
    CertifiedRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(likelihood)

# %%
# Bounds on the posterior of every sample, from the same balls. A bar that does not cross one half is a certified
# decision.
model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
PosteriorBoundsDisplay.from_estimator(model, X)

# %%
factor = model.certified_factor(X)
print(f"certified: {np.mean(factor >= 1):.0%} of the samples; median factor on the radii {np.median(factor):.2f}")

"""
A class with five samples: what can be said about it?
=====================================================

A rare disease, five known cases, eight features: fewer samples than features, so that QDA has no covariance at all.
What does a model that knows the sample size say?
"""

# %%
# Two hundred healthy people, five cases.
import matplotlib.pyplot as plt
import numpy as np

from optiscore import ModeratedDiscriminantAnalysis
from optiscore.plotting import ProbaIntervalDisplay

D = 8
rng = np.random.default_rng(7)
center = np.r_[2.0, 1.0, np.zeros(D - 2)]


def draw(n_healthy, n_ill):
    """Gaussian classes; illness moves two of the eight measurements."""
    X = rng.normal(size=(n_healthy + n_ill, D))
    X[n_healthy:] += center
    return X, np.repeat(["healthy", "ill"], [n_healthy, n_ill])


X, y = draw(200, 5)
model = ModeratedDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)

# %%
# People on the way from healthy to ill. The interval of the nominal probability, nearly everything in between, is the
# honest answer of five cases; the same model after 500 cases knows better.
steps = np.linspace(-0.5, 2, 60)
people = steps[:, None] * center

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
for ax, n_ill in zip(axes, (5, 500), strict=True):
    trained = ModeratedDiscriminantAnalysis(priors=[0.5, 0.5], feature_map=None).fit(*draw(200, n_ill))
    lower, upper = trained.predict_proba_interval(people, 0.9)
    ax.fill_between(steps, lower[:, 1], upper[:, 1], color="C0", alpha=0.2, label="90 % interval")
    ax.plot(steps, trained.nominal_proba(people)[:, 1], "k--", label="nominal")
    ax.plot(steps, trained.predict_proba(people)[:, 1], "C0", linewidth=2, label="moderated")
    ax.set(title=f"{n_ill} cases", xlabel="from healthy (0) to the mean of the ill (1)")
axes[0].set_ylabel("probability of illness")
axes[0].legend(loc="upper left")

# %%
# New people, ordered by their probability. Where the interval goes far to both sides of one half, five cases cannot
# settle the question.
X_new, y_new = draw(30, 30)
ProbaIntervalDisplay.from_estimator(model, X_new, label="ill")

# %%
# And in numbers: which of the 60 decisions are backed by the five cases?
confidence = model.stability(X_new)
is_right = model.predict(X_new) == y_new
for level in (0.9, 0.75, 0.5):
    sure = confidence >= level
    print(f"confidence of at least {level}: {sure.sum():2d} decisions, {is_right[sure].mean():.0%} right")

# %%
# The evidence behind a decision is twice a log likelihood ratio of the training sample: how much less likely it is if
# another label is to be the right one. 2.71 is the 95 % point (one-sided) for one degree of freedom.
ratio, rival = model.likelihood_ratio(X_new[-3:])
print("likelihood ratios", ratio.round(2), "against", rival)

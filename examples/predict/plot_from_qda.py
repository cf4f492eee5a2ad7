"""
From QDA in one line: what does it bring?
=========================================

`ModeratedDiscriminantAnalysis` takes the place of scikit-learn's `QuadraticDiscriminantAnalysis` (or of LDA) without
any other change. It has the same methods, and some that say how far its answers can be trusted.
"""

# %%
# A medical table with ten features, and training samples of increasing number.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from optiscore import ModeratedDiscriminantAnalysis

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :10]

# %%
# The change of one line: the name of the class.
models = {
    "QDA": QuadraticDiscriminantAnalysis(reg_param=1e-4),
    "LDA": LinearDiscriminantAnalysis(),
    "moderated": ModeratedDiscriminantAnalysis(),
}

sizes = [30, 60, 120, 240]
accuracy = {name: np.empty((len(sizes), 20)) for name in models}
loss = {name: np.empty((len(sizes), 20)) for name in models}
for i, size in enumerate(sizes):
    splits = StratifiedShuffleSplit(20, train_size=size, test_size=300, random_state=0)
    for j, (train, test) in enumerate(splits.split(X, y)):
        for name, model in models.items():
            model.fit(X[train], y[train])
            accuracy[name][i, j] = 100 * model.score(X[test], y[test])
            loss[name][i, j] = log_loss(y[test], model.predict_proba(X[test]))

# %%
# Two things improve. The accuracy, since the covariances are shrunk and the features are made to look Gaussian first.
# And the probabilities: those of QDA and LDA take the moments of a few samples for the truth.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, values, title in zip(axes, (accuracy, loss), ("accuracy, %", "log loss"), strict=True):
    for name, style in zip(models, ("C7--s", "C1--^", "C0-o"), strict=True):
        ax.plot(sizes, values[name].mean(axis=1), style, label=name)
    ax.set(xscale="log", xlabel="training samples", title=f"{title}, mean of 20 splits")
    ax.set_xticks(sizes, labels=[str(size) for size in sizes])
    ax.minorticks_off()
axes[1].legend()

# %%
print("rows  " + "".join(f"{name:>18s}" for name in models))
for i, size in enumerate(sizes):
    print(
        f"{size:4d}  " + "".join(f"{accuracy[name][i].mean():10.1f} % {loss[name][i].mean():5.2f}" for name in models)
    )

# %%
# What QDA cannot say at all: how sure the decision is, given how few samples there were, and whether the sample looks
# like any of those in training.
model = ModeratedDiscriminantAnalysis().fit(X[:60], y[:60])
odd = X[60:63].copy()
odd[2, 0] *= 3
print("probability ", model.predict_proba(odd)[:, 1].round(3))
print("confidence  ", model.stability(odd).round(3))
print("typicality  ", model.typicality(odd).round(3))

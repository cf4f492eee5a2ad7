"""
Columns that do not matter
==========================

Two columns make a curved boundary, forty are noise. A kernel compares rows by all their columns, so that the noise
drowns what matters; weights that are learned from left-out rows take it out.
"""

# %%
# Two moons, and forty columns of noise beside them. The classifier learns weights where they help by more than chance
# on rows held out; ``relevance=False`` leaves the columns alike.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from optiscore import KernelDiscriminantClassifier
from optiscore.plotting import RelevanceDisplay

rng = np.random.default_rng(0)
X, y = make_moons(3400, noise=0.25, random_state=0)
X = np.c_[X, rng.normal(size=(len(X), 40))]
X_train, y_train, X_new, y_new = X[:400], y[:400], X[400:], y[400:]

columns = {"the two columns alone": slice(2), "all, alike": slice(None), "all, weighted": slice(None)}
losses = {}
for name, some in columns.items():
    model = KernelDiscriminantClassifier(relevance="auto" if name == "all, weighted" else False)
    model.fit(X_train[:, some], y_train)
    losses[name] = log_loss(y_new, model.predict_proba(X_new[:, some]))
    print(f"{name}: log loss {losses[name]:.3f}, accuracy {model.score(X_new[:, some], y_new):.3f}")

# %%
# What the last model looks at, and what that is worth. Weights are an answer in themselves: most of the noise has none.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
RelevanceDisplay.from_estimator(model, ax=left, most=12)
left.set_ylabel("column")
right.bar([name.replace(" columns", "\ncolumns") for name in losses], list(losses.values()), color=["0.7", "0.7", "C0"])
right.set_ylabel("log loss of new rows")
plt.show()

"""
A forest, asked what ours are asked
===================================

`CrossFitClassifier` takes any classifier. It is fitted on all rows and without each of ten folds, and what it says of
rows that it has not seen calibrates it, gives sets of labels their level, and tells which labels another sample might
change.
"""

# %%
# Three hundred digits for training, and a forest.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from optiscore import CrossFitClassifier
from optiscore.plotting import RiskCoverageDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
forest = RandomForestClassifier(100, random_state=0)
plain = forest.fit(X_train, y_train)
model = CrossFitClassifier(forest, random_state=0).fit(X_train, y_train)
for name, each in (("plain", plain), ("cross-fitted", model)):
    print(f"{name}: log loss {log_loss(y_test, each.predict_proba(X_test)):.3f}")

# %%
# **Are probabilities what they say?** A forest is too modest: of the digits to which it gives 0.6, far more than six of
# ten are right. Each dot is a tenth of the test rows.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, each, marker in (("plain", plain, "o--"), ("cross-fitted", model, "s-")):
    proba = each.predict_proba(X_test)
    order = np.argsort(proba.max(axis=1))
    correct = each.predict(X_test) == y_test
    parts = [(proba.max(axis=1)[rows].mean(), correct[rows].mean()) for rows in np.array_split(order, 10)]
    left.plot(*zip(*parts, strict=True), marker, label=name)
left.plot([0.2, 1], [0.2, 1], color="0.6", linewidth=1)
left.set(xlabel="probability of the label", ylabel="labels that are right")
left.legend()
RiskCoverageDisplay.from_estimator(model, X_test, y_test, ax=right)
right.set_title("errors among what is decided")

# %%
# **Sets with a level**: so many labels that the right one is among them as often as asked.
for level in (0.9, 0.95, 0.99):
    named = model.predict_set(X_test, level)
    holds = named[np.arange(len(y_test)), y_test].mean()
    print(f"{level:.0%} asked: {holds:.1%} hold the digit, {named.sum(axis=1).mean():.2f} labels on average")

# %%
# **All answers at once.**
print(model.answers(X_test))

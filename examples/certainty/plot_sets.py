"""
One label, two, or all of them?
===============================

With ten classes there is something between a label and an abstention: "a 3 or an 8". `predict_set` names the labels
that are worth naming. What a set of two is worth, one of which is right, is for the user to say: 0.65 of a right
label (*u65*) for those who dislike doubt, 0.80 (*u80*) for those who dislike errors.
"""

# %%
# Handwritten digits, twenty training images of each.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from optiscore import KernelDiscriminantClassifier

digits = load_digits()
X_train, X_test, y_train, y_test, _, images = train_test_split(
    digits.data, digits.target, digits.images, train_size=200, stratify=digits.target, random_state=0
)
model = KernelDiscriminantClassifier().fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.1%} right with one label each")

# %%
named = {utility: model.predict_set(X_test, utility=utility) for utility in ("u65", "u80")}
for utility, sets in named.items():
    holds = sets[np.arange(len(y_test)), y_test]
    print(f"{utility}: {holds.mean():.1%} of the sets hold the digit, {sets.sum(axis=1).mean():.2f} labels on average")

# %%
# The images that the model is least certain of: a person hesitates, too.
proba = model.predict_proba(X_test)
hardest = np.argsort(proba.max(axis=1))[:8]
figure, axes = plt.subplots(2, 8, figsize=(11, 4), layout="constrained", gridspec_kw={"height_ratios": [2, 1.3]})
for (top, bottom), row in zip(axes.T, hardest, strict=True):
    top.imshow(images[row], cmap="gray_r")
    top.set_axis_off()
    labels = np.flatnonzero(named["u80"][row])
    top.set_title(f"{{{', '.join(map(str, labels))}}}\ntruth: {y_test[row]}", fontsize=9)
    bottom.bar(range(10), proba[row], color=["C0" if label in labels else "0.8" for label in range(10)])
    bottom.set(ylim=(0, 0.7), yticks=[])
    bottom.set_xticks(range(10), labels=map(str, range(10)), fontsize=6)

# %%
# A label set by probability: everything that is at least five percent probable.
generous = model.predict_set(X_test, min_probability=0.05)
holds = generous[np.arange(len(y_test)), y_test]
print(f"at least 5 %: {holds.mean():.1%} hold the digit, {generous.sum(axis=1).mean():.2f} labels on average")

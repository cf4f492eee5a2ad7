"""
Week by week: has the data drifted, and where?
==============================================

A model is trained once and used for months. `DriftReference` keeps statistics of the training rows (no rows) and
compares later ones with them: one answer for all features together, with five false alarms in a hundred, and the
names of what moved. No labels are needed.
"""

# %%
# Banknotes, described by four numbers each: 412 for training, and sixteen weeks of 60 new ones. From week 8 on the
# camera ages, and the first number rises.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from optiscore import ModeratedDiscriminantAnalysis
from optiscore.drift import DriftReference
from reproduction.datasets import fetch_benchmark  # of a clone of the repository

NAMES = ("variance", "skewness", "kurtosis", "entropy")
rng = np.random.default_rng(0)
X, y = fetch_benchmark("banknote_authentication", return_X_y=True)
order = rng.permutation(len(X))
train, *weeks = np.split(order, range(412, 1372, 60))

# %%
# What is predicted for training rows has to come from models that have not seen them, as for later rows.
model = ModeratedDiscriminantAnalysis().fit(X[train], y[train])
left_out = cross_val_predict(ModeratedDiscriminantAnalysis(), X[train], y[train], cv=5)
reference = DriftReference.from_rows(X[train], np.searchsorted(model.classes_, left_out), n_classes=2)

found = []
for week, rows in enumerate(weeks, start=1):
    later = X[rows].copy()
    later[:, 0] += 0.15 * max(week - 7, 0) * X[train, 0].std()
    predicted = model.predict(later)
    drift = reference.compare(later, np.searchsorted(model.classes_, predicted))
    found.append((drift, np.mean(predicted == y[rows])))

# %%
# The alarm: the p-value of everything together. After it, what moved, by how much.
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5), layout="constrained", sharex=True)
p_values = [drift.p_value for drift, _ in found]
numbers = np.arange(1, 17)
alarmed = np.array(p_values) <= 0.05
top.plot(numbers, p_values, color="0.6", zorder=1)
top.scatter(numbers, p_values, c=np.where(alarmed, "#cc3311", "#4477aa"), zorder=2)
top.axhline(0.05, color="black", linestyle="--", linewidth=1)
top.annotate("alarm below", (1, 0.05), xytext=(0, -12), textcoords="offset points", fontsize=9)
top.set(yscale="log", ylabel="p-value", title="Drift of all features together")
bottom.plot(numbers, [100 * accuracy for _, accuracy in found], "o-", color="#4477aa")
bottom.set(xlabel="week", ylabel="accuracy, %", ylim=(40, 103), title="Accuracy, which nobody sees until labels arrive")
for ax in (top, bottom):
    ax.axvline(7.5, color="0.8", linewidth=6, zorder=0)
bottom.set_xticks(numbers)

# %%
for number, (drift, _) in zip(numbers, found, strict=True):
    moved = {NAMES[s.feature]: round(s.change, 2) for s in drift.found() if s.label is None and not s.is_spread}
    print(f"week {number:2d}: p = {drift.p_value:.4f}", moved or "")

"""
Which radius? Ask the samples
=============================

Calibrated radii (`"clt"`, `"empirical"`) answer how far the moments may be off. Radii that classify best are another
question. `OptimisticScoreClassifierCV` answers it by cross-validation, with the result of a grid search at the price
of a few fits: moments and distances do not depend on the radius, so that each radius costs a lookup only.
"""

# %%
import time

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV, train_test_split

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV
from optiscore.plotting import RadiusSearchDisplay
from reproduction.datasets import fetch_benchmark  # of a clone of the repository

X, y = fetch_benchmark("ilpd", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

start = time.perf_counter()
search = OptimisticScoreClassifierCV(["gaussian", "nonparametric"], poolings=[0, 0.5]).fit(X_train, y_train)
seconds = time.perf_counter() - start
print(f"{len(search.cv_results_['params'])} candidates in {seconds:.2f} s")
print("best:", search.best_params_)
print(f"test accuracy {search.score(X_test, y_test):.1%}")

# %%
# The heat map over the radii of both classes, for the likelihood and the pooling that won.
RadiusSearchDisplay.from_estimator(search)

# %%
# The same by scikit-learn's grid search, over a part of the candidates.
radii = [0.0, 0.1, 1.0]
grid = {"radius": [[first, second] for first in radii for second in radii]}
start = time.perf_counter()
slow = GridSearchCV(OptimisticScoreClassifier(), grid, cv=5).fit(X_train, y_train)
print(f"{len(slow.cv_results_['params'])} candidates in {time.perf_counter() - start:.2f} s")

# %%
# What a radius buys is not so much accuracy as knowledge of what the worst case may be. Along equal radii: how often
# is the minimax rule right, and how many of its decisions hold for all moments in the balls?
values = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
right, certified = [], []
for radius in values:
    model = OptimisticScoreClassifier(radius=radius, decision_rule="minimax").fit(X_train, y_train)
    right.append(100 * model.score(X_test, y_test))
    certified.append(100 * (model.certified_factor(X_test) >= 1).mean())

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(values, right, "o-", label="right")
ax.plot(values, certified, "s--", label="certified")
ax.set(xscale="log", xlabel="radius of both classes", ylabel="of the test rows, %", ylim=(-3, 103))
ax.legend()

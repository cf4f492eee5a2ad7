"""
A million rows, one block at a time?
====================================

The moments of a class are sums, and sums merge. So a model learns from blocks, in any order, and ends as the model of
all rows together: what is in memory is one block, and sums whose size does not depend on the number of rows.
"""

# %%
# A stream: blocks of 20,000 rows, of which nothing is kept.
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np

from optiscore import ModeratedDiscriminantAnalysis, MomentSums

BLOCK, N_BLOCKS, D = 20_000, 50, 10


def block(number):
    """Rows of three classes, which overlap."""
    rng = np.random.default_rng(number)
    y = rng.choice(3, size=BLOCK, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(BLOCK, D)) + np.eye(3, D)[y]
    return X, y


# %%
# ``classes`` tells the first call of all labels that will ever occur. The default feature map needs all rows at once,
# so the features are taken as they are; a fitted transformer would do, too.
X_test, y_test = block(1000)
model = ModeratedDiscriminantAnalysis(feature_map=None)
rows, accuracy, widths = [], [], []
tracemalloc.start()
for number in range(N_BLOCKS):
    X, y = block(number)
    model.partial_fit(X, y, classes=[0, 1, 2])
    if number in (0, 1, 3, 7, 15, 31, 49):
        low, high = model.predict_proba_interval(X_test[:2000])
        rows.append((number + 1) * BLOCK)
        accuracy.append(model.score(X_test, y_test))
        widths.append(np.mean(high - low))
_, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
print(
    f"{N_BLOCKS * BLOCK:,} rows of {D} features are {N_BLOCKS * BLOCK * D * 8 / 1e6:.0f} MB;",
    f"the peak was {peak / 1e6:.0f} MB",
)

# %%
# Errors of moments fall with the square root of the number of rows, and the intervals of the probabilities with them.
# The accuracy cannot rise for ever: the classes overlap.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.loglog(rows, widths, "o-", color="#4477aa")
left.loglog(
    rows, widths[0] * np.sqrt(rows[0] / np.array(rows)), "--", color="0.6", label="1 over the square root of rows"
)
left.set(xlabel="rows", ylabel="mean width", title="90 % intervals of probabilities")
left.legend()
right.semilogx(rows, 100 * np.array(accuracy), "o-", color="#4477aa")
right.set(xlabel="rows", ylabel="accuracy, %", title="Accuracy on 20,000 other rows", ylim=(60, 80))

# %%
# `MomentSums` are the sums by themselves: weight, mean and covariance of any partition of the rows, merged with
# ``+``. Halves that were summed on two machines:
X, _ = block(0)
halves = MomentSums.from_samples(X[:7]) + MomentSums.from_samples(X[7:])
whole = MomentSums.from_samples(X)
print("largest difference of the covariances:", np.abs(halves.covariance - whole.covariance).max())
print("numbers kept:", halves.gram.size, "instead of", X.size)

"""
How to train on a cluster with Dask?
====================================

`optiscore.dask` has the classifiers for Dask's arrays and data frames. One pass over the blocks makes the moments, in
a tree of sums of d x d numbers; predictions are lazy. Here the cluster is two workers in this process; with the
address of a scheduler in ``Client``, nothing else changes.
"""

# %%
# Twenty blocks that no process has at once. ``da.random`` stands for your files.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore.dask import OptimisticScoreClassifier

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)

rng = da.random.default_rng(0)
y = (rng.random(200_000, chunks=10_000) < 0.3).astype(int)
X = rng.normal(size=(200_000, 8), chunks=(10_000, 8)) * (1 + y[:, None]) + y[:, None]
X, y = client.persist([X, y])

# %%
# "tuned" thresholds, too, are exact: the scores stay on the workers, which count them in bins until few are left in
# doubt.
model = OptimisticScoreClassifier().fit(X, y)
proba = model.predict_proba(X)
print(type(proba).__module__, proba.shape, "in", proba.numblocks[0], "blocks, not computed yet")
print(f"accuracy {float((model.predict(X) == y).mean().compute()):.4f}")

# %%
# The same model, but for rounding, as a fit in memory:
local = InMemory().fit(X.compute(), y.compute())
print("largest difference of the covariances:", np.abs(model.covariances_ - local.covariances_).max())
print("offsets:", model.offsets_, local.offsets_)

# %%
# What comes back is Dask's, and can be counted, written or drawn block by block.
counts, edges = da.histogram(proba[:, 1], bins=50, range=(0, 1))
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.stairs(counts.compute(), edges, fill=True, color="#4477aa")
ax.set(xlabel="probability of the second class", ylabel="rows", title="200,000 probabilities, counted on the workers")

# %%
del X, y, proba
client.close()
cluster.close()

"""
Can PyTorch's tensors stay where they are?
==========================================

Under scikit-learn's ``array_api_dispatch`` the classifiers take arrays of any library of the array API standard, and
return them: PyTorch's tensors stay tensors, on their device. SciPy has to be told before Python starts, with the
environment variable ``SCIPY_ARRAY_API=1``.
"""

# %%
# Without PyTorch at hand, the standard's own test library stands in: it allows what the standard allows, and nothing
# else.
import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import make_classification

from optiscore import OptimisticScoreClassifier

try:
    import torch as library

    device = "cuda" if library.cuda.is_available() else "cpu"
except ImportError:
    import array_api_strict as library

    device = library.Device("CPU_DEVICE")

X, y = make_classification(
    4000, n_features=6, n_informative=4, n_classes=3, n_clusters_per_class=1, class_sep=0.8, random_state=0
)
tensor = library.asarray(X, device=device)
labels = library.asarray(y, device=device)

# %%
# Nothing else changes in the code.
with sklearn.config_context(array_api_dispatch=True):
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(tensor, labels)
    predicted = model.predict(tensor)
    lower, upper = model.predict_proba_bounds(tensor)
print(f"in: {type(tensor).__name__} on {device}; out: {type(predicted).__name__}, {type(lower).__name__}")

# %%
# The answers are NumPy's.
predicted, lower, upper = (
    np.asarray(part.cpu() if hasattr(part, "cpu") else part) for part in (predicted, lower, upper)
)
reference = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
reference_lower, reference_upper = reference.predict_proba_bounds(X)
print("labels that differ:", int((predicted != reference.predict(X)).sum()))
print("largest difference of the bounds:", np.abs(lower - reference_lower).max())

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
order = np.argsort(reference_lower[:, 0] + reference_upper[:, 0])
ax.fill_between(np.arange(len(X)), lower[order, 0], upper[order, 0], color="#88aadd", lw=0)
ax.set(
    xlabel="rows, ordered by the middle of their bounds",
    ylabel="probability of the first class",
    title="Worst-case bounds, from tensors to tensors",
)

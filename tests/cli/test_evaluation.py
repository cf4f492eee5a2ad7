"""What `optiscore evaluate` measures equals scikit-learn's measures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from optiscore.cli.evaluation import Judged, measures


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(8, 80), st.booleans())
def test_measures_are_those_of_scikit_learn(seed, n_classes, n, rounded):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    codes[:n_classes] = np.arange(n_classes)
    proba = rng.dirichlet(np.full(n_classes, 0.3), size=n)
    if rounded:
        # Ties, and probabilities of 0 and 1.
        proba = np.eye(n_classes)[proba.argmax(axis=1)]
    found = measures(Judged(proba.argmax(axis=1), proba, proba.max(axis=1)), codes)
    auc = [roc_auc_score(codes == c, proba[:, c]) for c in range(n_classes)]
    assert found["AUC"] == pytest.approx(auc[1] if n_classes == 2 else np.mean(auc), abs=1e-12)
    assert found["log loss"] == pytest.approx(log_loss(codes, proba, labels=range(n_classes)), rel=1e-12)
    assert found["accuracy"] == pytest.approx(accuracy_score(codes, proba.argmax(axis=1)))
    assert found["balanced accuracy"] == pytest.approx(balanced_accuracy_score(codes, proba.argmax(axis=1)))


def test_one_class_tells_no_auc():
    proba = np.full((5, 2), 0.5)
    assert np.isnan(measures(Judged(np.zeros(5, dtype=int), proba, proba[:, 0]), np.zeros(5, dtype=int))["AUC"])

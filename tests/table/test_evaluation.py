"""Measures of `optiscore evaluate` equal scikit-learn's, paired differences cover, and the choice of a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from optiscore.table.evaluation import MethodAnswers, _measure, measures, paired_difference
from optiscore.table.page import _short
from optiscore.table.selection import KERNEL, MODERATED, CandidateResult, choose_model
from optiscore.table.table_model import proportion


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(8, 80), st.booleans())
def test_measures_are_those_of_scikit_learn(seed, n_classes, n, rounded):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    codes[:n_classes] = np.arange(n_classes)
    proba = rng.dirichlet(np.full(n_classes, 0.3), size=n)
    if rounded:
        # Ties, and probabilities of 0 and 1.
        proba = np.eye(n_classes)[proba.argmax(axis=1)]
    found = measures(MethodAnswers(proba.argmax(axis=1), proba, proba.max(axis=1)), codes)
    auc = [roc_auc_score(codes == c, proba[:, c]) for c in range(n_classes)]
    assert found["AUC"] == pytest.approx(auc[1] if n_classes == 2 else np.mean(auc), abs=1e-12)
    assert found["log loss"] == pytest.approx(log_loss(codes, proba, labels=range(n_classes)), rel=1e-12)
    assert found["accuracy"] == pytest.approx(accuracy_score(codes, proba.argmax(axis=1)))
    assert found["balanced accuracy"] == pytest.approx(balanced_accuracy_score(codes, proba.argmax(axis=1)))


def test_one_class_tells_no_auc():
    proba = np.full((5, 2), 0.5)
    assert np.isnan(measures(MethodAnswers(np.zeros(5, dtype=int), proba, proba[:, 0]), np.zeros(5, dtype=int))["AUC"])


def test_one_row_is_no_proof():
    value, low, high = proportion(1, 1)
    assert (value, high) == (1.0, 1.0)
    assert 0.2 < low < 0.25
    assert all(np.isnan(part) for part in proportion(0, 0))


@pytest.mark.parametrize(("n", "difference"), [(60, 0.0), (60, 0.1), (300, 0.05)])
def test_paired_differences_are_covered(n, difference):
    """Agresti and Min's interval holds the true difference about 95 times in 100."""
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(1500):
        which = rng.choice(4, size=n, p=[0.6, 0.1 + difference, 0.1, 0.2 - difference])
        _, low, high = paired_difference(np.isin(which, (0, 1)), np.isin(which, (0, 2)))
        covered.append(low <= difference <= high)
    assert 0.935 < np.mean(covered) < 0.98


def test_intervals_of_many_rows_come_from_parts_and_are_those_of_few(monkeypatch):
    """The same rows, resampled or cut into parts: intervals of about the same width around the same value."""
    from optiscore.table import evaluation

    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=6000)
    second = 1 / (1 + np.exp(-rng.normal(size=6000) - 2 * codes + 1))
    judged = MethodAnswers((second > 0.5).astype(int), np.stack([1 - second, second], axis=1), np.abs(second - 0.5))
    resampled = _measure(judged, codes, 0, lambda n: None)
    monkeypatch.setattr(evaluation, "_MOST_RESAMPLED", 1000)
    parts = _measure(judged, codes, 0, lambda n: None)
    for name in resampled:
        (value, low, high), other = resampled[name], parts[name]
        assert other.value == value
        assert low < value < high
        assert 0.6 < (other.high - other.low) / (high - low) < 1.6


def test_the_model_of_the_smallest_log_loss_is_taken():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=200)

    def tried(name, gain):
        nothing = np.empty(0, dtype=int)
        return CandidateResult(name, None, nothing, nothing, losses - gain, "")

    noise = rng.normal(size=200)
    alike = [tried(MODERATED, 0), tried(KERNEL, 0.001 + 0.1 * (noise - noise.mean()))]
    assert choose_model(alike)[0].name == KERNEL
    assert "though by no more than chance" in choose_model(alike)[1]
    better = [tried(MODERATED, 0), tried(KERNEL, 0.1 + 0.1 * noise)]
    assert choose_model(better)[1].startswith("its log loss is smaller (")


def test_intervals_of_parts_stay_in_range(monkeypatch):
    """Measures of many rows at the ends of their range: an AUC of 1, and an area of 0."""
    monkeypatch.setattr("optiscore.table.evaluation._MOST_RESAMPLED", 100)
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=3000)
    right = np.where(rng.random(3000) < 0.001, 0.45, 0.9)
    proba = np.where(codes[:, None] == [0, 1], right[:, None], 1 - right[:, None])
    found = _measure(MethodAnswers(proba.argmax(axis=1), proba, proba.max(axis=1)), codes, 0, lambda n: None)
    for name, interval in found.items():
        assert 0 <= interval.low <= interval.value <= interval.high
        assert interval.high <= 1 or name == "log loss"


@pytest.mark.parametrize(("size", "offset"), [(1e-5, 0), (1e-5, 1000), (1, 0), (1e80, 0), (0, 3)])
def test_numbers_of_pictures_are_short_and_apart(size, offset):
    """Features of any size have a picture: their numbers are rounded by what is seen, not by a fixed digit."""
    values = offset + size * np.linspace(0, 1, 50)
    short = _short(values)
    assert len(np.unique(short)) == len(np.unique(values))
    np.testing.assert_allclose(short, values, rtol=0, atol=1e-4 * max(size, 1e-300))

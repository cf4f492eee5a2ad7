"""Weights of columns: left-out importances against refitting, the guard, what must not matter, files and errors."""

import numpy as np
import pytest
from kinds import blobs
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from optiscore import KernelDiscriminantClassifier, KernelDiscriminantMap, load, save
from optiscore.kernel.kernels import KERNELS
from optiscore.kernel.relevance import SEEING, LabelledColumns, _Regression, learn_weights, weights_of_importances
from optiscore.kernel.spectral_ridge import contrasts


def noisy_moons(n, d=20, seed=0):
    X, y = make_moons(n, noise=0.2, random_state=seed)
    return np.c_[X, np.random.default_rng(seed).normal(size=(n, d))], y


@pytest.mark.parametrize("name", SEEING)
def test_changes_of_left_out_predictions_are_those_of_refitting(name):
    X, y = blobs(3, n=60, d=4)
    known = LabelledColumns(X, y, 3)
    regression = _Regression.to(name, known)
    new = X[:, 1][np.roll(np.arange(60), 1)]
    found = regression.changes(X[None, :, 1, None] - X[:, 1], new[None, :, None] - X[:, 1], 4)[0]
    kernel, T = KERNELS[name], contrasts(3)[y]
    for i in range(0, 60, 11):
        others = np.delete(np.arange(60), i)
        K = kernel(X[others], X[others], regression.bandwidth)
        center = np.eye(59) - 1 / 59
        dual = center @ np.linalg.solve(
            center @ K @ center + regression.ridge * np.eye(59), T[others] - T[others].mean(axis=0)
        )
        changed = X[i].copy()
        changed[1] = new[i]
        rows = kernel(np.array([changed, X[i]]), X[others], regression.bandwidth)
        np.testing.assert_allclose(found[i], (rows[0] - rows[1]) @ dual, atol=2e-3)


def test_weights_of_importances():
    importances = np.random.default_rng(0).normal(size=(400, 3)) * [0.1, 0.1, 0.1] + [0.4, 0.1, -0.1]
    np.testing.assert_allclose(weights_of_importances(importances, 0.0) ** 2, [1, 0.25, 0], atol=0.03)
    assert 0 < weights_of_importances(importances, 1.0)[2] < 0.2
    assert weights_of_importances(np.zeros((5, 2)), 1.0).tolist() == [1, 1]


def test_noise_beside_what_matters_is_taken_out():
    X, y = noisy_moons(300)
    X_new, y_new = noisy_moons(1500, seed=1)
    plain, model = (KernelDiscriminantClassifier(relevance=r).fit(X, y) for r in (False, "auto"))
    losses = [log_loss(y_new, m.predict_proba(X_new)) for m in (plain, model)]
    assert losses[1] < 0.75 * losses[0]
    assert (plain.relevance_ == 1).all()
    assert model.relevance_.max() == 1
    assert model.relevance_[:2].min() > 2 * np.median(model.relevance_[2:])
    again = KernelDiscriminantClassifier().fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X_new), model.predict_proba(X_new))
    assert (KernelDiscriminantMap().fit(X, y).relevance_ == model.relevance_).all()


def test_where_weights_do_not_help_all_is_as_without_them():
    rng, n_used = np.random.default_rng(0), 0
    X, _ = blobs(2, n=150, d=4)
    for _ in range(12):
        noise = rng.integers(0, 2, 150)
        plain, auto = (KernelDiscriminantMap(["linear"], relevance=r).fit(X, noise) for r in (False, "auto"))
        if (auto.relevance_ == 1).all():
            np.testing.assert_array_equal(auto.transform(X), plain.transform(X))
        else:
            n_used += 1
    assert n_used <= 3, "of noise, no column matters"


def test_names_of_classes_do_not_matter():
    X, y = noisy_moons(200, d=6)
    model, renamed = (KernelDiscriminantMap(["rbf-1"], relevance=True).fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_allclose(renamed.relevance_, model.relevance_, atol=1e-5)


def test_units_and_order_of_columns_do_not_matter():
    X, y = noisy_moons(200, d=6)
    order = np.random.default_rng(1).permutation(8)
    model = KernelDiscriminantMap(["rbf-1"], relevance=True).fit(X, y)
    moved = KernelDiscriminantMap(["rbf-1"], relevance=True).fit(1e3 * X[:, order] + 7, y)
    np.testing.assert_allclose(moved.relevance_, model.relevance_[order], atol=1e-5)
    np.testing.assert_allclose(np.abs(moved.transform(1e3 * X[:, order] + 7)), np.abs(model.transform(X)), atol=1e-4)


def test_copies_of_a_column_have_about_the_weight_of_one():
    X, y = noisy_moons(400, d=8)
    one = KernelDiscriminantMap(["rbf-1"], relevance=True).fit(X, y).relevance_
    many = KernelDiscriminantMap(["rbf-1"], relevance=True).fit(np.c_[X, X[:, 0], X[:, 0]], y).relevance_
    # Squared weights are what distances sum.
    copies, second = np.square(many[[0, 10, 11]]).sum(), np.square(many[1])
    assert copies / second < 1.5 * np.square(one[0] / one[1])


def test_few_rows_and_one_column_are_left_alone():
    X, y = noisy_moons(50)
    assert (KernelDiscriminantClassifier("short", relevance=True).fit(X, y).relevance_ == 1).all()
    assert KernelDiscriminantClassifier("short").fit(np.tile(X[:, :1], (3, 1)), np.tile(y, 3)).relevance_.tolist() == [
        1
    ]


def test_a_loss_that_no_weights_lessen_gives_none():
    rng = np.random.default_rng(0)
    known = LabelledColumns(rng.normal(size=(120, 5)), rng.integers(0, 2, 120), 2)
    assert learn_weights(known, np.random.default_rng(0), believes=False) is None
    assert learn_weights(known, np.random.default_rng(0), believes=True).max() == 1


def test_files_and_errors(tmp_path):
    X, y = noisy_moons(200)
    model = KernelDiscriminantClassifier("short", relevance=True).fit(X, y)
    save(model, tmp_path / "model.skops")
    restored = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(restored.relevance_, model.relevance_)
    with pytest.raises(ValueError, match="relevance must be True, False or 'auto', got 'yes'"):
        KernelDiscriminantClassifier(relevance="yes").fit(X, y)
    wide = np.random.default_rng(0).normal(size=(80, 1001))
    with pytest.raises(ValueError, match="relevance is learned for at most 1,000 columns, here 1,001"):
        KernelDiscriminantMap(["linear"], relevance=True).fit(wide, np.arange(80) % 2)
    assert (KernelDiscriminantMap(["linear"]).fit(wide, np.arange(80) % 2).relevance_ == 1).all()

"""The kernel discriminant map: leaving out equals refitting, landmarks, names, types, and errors that help."""

import numpy as np
import pytest
from kinds import blobs
from scikit_learn_checks import scikit_learn_checks
from sklearn.datasets import load_iris, make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from optiscore import KernelDiscriminantMap, ModeratedDiscriminantAnalysis, load, save
from optiscore.kernel import problem as kernel_problem
from optiscore.kernel import search as kernel_search
from optiscore.kernel.kernels import KERNELS
from optiscore.kernel.spectral_ridge import contrasts


@scikit_learn_checks(KernelDiscriminantMap(), KernelDiscriminantMap("long", max_landmarks=10, random_state=0))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_new_rows_are_those_of_kernel_ridge_regression():
    X, y = load_iris(return_X_y=True)
    X, y, X_new = X[::2][:60], y[::2][:60], X[1::2]
    for name in ("product-gaussian", "rbf-1", "linear"):
        model = KernelDiscriminantMap([name], scalings=["standard"], ridges=[0.1]).fit(X, y)
        Z, Z_new = model.scaler_(X), model.scaler_(X_new)
        kernel, bandwidth = KERNELS[name], model.expansion_.bandwidth
        K, K_new = kernel(Z, Z, bandwidth), kernel(Z_new, Z, bandwidth)
        center = np.eye(60) - 1 / 60
        indicators = y[:, None] == [0, 1, 2]
        T = (indicators - indicators.mean(axis=0)) @ contrasts(3)
        centred = center @ K @ center
        oracle = KernelRidge(alpha=0.1 * np.trace(centred) / 60, kernel="precomputed").fit(centred, T)
        predicted = oracle.predict((K_new - K.mean(axis=0)) @ center)
        np.testing.assert_allclose(model.transform(X_new), predicted, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_contrasts_tell_the_indicators(n_classes):
    H = contrasts(n_classes)
    indicators = np.eye(n_classes)[np.random.default_rng(0).integers(0, n_classes, 40)]
    indicators -= indicators.mean(axis=0)
    np.testing.assert_allclose(2 * indicators @ H @ H.T, indicators, atol=1e-14)
    np.testing.assert_allclose(H.T @ H, np.eye(n_classes - 1) / 2, atol=1e-14)
    if n_classes == 2:
        np.testing.assert_allclose(indicators @ H, indicators[:, 1:])


def test_names_of_classes_rotate_the_coordinates():
    X, y = load_iris(return_X_y=True)
    plain, renamed = (KernelDiscriminantMap().fit_transform(X, labels) for labels in (y, (y + 2) % 3))
    np.testing.assert_allclose(renamed @ renamed.T, plain @ plain.T, atol=1e-9)


def test_the_linear_kernel_is_ridge_regression_on_the_features():
    X, y = blobs(2, n=60)
    model = KernelDiscriminantMap(["linear"], scalings=["standard"], ridges=[0.1]).fit(X, y)
    Z = model.scaler_(X)
    assert model.expansion_.anchors.shape == (3, 3)
    oracle = Ridge(alpha=0.1 * np.square(Z).sum() / 60).fit(Z, y == 1)
    np.testing.assert_allclose(model.transform(X)[:, 0], oracle.predict(Z) - (y == 1).mean(), atol=1e-9)
    # With more features than rows, the rows are fewer.
    wide = np.random.default_rng(0).normal(size=(20, 50))
    assert KernelDiscriminantMap(["linear"]).fit(wide, np.arange(20) % 2).expansion_.anchors.shape == (20, 50)


def test_left_out_coordinates_do_not_tell_the_label():
    """Of noise, nothing can be learned; the intercept of leave-one-out predictions would tell the label."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), (np.arange(300) % 3 == 0).astype(int)
    for ridge in (1e-3, 10.0):
        Z = KernelDiscriminantMap(["rbf-0.25"], ridges=[ridge]).fit_transform(X, y)
        assert LogisticRegression().fit(Z, y).score(Z, y) < 0.70


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_directions_without_a_prediction_do_not_tell_the_label(n_classes):
    """There, what leaving a row out takes away is all that is left; few features have fewer directions than classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 300)
    for X in (np.ones((300, 2)), rng.integers(0, 2, (300, 1)).astype(float), rng.normal(size=(300, 1))):
        Z = KernelDiscriminantMap().fit_transform(X, y)
        assert LogisticRegression(C=1e6).fit(Z / max(Z.std(), 1e-300), y).score(Z, y) < 1 / n_classes + 0.12
    means = rng.normal(size=(n_classes, 1))
    X, model = means[y] + 0.1 * rng.normal(size=(300, 1)), KernelDiscriminantMap(["linear"])
    Z, new = model.fit_transform(X, y), model.transform(means[y] + 0.1 * rng.normal(size=(300, 1)))
    assert np.linalg.matrix_rank(Z, tol=1e-9) == np.linalg.matrix_rank(new, tol=1e-9) == 1


def test_training_coordinates_look_like_those_of_new_rows():
    X, y = make_moons(150, noise=0.3, random_state=0)
    X_new, y_new = make_moons(3000, noise=0.3, random_state=1)
    model = KernelDiscriminantMap()
    left_out = model.fit_transform(X, y)
    for label in (0, 1):
        new = model.transform(X_new[y_new == label])
        assert left_out[y == label].mean() == pytest.approx(new.mean(), abs=0.05)
        assert left_out[y == label].std() == pytest.approx(new.std(), rel=0.2)
    # Those of the training rows themselves are too far apart.
    inside = model.transform(X)
    assert np.ptp([inside[y == c].mean() for c in (0, 1)]) > np.ptp([left_out[y == c].mean() for c in (0, 1)])


def test_curved_boundaries():
    X, y = make_moons(300, noise=0.2, random_state=0)
    X_new, y_new = make_moons(1000, noise=0.2, random_state=1)
    for behind in (
        ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap()),
        make_pipeline(KernelDiscriminantMap(), LogisticRegression()),
    ):
        assert behind.fit(X, y).score(X_new, y_new) > 0.95


def test_names_outputs_and_results():
    data = load_iris(as_frame=True)
    model = KernelDiscriminantMap("short").set_output(transform="pandas")
    frame = model.fit(data.data, data.target_names[data.target]).transform(data.data)
    assert frame.columns.tolist() == ["kerneldiscriminantmap0", "kerneldiscriminantmap1"]
    assert model.feature_names_in_.tolist() == data.data.columns.tolist()
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    results = model.results_
    assert {len(column) for column in results.values()} == {3 * 2 * 9}
    best = results["squared_error"].argmin()
    chosen = (model.kernel_, model.scaling_, model.ridge_)
    assert chosen == tuple(results[name][best] for name in ("kernel", "scaling", "ridge"))
    search = GridSearchCV(
        make_pipeline(KernelDiscriminantMap(), LogisticRegression()),
        {"kerneldiscriminantmap__kernels": ["short", ["linear"]]},
    )
    assert search.fit(data.data, data.target).best_score_ > 0.94


def test_float32_is_kept():
    X, y = blobs(3)
    double, single = KernelDiscriminantMap(), KernelDiscriminantMap()
    expected, found = double.fit_transform(X, y), single.fit_transform(X.astype(np.float32), y)
    assert found.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), double.transform(X), atol=1e-3)


def test_landmarks():
    X, y = make_moons(900, noise=0.2, random_state=0)
    X_new, y_new = make_moons(500, noise=0.2, random_state=1)
    exact = KernelDiscriminantMap(max_landmarks=None).fit(X, y)
    model = KernelDiscriminantMap(max_landmarks=100).fit(X, y)
    assert len(model.expansion_.anchors) == 100
    assert set(model.results_["n_rows"]) == {400, 900}
    accuracy = [((m.transform(X_new)[:, 0] > 0) == y_new).mean() for m in (exact, model)]
    assert accuracy[1] > accuracy[0] - 0.02
    again = KernelDiscriminantMap(max_landmarks=100).fit(X, y)
    np.testing.assert_array_equal(model.transform(X_new), again.transform(X_new))


@pytest.mark.parametrize("n", [700, 1700])
def test_all_rows_are_left_out_in_their_order(n):
    """Whether rows are compared with all rows or with landmarks: a row's coordinates are those of a map without it."""
    X, y = make_moons(n, noise=0.2, random_state=0)
    Z = KernelDiscriminantMap(["rbf-1"], scalings="standard", ridges=[0.1]).fit_transform(X, y)
    assert Z.shape == (n, 1)
    for i in (0, 5, n - 1):
        rest = np.delete(np.arange(n), i)
        model = KernelDiscriminantMap(["rbf-1"], scalings="standard", ridges=[0.1]).fit(X[rest], y[rest])
        assert Z[i, 0] == pytest.approx(model.transform(X[i : i + 1])[0, 0], abs=0.01)


def test_landmarks_hold_every_class():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [400, 3, 1])
    model = KernelDiscriminantMap(max_landmarks=10, random_state=0).fit(rng.normal(size=(404, 2)) + y[:, None], y)
    assert np.isfinite(model.transform(rng.normal(size=(5, 2)))).all()


def test_copies_constants_and_far_points():
    X, y = blobs(2, n=40)
    X = np.repeat(np.c_[X, np.full(40, 3.0)], 3, axis=0)
    y = np.repeat(y, 3)
    model = KernelDiscriminantMap("long", max_landmarks=30, random_state=0)
    assert np.isfinite(model.fit_transform(X, y)).all()
    assert np.isfinite(model.transform(1e300 * X)).all()
    same = KernelDiscriminantMap("long").fit_transform(np.ones((10, 2)), np.arange(10) % 2)
    np.testing.assert_allclose(same, 0, atol=1e-12)


def test_too_little_memory_is_said(monkeypatch):
    X, y = blobs(2)
    monkeypatch.setattr(kernel_search, "physical_memory", lambda: 1.5e5)
    with pytest.raises(MemoryError, match=r"120 rows compared with 120 would need .*smaller max_landmarks") as said:
        KernelDiscriminantMap(max_landmarks=None).fit(X, y)
    assert "0.00023 GB" in str(said.value)
    KernelDiscriminantMap(max_landmarks=19).fit(X, y)


def test_too_many_rows_are_refused_with_what_to_take(monkeypatch):
    X, y = blobs(2)
    monkeypatch.setattr(kernel_problem, "MOST_ROWS", 100)
    with pytest.raises(ValueError, match=r"there are 120 rows, and kernels take 100 at most.*ModeratedDiscriminant"):
        KernelDiscriminantMap().fit(X, y)


def test_progress_is_shown(capsys):
    X, y = blobs(2)
    KernelDiscriminantMap("short", verbose=1, max_landmarks=60, random_state=0).fit(X, y)
    shown = capsys.readouterr().out
    assert "kernels on some rows" in shown
    assert "6/6" in shown


def test_files(tmp_path):
    X, y = blobs(3)
    for model in (KernelDiscriminantMap(), ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap("short"))):
        model.fit(X, y)
        save(model, tmp_path / "map.skops")
        restored = load(tmp_path / "map.skops")
        method = "transform" if hasattr(model, "transform") else "predict_proba"
        np.testing.assert_array_equal(getattr(restored, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernels": "large"}, r"kernels must be one of \['short', 'default', 'long'\] or a list of names"),
        ({"kernels": ["cubic"]}, "kernels must be a list of names out of"),
        ({"kernels": []}, "kernels must be a list of names"),
        ({"kernels": 3}, "kernels must be a list of names"),
        ({"scalings": ["robust"]}, "scalings must be a list of names out of"),
        ({"ridges": [0, 1]}, "ridges must be None or numbers from 1e-12 to 1e12"),
        ({"ridges": "auto"}, "ridges must be None or numbers from"),
        ({"max_landmarks": 1}, "max_landmarks must be 'auto', an integer >= 2 or None"),
        ({"max_landmarks": 2.5}, "max_landmarks must be 'auto', an integer"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    X, y = blobs(2)
    with pytest.raises(ValueError, match=words):
        KernelDiscriminantMap(**parameters).fit(X, y)


def test_bad_labels_are_named():
    X, y = blobs(2)
    with pytest.raises(ValueError, match="at least two classes"):
        KernelDiscriminantMap().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="cannot be compared"):
        KernelDiscriminantMap().fit(X, np.array(["a", None] * (len(X) // 2), dtype=object))
    with pytest.raises(ValueError, match="sample_weight"):
        KernelDiscriminantMap().fit(X, y, sample_weight=np.full(len(X), np.nan))

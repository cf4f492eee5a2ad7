"""Arrays of other libraries: the same results as NumPy's, in the same library and on the same device."""

import array_api_strict
import numpy as np
import pytest
from sklearn import config_context
from sklearn.utils._array_api import move_estimator_to
from sklearn.utils.estimator_checks import estimator_checks_generator

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV, array_api, device_model, device_sums
from optiscore.io import load, save

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
METHODS = ("decision_function", "predict_proba", "predict_log_proba", "certified_radius")
PAIRS = ("predict_proba_bounds", "log_score_bounds")


@pytest.fixture(params=["array_api_strict", "array_api_strict, second device", "torch", "torch, as if not on the host"])
def library(request, monkeypatch):
    """Two functions: from NumPy's arrays to those of a library, and back; scikit-learn dispatches to it."""
    if "not on the host" in request.param:
        # What a tensor on an accelerator meets, on tensors that every machine has.
        monkeypatch.setattr(array_api, "is_on_host", array_api.is_numpy)
    device = "device1" if "second" in request.param else "CPU_DEVICE"
    with config_context(array_api_dispatch=True):
        yield _torch() if "torch" in request.param else _strict(device)


def _torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; CI installs its CPU build")
    return lambda a: torch.asarray(np.array(a)), lambda a: a.numpy()


def _strict(name):
    device, host = array_api_strict.Device(name), array_api_strict.Device("CPU_DEVICE")
    return (
        lambda a: array_api_strict.asarray(np.array(a), device=device),
        lambda a: np.asarray(array_api_strict.asarray(a, device=host)),
    )


def make_data(n_classes=2, n=400, d=4, dtype="float64"):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    X = rng.standard_t(5, size=(n, d)) * (1 + 0.2 * y)[:, None] + 0.7 * y[:, None]
    return X.astype(dtype), y


CHECKED = (
    OptimisticScoreClassifier(),
    OptimisticScoreClassifier("nonparametric", threshold="minimax"),
    OptimisticScoreClassifierCV(radii=[0, 0.1]),
)


@pytest.mark.parametrize(
    ("estimator", "check"),
    # The other checks run with those of each estimator.
    [pair for model in CHECKED for pair in estimator_checks_generator(model) if "array_api" in str(pair[1])],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("threshold", ["tuned", "minimax"])
@pytest.mark.parametrize("score", ["gaussian", "nonparametric", "fixed-mean"])
def test_agreement_with_numpy(library, score, threshold, n_classes, dtype):
    there, back = library
    X, y = make_data(n_classes, dtype=dtype)
    expected = OptimisticScoreClassifier(score, threshold=threshold).fit(X, y)
    model = OptimisticScoreClassifier(score, threshold=threshold).fit(there(X), there(y))
    tolerance = TOLERANCE[dtype]
    for name in ("means_", "covariances_", "priors_", "radii_", "threshold_"):
        np.testing.assert_allclose(back(getattr(model, name)), getattr(expected, name), rtol=tolerance, atol=tolerance)
    sample = there(X)
    assert (back(model.predict(sample)) == expected.predict(X)).all()
    assert (back(model.predict_set(sample)) == expected.predict_set(X)).all()
    found = {name: [getattr(model, name)(sample)] for name in METHODS} | {n: getattr(model, n)(sample) for n in PAIRS}
    for name, arrays in found.items():
        wanted = getattr(expected, name)(X)
        for a, b in zip(arrays, wanted if name in PAIRS else [wanted], strict=True):
            assert type(a) is type(sample)
            assert a.dtype == sample.dtype
            assert a.device == sample.device
            np.testing.assert_allclose(back(a), b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("radius", [0, 1e-6, 0.3, 50.0])
@pytest.mark.parametrize("d", [1, 7])
def test_radii_and_dimensions(library, radius, d):
    there, back = library
    X, y = make_data(d=d)
    for score in ("gaussian", "nonparametric", "fixed-mean"):
        settings = {"score": score, "radius": radius, "threshold": "minimax"}
        expected = OptimisticScoreClassifier(**settings).fit(X, y).log_score_bounds(X)
        found = OptimisticScoreClassifier(**settings).fit(there(X), there(y)).log_score_bounds(there(X))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(back(a), b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_far_points_are_judged_as_by_numpy(library, dtype):
    there, back = library
    X, y = make_data(dtype=dtype)
    far = np.concatenate([X[:5], X[:5] * dtype_max(dtype), X[5:10] * 1e9]).astype(dtype)
    expected = OptimisticScoreClassifier(threshold="minimax").fit(X, y)
    model = OptimisticScoreClassifier(threshold="minimax").fit(there(X), there(y))
    assert (back(model.predict(there(far))) == expected.predict(far)).all()
    assert np.isfinite(back(model.predict_proba(there(far)))).all()


def dtype_max(dtype):
    return float(np.finfo(dtype).max) ** 0.6


def test_weights_strings_and_blocks(library):
    there, back = library
    X, y = make_data(3)
    weight = np.random.default_rng(1).exponential(size=len(X)) * (np.arange(len(X)) % 5 > 0)
    labels = np.array(["ash", "birch", "cedar"])[y]
    expected = OptimisticScoreClassifier(threshold="minimax").fit(X, labels, weight)
    whole = OptimisticScoreClassifier(threshold="minimax").fit(there(X), labels, there(weight))
    np.testing.assert_allclose(back(whole.covariances_), expected.covariances_, rtol=1e-10)
    assert (whole.predict(there(X)) == expected.predict(X)).all()
    parts = OptimisticScoreClassifier(threshold="minimax")
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 7):
        parts.partial_fit(there(X[rows]), labels[rows], np.unique(labels), there(weight[rows]))
    np.testing.assert_allclose(back(parts.covariances_), expected.covariances_, rtol=1e-10)
    numbered = OptimisticScoreClassifier(threshold="minimax").partial_fit(there(X), there(y), there(np.arange(3)))
    assert numbered.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e10])
def test_devices_without_double_precision(scale):
    device = array_api_strict.Device("no_float64")
    X, y = make_data(dtype="float32")
    X = (X * np.float32(scale)).astype(np.float32)
    X[:, 1] = np.float32(scale)
    expected = OptimisticScoreClassifier(threshold="minimax").fit(X, y)
    with config_context(array_api_dispatch=True):
        samples = array_api_strict.asarray(X, device=device)
        model = OptimisticScoreClassifier(threshold="minimax").fit(samples, y)
        predicted = model.predict(samples)
        found = array_api_strict.asarray(model.means_, device=array_api_strict.Device("CPU_DEVICE"))
    np.testing.assert_allclose(np.asarray(found), expected.means_, rtol=1e-4)
    host = array_api_strict.asarray(predicted, device=array_api_strict.Device("CPU_DEVICE"))
    assert (np.asarray(host) == expected.predict(X)).mean() > 0.99
    learned, wanted = model._learned.model.moments.covariances, expected.covariances_
    assert np.abs(learned - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_more_rows_than_a_block_of_the_device(library, monkeypatch):
    monkeypatch.setattr(device_sums, "_BUFFER_BYTES", 3000)
    monkeypatch.setattr(device_model, "_ROWS", 64)
    there, back = library
    X, y = make_data()
    expected = OptimisticScoreClassifier().fit(X, y)
    model = OptimisticScoreClassifier().fit(there(X), there(y))
    np.testing.assert_allclose(back(model.covariances_), expected.covariances_, rtol=1e-10)
    assert (back(model.predict(there(X))) == expected.predict(X)).all()
    np.testing.assert_allclose(back(model.predict_proba(there(X))), expected.predict_proba(X), rtol=1e-10, atol=1e-10)


def test_labels_keep_their_type(library):
    there, back = library
    X, y = make_data()
    for dtype in ("float32", "float64", "int32", "int64"):
        labels = OptimisticScoreClassifier().fit(there(X), there(y.astype(dtype))).predict(there(X))
        assert back(labels).dtype == dtype


def test_radii_of_the_samples_at_hand(library):
    there, back = library
    X, y = make_data()
    expected = OptimisticScoreClassifier(radius="limit").fit(X, y)
    np.testing.assert_allclose(
        back(OptimisticScoreClassifier(radius="limit").fit(there(X), there(y)).radii_), expected.radii_, rtol=1e-10
    )


def test_files_and_moves(library, tmp_path):
    there, back = library
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(there(X), there(y))
    save(model, tmp_path / "model.skops")
    on_host = load(tmp_path / "model.skops")
    assert isinstance(on_host.means_, np.ndarray)
    assert (on_host.predict(X) == back(model.predict(there(X)))).all()
    moved = move_estimator_to(on_host, *namespace_and_device(there(X)))
    assert (back(moved.predict(there(X))) == on_host.predict(X)).all()


def namespace_and_device(array):
    from sklearn.utils._array_api import get_namespace_and_device

    xp, _, device = get_namespace_and_device(array)
    return xp, device


def test_without_dispatch_everything_is_numpy(library):
    there, _ = library
    X, y = make_data()
    try:
        np.asarray(there(X))
    except RuntimeError:
        pytest.skip("arrays on this device do not convert to NumPy's by themselves")
    with config_context(array_api_dispatch=False):
        model = OptimisticScoreClassifier().fit(there(X), there(y))
        assert isinstance(model.predict(there(X)), np.ndarray)


# PyTorch announces a change of its own to scikit-learn's call.
@pytest.mark.filterwarnings("ignore:torch.asarray:UserWarning")
@pytest.mark.parametrize("on_host", [True, False])
def test_tensors_that_ask_for_gradients(monkeypatch, on_host):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; CI installs its CPU build")
    if not on_host:
        monkeypatch.setattr(array_api, "is_on_host", array_api.is_numpy)
    X, y = make_data()
    with config_context(array_api_dispatch=True):
        samples = torch.asarray(X).requires_grad_()
        model = OptimisticScoreClassifier().fit(samples, torch.asarray(y))
        proba = model.predict_proba(samples)
    assert not proba.requires_grad
    np.testing.assert_allclose(proba.numpy(), OptimisticScoreClassifier().fit(X, y).predict_proba(X), rtol=1e-10)


def test_another_library_than_that_of_the_fit_is_refused(library):
    there, _ = library
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(there(X), there(y))
    with pytest.raises(ValueError, match="same namespace"):
        model.predict_proba_bounds(X)

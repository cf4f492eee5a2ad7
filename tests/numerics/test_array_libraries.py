"""Arrays of other libraries: the same results as NumPy's, in the same library and on the same device.

scikit-learn's own checks of array libraries run with those of each estimator.
"""

from importlib.util import find_spec

import array_api_strict
import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.utils import _array_api

from optiscore import OptimisticScoreClassifier, load, save
from optiscore.numerics import arrays, backend, blocks

if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7):
    pytest.skip("array libraries are supported from scikit-learn 1.7 on", allow_module_level=True)

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
METHODS = ("decision_function", "predict_proba", "predict_log_proba", "certified_factor")
PAIRS = ("predict_proba_bounds", "log_score_bounds")


# PyTorch is too large to be installed for a newcomer's tests; CI installs its CPU build.
LIBRARIES = ["array_api_strict", "array_api_strict, second device"]
if find_spec("torch"):
    LIBRARIES += ["torch", "torch, as if not on the host"]


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    """Two functions: from NumPy's arrays to those of a library, and back; scikit-learn dispatches to it."""
    if "not on the host" in request.param:
        # What a tensor on an accelerator meets, on tensors that every machine has.
        monkeypatch.setattr(arrays, "is_on_host", lambda array: isinstance(array, np.ndarray))
    device = "device1" if "second" in request.param else "CPU_DEVICE"
    with config_context(array_api_dispatch=True):
        yield _torch() if "torch" in request.param else _strict(device)


def _torch():
    import torch

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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["tuned", "minimax"])
@pytest.mark.parametrize("likelihood", ["gaussian", "nonparametric", "fixed-mean"])
def test_agreement_with_numpy(library, likelihood, rule, n_classes, dtype):
    there, back = library
    X, y = make_data(n_classes, dtype=dtype)
    expected = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(there(X), there(y))
    tolerance = TOLERANCE[dtype]
    for name in ("means_", "covariances_", "priors_", "radii_", "offsets_"):
        np.testing.assert_allclose(back(getattr(model, name)), getattr(expected, name), rtol=tolerance, atol=tolerance)
    sample = there(X)
    assert (back(model.predict(sample)) == expected.predict(X)).all()
    assert (back(model.undominated(sample)) == expected.undominated(X)).all()
    found = {name: [getattr(model, name)(sample)] for name in METHODS} | {n: getattr(model, n)(sample) for n in PAIRS}
    for name, parts in found.items():
        wanted = getattr(expected, name)(X)
        for a, b in zip(parts, wanted if name in PAIRS else [wanted], strict=True):
            assert type(a) is type(sample)
            assert a.dtype == sample.dtype
            assert a.device == sample.device
            np.testing.assert_allclose(back(a), b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("radius", [0, 1e-6, 0.3, 50.0])
@pytest.mark.parametrize("d", [1, 7])
def test_radii_and_dimensions(library, radius, d):
    there, back = library
    X, y = make_data(d=d)
    for likelihood in ("gaussian", "nonparametric", "fixed-mean"):
        settings = {"likelihood": likelihood, "radius": radius, "decision_rule": "minimax"}
        expected = OptimisticScoreClassifier(**settings).fit(X, y).log_score_bounds(X)
        found = OptimisticScoreClassifier(**settings).fit(there(X), there(y)).log_score_bounds(there(X))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(back(a), b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_far_points_are_judged_as_by_numpy(library, dtype):
    there, back = library
    X, y = make_data(dtype=dtype)
    far = np.concatenate([X[:5], X[:5] * dtype_max(dtype), X[5:10] * 1e9]).astype(dtype)
    expected = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(there(X), there(y))
    assert (back(model.predict(there(far))) == expected.predict(far)).all()
    assert np.isfinite(back(model.predict_proba(there(far)))).all()


def dtype_max(dtype):
    return float(np.finfo(dtype).max) ** 0.6


def test_weights_strings_and_blocks(library):
    there, back = library
    X, y = make_data(3)
    weight = np.random.default_rng(1).exponential(size=len(X)) * (np.arange(len(X)) % 5 > 0)
    labels = np.array(["ash", "birch", "cedar"])[y]
    expected = OptimisticScoreClassifier(decision_rule="minimax").fit(X, labels, weight)
    whole = OptimisticScoreClassifier(decision_rule="minimax").fit(there(X), labels, there(weight))
    np.testing.assert_allclose(back(whole.covariances_), expected.covariances_, rtol=1e-10)
    assert (whole.predict(there(X)) == expected.predict(X)).all()
    parts = OptimisticScoreClassifier(decision_rule="minimax")
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 7):
        parts.partial_fit(there(X[rows]), labels[rows], np.unique(labels), there(weight[rows]))
    np.testing.assert_allclose(back(parts.covariances_), expected.covariances_, rtol=1e-10)
    numbered = OptimisticScoreClassifier(decision_rule="minimax").partial_fit(there(X), there(y), there(np.arange(3)))
    assert numbered.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e10])
def test_devices_without_double_precision(scale):
    device = array_api_strict.Device("no_float64")
    X, y = make_data(dtype="float32")
    X = (X * np.float32(scale)).astype(np.float32)
    X[:, 1] = np.float32(scale)
    expected = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    with config_context(array_api_dispatch=True):
        samples = array_api_strict.asarray(X, device=device)
        model = OptimisticScoreClassifier(decision_rule="minimax").fit(samples, y)
        predicted = model.predict(samples)
        found = array_api_strict.asarray(model.means_, device=array_api_strict.Device("CPU_DEVICE"))
    np.testing.assert_allclose(np.asarray(found), expected.means_, rtol=1e-4)
    host = array_api_strict.asarray(predicted, device=array_api_strict.Device("CPU_DEVICE"))
    assert (np.asarray(host) == expected.predict(X)).mean() > 0.99
    learned = np.asarray(array_api_strict.asarray(model.covariances_, device=array_api_strict.Device("CPU_DEVICE")))
    wanted = expected.covariances_
    assert np.abs(learned - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_more_rows_than_a_block_of_the_device(library, monkeypatch):
    monkeypatch.setattr(backend, "_DEVICE_BUFFER_BYTES", 3000)
    monkeypatch.setattr(blocks, "_DEVICE_ROWS", 64)
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
    expected = OptimisticScoreClassifier(radius="empirical").fit(X, y)
    np.testing.assert_allclose(
        back(OptimisticScoreClassifier(radius="empirical").fit(there(X), there(y)).radii_), expected.radii_, rtol=1e-10
    )


def test_files_and_moves(library, tmp_path):
    there, back = library
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(there(X), there(y))
    save(model, tmp_path / "model.skops")
    on_host = load(tmp_path / "model.skops")
    assert isinstance(on_host.means_, np.ndarray)
    assert (on_host.predict(X) == back(model.predict(there(X)))).all()
    # Newer versions of scikit-learn can bring an estimator to a device.
    move_estimator_to = getattr(_array_api, "move_estimator_to", None)
    if move_estimator_to is not None:
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
        monkeypatch.setattr(arrays, "is_on_host", lambda array: isinstance(array, np.ndarray))
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

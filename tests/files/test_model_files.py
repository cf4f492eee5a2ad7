"""Model files: the same predictions bit by bit, and nothing runs that should not."""

import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
import skops.io
from kinds import SETTINGS, blobs
from mutations import KINDS_OF_FILES, arrays_of, npy, rewrite, schema_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from optiscore import (
    KernelDiscriminantClassifier,
    Likelihood,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
    RidgeCovariance,
    load,
    save,
)
from optiscore.files.states import to_states
from optiscore.metrics import log_losses
from optiscore.scores import LIKELIHOODS

METHODS = ("predict", "predict_proba", "decision_function", "certified_factor", "undominated")


def assert_same(a, b, X):
    for name in METHODS:
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name)(X), getattr(b, name)(X))


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_round_trip_is_bit_identical(tmp_path, likelihood, rule, n_classes):
    X, y = blobs(n_classes)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, labels)
    save(model, tmp_path / "model.skops")
    restored = load(tmp_path / "model.skops")
    assert restored.get_params().keys() == model.get_params().keys()
    assert_same(model, restored, X)
    assert_same(model, pickle.loads(pickle.dumps(model)), X)


def test_pipelines_and_searches(tmp_path):
    X, y = blobs(2)
    search = OptimisticScoreClassifierCV(["gaussian", "nonparametric"], radii=[0, 1]).fit(X, y)
    ridge = OptimisticScoreClassifier(covariance_estimator=RidgeCovariance(0.5)).fit(X, y)
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), OptimisticScoreClassifier()).fit(X, y)
    for model in (search, ridge, pipeline):
        save(model, tmp_path / "model.skops")
        assert_same(model, load(tmp_path / "model.skops"), X)
    assert load(tmp_path / "model.skops").steps[0][0] == "simpleimputer"


def test_single_precision(tmp_path):
    X, y = blobs(2)
    model = OptimisticScoreClassifier().fit(X.astype(np.float32), y)
    save(model, tmp_path / "model.skops")
    assert_same(model, load(tmp_path / "model.skops"), X.astype(np.float32))


class Bomb:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (self.trace,)


def test_pickles_are_refused_and_do_not_run(tmp_path):
    trace = tmp_path / "trace"
    (tmp_path / "model.skops").write_bytes(pickle.dumps(Bomb(str(trace))))
    with pytest.raises(ValueError, match="pickle files are never opened"):
        load(tmp_path / "model.skops")
    assert not trace.exists()


def test_untrusted_types_are_refused_and_do_not_run(tmp_path):
    trace = tmp_path / "trace"
    bomb = skops.io.dumps({"format": 1, "optiscore": "0", "model": Bomb(str(trace))})
    assert not trace.exists()
    (tmp_path / "model.skops").write_bytes(bomb)
    with pytest.raises(ValueError, match="not trusted and is refused"):
        load(tmp_path / "model.skops")
    assert not trace.exists()


def test_what_cannot_be_read_is_not_written(tmp_path):
    X, y = blobs(2)
    gaussian = LIKELIHOODS["gaussian"]
    own = Likelihood("own", gaussian.optimistic, gaussian.pessimistic)
    with pytest.raises(ValueError, match=r"not trusted.*registry.Likelihood"):
        save(OptimisticScoreClassifier(own).fit(X, y), tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    X, y = blobs(2)
    save(OptimisticScoreClassifier().fit(X, y), path)
    whole = path.read_bytes()
    for damaged in (whole[:100], b"", b"hello"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a model file"):
            load(path)
    for other in ({"a": 1}, RandomForestClassifier()):
        path.write_bytes(skops.io.dumps(other))
        with pytest.raises(ValueError, match="not a model file of optiscore"):
            load(path)
    path.write_bytes(skops.io.dumps({"format": 99, "optiscore": "9.0", "model": None}))
    with pytest.raises(ValueError, match=r"optiscore 9.0 in another format: update"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{")
    with pytest.raises(ValueError, match="damaged"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")


def rewritten(content, change):
    """The file with its schema changed."""
    schema = schema_of(content)
    change(schema["content"])
    return rewrite(content, {"schema.json": json.dumps(schema).encode()})


@pytest.fixture
def content(tmp_path):
    X, y = blobs(2)
    save(OptimisticScoreClassifier().fit(X, y), tmp_path / "model.skops")
    return (tmp_path / "model.skops").read_bytes()


def test_a_method_labelled_as_something_trusted_is_refused(tmp_path):
    """In skops 0.11 such a file returned the globals of a module."""
    plain = skops.io.dumps({"format": 1, "optiscore": "0", "model": log_losses})

    def hide(members):
        members["model"] = {
            "__class__": "log_losses",
            "__module__": "optiscore.metrics",
            "__loader__": "MethodNode",
            "__id__": 1,
            "content": {"func": "__globals__", "obj": members["model"]},
        }

    crafted = rewritten(plain, hide)
    # Two lines of defence, of which either would do.
    assert "optiscore.metrics.log_losses.__globals__" in skops.io.get_untrusted_types(data=crafted)
    (tmp_path / "model.skops").write_bytes(crafted)
    with pytest.raises(ValueError, match="holds a MethodNode, which no model file has"):
        load(tmp_path / "model.skops")


def test_archives_that_unpack_to_more_than_they_are(tmp_path, content):
    path, (member, array) = tmp_path / "model.skops", next(iter(arrays_of(content).items()))
    zeros = npy(np.zeros(10_000_000))
    cases = {
        "compressed": rewrite(content, {member: zeros}, zipfile.ZIP_DEFLATED),
        "is not what": rewrite(content, {member: npy(array)[:-8]}),
        "neither the schema nor an array": rewrite(content, {"more.npz": b"PK"}),
        "holds objects": rewrite(content, {member: npy(np.zeros(2)).replace(b"<f8", b"|O8")}),
    }
    huge = npy(np.zeros(2)).replace(b"(2,), }            ", b"(2000000000000,), }")
    cases[r"which is not what float64\[2000000000000\]"] = rewrite(content, {member: huge})
    for message, crafted in cases.items():
        path.write_bytes(crafted)
        assert len(crafted) < 1_000_000
        tracemalloc.start()
        with pytest.raises(ValueError, match=message):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5_000_000


@pytest.mark.parametrize(
    "scalar",
    [np.float64(0.5), np.float32(0.5), np.longlong(3), np.bool_(True), np.str_("ab"), np.datetime64("2020-01-01", "D")],
    ids=lambda scalar: type(scalar).__name__,
)
def test_scalars_are_of_their_type(tmp_path, scalar):
    """A scalar is stored as an array without dimensions; skops casts whatever array stands there."""
    path = tmp_path / "model.skops"
    save({"note": scalar}, path)
    assert load(path)["note"] == scalar
    content = path.read_bytes()
    (member,) = (name for name, array in arrays_of(content).items() if array.shape == ())
    for other in (np.full((), 1j), np.array(["x", "y"])):
        path.write_bytes(rewrite(content, {member: npy(other)}))
        if other.ndim or scalar.dtype.kind in "biuf":
            with pytest.raises(ValueError, match="cannot be what it stands for"):
                load(path)


def test_values_that_cannot_be(tmp_path):
    """Single members of a model replaced; the message names the member."""
    X, y = blobs(2)
    model = OptimisticScoreClassifier().fit(X, y)
    path = tmp_path / "model.skops"
    for name, value in (
        ("priors_", np.array([np.nan, 1.0])),
        ("priors_", np.array([-0.5, 1.5])),
        ("priors_", np.array([0.5, 0.25, 0.25])),
        ("offsets_", np.array([np.nan, 0.0])),
        ("classes_", np.array([1, 0])),
        ("classes_", np.array([1, 1])),
        ("classes_", np.array([0.0, np.nan])),
        ("classes_", np.array([0, 1, 2])),
        ("means_", np.full(model.means_.shape, np.nan)),
        ("covariances_", -model.covariances_),
        ("radii_", np.array(0.1)),
        ("radii_", np.array([0.1, -0.1])),
        ("likelihood_", "gamma"),
        ("decision_rule_", "best"),
        ("n_features_in_", 7),
    ):
        broken = pickle.loads(pickle.dumps(model))
        broken.__dict__[name] = value
        path.write_bytes(skops.io.dumps({"format": 2, "optiscore": "0", "model": to_states(broken)}))
        with pytest.raises(ValueError, match=r"is refused: .*") as refusal:
            load(path)
        assert "\n" not in str(refusal.value)
        # Where two members do not go together, either may be the one that is named.
        named = {"n_features_in_": "means_", "classes_": "priors_"}.get(name, name)
        assert name.rstrip("_") in str(refusal.value) or named in str(refusal.value)
        path.unlink()
        with pytest.raises(ValueError, match="cannot be saved"):
            save(broken, path)
        assert not path.exists()


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_models_of_every_kind_come_back(tmp_path, kind):
    X, y = blobs(3)
    model = KINDS_OF_FILES[kind](X, y)
    save(model, tmp_path / "model.skops")
    restored = load(tmp_path / "model.skops")
    question = "predict_proba" if hasattr(model, "predict_proba") else "transform"
    np.testing.assert_array_equal(getattr(model, question)(X), getattr(restored, question)(X))


def test_files_in_folders_that_are_not_there(tmp_path):
    X, y = blobs(2)
    with pytest.raises(ValueError, match="there is no folder"):
        save(OptimisticScoreClassifier().fit(X, y), tmp_path / "absent" / "model.skops")
    assert list(tmp_path.iterdir()) == []


def pipelines():
    """Legitimate transformers in front whose members are not what one would think first."""
    X, _ = blobs(2)
    holes, empty = X.copy(), X.copy()
    holes[::7, 1] = empty[:, 1] = np.nan
    text = np.array([None, "b", "a", "c"], dtype=object)[np.arange(len(X)) % 4][:, None]
    floats = np.array([np.nan, 2.0, 1.0])[np.arange(len(X)) % 3][:, None]
    classifier = OptimisticScoreClassifier()
    order = np.array(["lo", "mid", "hi"], dtype=object)[np.arange(len(X)) % 3][:, None]
    state = np.random.RandomState(0)
    return {
        "missing category": (make_pipeline(OneHotEncoder(sparse_output=False), classifier), text),
        "missing number": (make_pipeline(OneHotEncoder(sparse_output=False), classifier), floats),
        "given order": (
            make_pipeline(OneHotEncoder(categories=[["lo", "mid", "hi"]], sparse_output=False), classifier),
            order,
        ),
        "target encoder": (make_pipeline(TargetEncoder(), classifier), text),
        "constant": (make_pipeline(SimpleImputer(strategy="constant", fill_value=0), classifier), holes),
        "most frequent": (make_pipeline(SimpleImputer(strategy="most_frequent"), classifier), X.round().astype(int)),
        "empty column": (make_pipeline(SimpleImputer(), classifier), empty),
        "scaled empty column": (make_pipeline(StandardScaler(), SimpleImputer(), classifier), empty),
        "random state": (KernelDiscriminantClassifier("short", random_state=state), X),
        "tiny weights": (OptimisticScoreClassifier(decision_rule="minimax"), X),
    }


@pytest.mark.parametrize("name", pipelines())
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_legitimate_models_are_not_refused(tmp_path, name):
    model, X = pipelines()[name]
    y = blobs(2)[1]
    with np.errstate(invalid="ignore"):
        if name == "tiny weights":
            model.fit(X, y, sample_weight=np.full(len(X), 1e-20))
        else:
            model.fit(X, y)
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(X), model.predict_proba(X))


def test_dropped_categories_beside_rare_ones(tmp_path):
    cells = np.array([["yes"]] * 2 + [["no"]] * 58, dtype=object)
    labels = np.arange(60) % 2
    encoder = OneHotEncoder(
        drop="if_binary", min_frequency=3, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    model = make_pipeline(encoder, ModeratedDiscriminantAnalysis(feature_map=None)).fit(cells, labels)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(cells), model.predict_proba(cells))

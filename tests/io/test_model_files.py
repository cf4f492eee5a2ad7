"""Model files: the same predictions bit by bit, and nothing runs that should not."""

import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from kinds import SETTINGS, blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from optiscore import Likelihood, OptimisticScoreClassifier, OptimisticScoreClassifierCV, RidgeCovariance
from optiscore.io import load, save
from optiscore.scores import LIKELIHOODS

METHODS = ("predict", "predict_proba", "decision_function", "certified_factor", "predict_set")


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
    with pytest.raises(ValueError, match=r"optiscore 9.0 in a newer format"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{")
    with pytest.raises(ValueError, match="damaged"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")

"""Answers depend on the model and the row alone: not on earlier questions, other rows, threads, files or names."""

import warnings

import numpy as np
import pytest
from kinds import blobs
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from optiscore import (
    CrossFitClassifier,
    KernelDiscriminantClassifier,
    KernelDiscriminantMap,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
    load,
    save,
)
from optiscore.numerics import blocks

ESTIMATORS = {
    "tuned": OptimisticScoreClassifier(),
    "minimax": OptimisticScoreClassifier(decision_rule="minimax", pooling=0.5),
    "nonparametric": OptimisticScoreClassifier("nonparametric", decision_rule="minimax"),
    "search": OptimisticScoreClassifierCV(radii=[0.1, 1], poolings=[0, 0.5]),
    "moderated": ModeratedDiscriminantAnalysis(),
    "own": ModeratedDiscriminantAnalysis("own", feature_map=None),
    "shared": ModeratedDiscriminantAnalysis("shared", feature_map=None),
    "kernel": KernelDiscriminantClassifier(),
    "one map": KernelDiscriminantClassifier("short", average=False),
    "kernel map": KernelDiscriminantMap(),
    "cross-fitted": CrossFitClassifier(
        [("line", LinearDiscriminantAnalysis()), ("moderated", ModeratedDiscriminantAnalysis())], cv=4, random_state=0
    ),
}
SETS = {"iris": load_iris, "wine": load_wine}
METHODS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "undominated", "certified_factor"),
    *("log_score_bounds", "predict_proba_bounds", "predict_set", "nominal_proba", "predict_proba_interval"),
    *("likelihood_ratio", "stability", "typicality", "score_samples", "transform"),
)


def answers(model, X):
    """All arrays that a model says of samples, by method."""
    found = {}
    for method in METHODS:
        if hasattr(model, method):
            said = getattr(model, method)(X)
            found |= {(method, i): part for i, part in enumerate(said if isinstance(said, tuple) else (said,))}
    return found


def assert_close(found, expected, tolerance=1e-12):
    """Numbers but for rounding, labels and flags exactly."""
    assert found.keys() == expected.keys()
    for name, values in found.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, expected[name], rtol=tolerance, atol=tolerance, err_msg=str(name))
        else:
            np.testing.assert_array_equal(values, expected[name], err_msg=str(name))


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name], err_msg=str(name))


@pytest.fixture(scope="module", params=["blobs", "iris", "wine"])
def problem(request):
    """Training samples, labels and other samples, some of them far out."""
    X, y = blobs(3) if request.param == "blobs" else SETS[request.param](return_X_y=True)
    rows = np.concatenate([X[1::2][:30], X.mean(axis=0) + (X[:4] - X.mean(axis=0)) * [[3], [30], [1e3], [1e6]]])
    return X[::2], y[::2], rows


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_first_and_the_hundredth_answer_are_the_same_bits(name, problem):
    X, y, rows = problem
    model = clone(ESTIMATORS[name]).fit(X, y)
    first = answers(model, rows)
    ask = model.transform if name == "kernel map" else model.predict_proba
    for i in range(100):
        ask(rows[i % len(rows) :])
    assert_same_bits(answers(model, rows), first)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_answers_with_the_same_bits(name, problem, tmp_path):
    X, y, rows = problem
    model = clone(ESTIMATORS[name]).fit(X, y)
    save(model, tmp_path / "model.skops")
    assert_same_bits(answers(load(tmp_path / "model.skops"), rows), answers(model, rows))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_row_alone_is_answered_as_among_others(name, problem, monkeypatch):
    """Whatever the batch, the block and the number of threads."""
    X, y, rows = problem
    model = clone(ESTIMATORS[name]).fit(X, y)
    together = answers(model, rows)
    alone = [answers(model, row[None]) for row in rows]
    assert_close({key: np.concatenate([each[key] for each in alone]) for key in together}, together)
    assert_close({key: values[::-1] for key, values in answers(model, rows[::-1]).items()}, together)
    monkeypatch.setattr(blocks, "_MAX_ROWS", 7)
    assert_close(answers(model, rows), together)
    monkeypatch.setattr(blocks, "n_threads", lambda _: 2)
    assert_close(answers(model, rows), together)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "kernel map"])
def test_renaming_classes_renames_answers_and_nothing_else(name, problem):
    X, y, rows = problem
    labels = np.array(["c", "a", "b"])
    place = np.searchsorted(np.sort(labels), labels)
    plain, renamed = clone(ESTIMATORS[name]).fit(X, y), clone(ESTIMATORS[name]).fit(X, labels[y])
    expected, found = answers(plain, rows), answers(renamed, rows)
    for (method, part), values in expected.items():
        other = found[method, part]
        if values.dtype.kind in "iu":
            np.testing.assert_array_equal(other, labels[values], err_msg=method)
        elif values.ndim == 2:
            np.testing.assert_allclose(other[:, place], values, rtol=1e-9, atol=1e-10, err_msg=method)
        else:
            np.testing.assert_allclose(other, values, rtol=1e-9, atol=1e-10, err_msg=method)


def test_renaming_the_classes_of_random_samples():
    """A third of the tuned fits would change if classes were tuned in the order of their names."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(90) % 3
        X = rng.normal(size=(3, 4))[y] * 1.2 + rng.normal(size=(90, 4))
        rows = rng.normal(size=(300, 4)) * 1.5
        plain, renamed = OptimisticScoreClassifier().fit(X, y), OptimisticScoreClassifier().fit(X, 2 - y)
        np.testing.assert_array_equal(plain.predict(rows), 2 - renamed.predict(rows))


@pytest.mark.parametrize("make", [OptimisticScoreClassifier, OptimisticScoreClassifierCV])
def test_renaming_the_digits(make):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(10)
    settings = {"radii": [0.1, 1]} if make is OptimisticScoreClassifierCV else {}
    plain = make(**settings).fit(X[::3, 1:20], y[::3]).predict_proba(X[1::3, 1:20])
    renamed = make(**settings).fit(X[::3, 1:20], order[y[::3]]).predict_proba(X[1::3, 1:20])
    np.testing.assert_allclose(renamed[:, order], plain, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("n", "n_classes", "kernels"), [(12, 10, "short"), (4, 3, "default"), (20, 19, "short")])
def test_few_rows_per_class_do_not_make_a_kernel_model_depend_on_company(n, n_classes, kernels):
    """The covariances of their coordinates are all but singular, and labels may tie."""
    rng = np.random.default_rng(1)
    for X in ((rng.normal(size=(n, 1)) > 0).astype(float), np.round(rng.normal(size=(n, 2)))):
        y = np.arange(n) % n_classes
        model = KernelDiscriminantClassifier(kernels).fit(X, y)
        alone = [model.predict_proba(row[None])[0] for row in X]
        np.testing.assert_allclose(alone, model.predict_proba(X), rtol=1e-9, atol=1e-12)
        assert [model.predict(row[None])[0] for row in X] == model.predict(X).tolist()


@pytest.mark.parametrize("covariance", ["shared", "both", "own"])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("scale", [1e8, 1e10, 1e12, 1e16, 1e100])
def test_far_rows_do_not_depend_on_their_company(covariance, scale, constant):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.normal(size=(3, 4))[y] * 2 + rng.normal(size=(60, 4))
    if constant:
        X[:, 2] = 1.0
    model = ModeratedDiscriminantAnalysis(covariance, feature_map=None).fit(X, y)
    rows = X * scale
    alone = {key: [] for key in answers(model, rows[:1])}
    for row in rows:
        for key, values in answers(model, row[None]).items():
            alone[key].append(values)
    assert_close({key: np.concatenate(values) for key, values in alone.items()}, answers(model, rows), 1e-9)


def test_what_overflows_is_finite():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.normal(size=(3, 4))[y] * 2 + rng.normal(size=(60, 4))
    model = ModeratedDiscriminantAnalysis(feature_map=None).fit(X * 1e20, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for (method, _), values in answers(model, X * 1e160).items():
            assert method == "likelihood_ratio" or np.isfinite(values).all(), method
            assert not np.isnan(values).any(), method


@pytest.mark.parametrize("size", [1e16, 1e17, 1e30, 1e200])
@pytest.mark.parametrize("settings", [{}, {"radius": 0}, {"decision_rule": "minimax"}])
def test_far_rows_on_either_side_under_a_pooled_covariance(size, settings):
    """Numbers such as 1e30 stand for missing ones in many a table."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2))
    X[:, 0] += 4 * y
    model = OptimisticScoreClassifier(pooling=1, **settings).fit(X, y)
    assert model.predict([[size, 0], [-size, 0]]).tolist() == [1, 0]
    assert model.predict_proba([[size, 0], [-size, 0]])[:, 1].round(3).tolist() == [1, 0]


def test_memory_does_not_grow_with_the_rows_beyond_the_answer():
    import tracemalloc

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 20)), rng.integers(2, size=3000)
    model = ModeratedDiscriminantAnalysis().fit(X, y)
    rows = np.tile(X, (100, 1))
    model.predict_proba(rows[:1000])
    tracemalloc.start()
    answer = model.predict_proba(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < answer.nbytes + 0.6 * rows.nbytes

"""The classifier on Dask: the model of memory, lazily and in as few tasks and passes as there can be."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from blocks import assert_same_model, in_blocks, make_data, n_right
from hypothesis import given, settings
from hypothesis import strategies as st
from scikit_learn_checks import scikit_learn_checks
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore import load, save
from optiscore.dask import OptimisticScoreClassifier
from optiscore.dask import estimator as blockwise
from optiscore.dask.blocks import map_labelled

METHODS = (
    "predict",
    "decision_function",
    "predict_log_proba",
    "predict_proba",
    "undominated",
    "certified_factor",
    "log_score_bounds",
    "predict_proba_bounds",
)


@scikit_learn_checks(OptimisticScoreClassifier(decision_rule="minimax"))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rule", ["minimax", "prior", "tuned", [1.0, 2.0, 0.5]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_model_is_that_of_memory(rule, weighted, dtype):
    X, y = make_data(3, dtype=dtype)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X)) * 0.5 if weighted else None
    lazy = None if weight is None else da.from_array(weight, chunks=1000)
    model = OptimisticScoreClassifier(decision_rule=rule, pooling=0.1).fit(*in_blocks(X, y), lazy)
    expected = InMemory(decision_rule=rule, pooling=0.1).fit(X, y, weight)
    # Moments are double always; tuned offsets are as exact as the scores.
    assert_same_model(model, expected, 1e-5 if rule == "tuned" and dtype == np.float32 else 1e-10)
    assert model.score(*in_blocks(X, y), lazy) == pytest.approx(expected.score(X, y, weight), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["continuous", "ties", "separable", "plateau"])
def test_tuned_offsets_are_those_in_memory(n_classes, weighted, kind):
    X, y = make_data(n_classes, n=2000, d=2)
    if kind == "ties":
        X = np.round(X)
    if kind == "separable":
        X = X * 0.1 + 5 * y[:, None]
    weight = np.random.default_rng(2).exponential(size=len(X)) if weighted else None
    settings = {"radius": 0.4, "likelihood": "nonparametric" if kind == "plateau" else "gaussian"}
    lazy = None if weight is None else da.from_array(weight, chunks=300)
    with dask.config.set(scheduler="synchronous"):
        model = OptimisticScoreClassifier(**settings).fit(*in_blocks(X, y, 300), lazy)
    expected = InMemory(**settings).fit(X, y, weight)
    assert_same_model(model, expected)
    if weight is None:
        assert n_right(InMemory(**settings).fit(X, y), X, y) == n_right(model, X, y)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 400), min_size=1, max_size=8), st.booleans())
def test_any_blocks_give_the_same_number_of_right_decisions(seed, sizes, rounded):
    X, y = make_data(n=sum(sizes) + 2, seed=seed)
    y[:2] = [0, 1]
    X = np.round(X, 1) if rounded else X
    sizes = (*sizes, 2)
    with dask.config.set(scheduler="synchronous"):
        model = OptimisticScoreClassifier().fit(da.from_array(X, chunks=(sizes, 3)), da.from_array(y, chunks=(sizes,)))
    assert n_right(model, X, y) == n_right(InMemory().fit(X, y), X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["tuned", "minimax"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_said_of_samples_is_lazy_and_the_same(n_classes, rule, dtype):
    X, y = make_data(n_classes, dtype=dtype)
    expected = InMemory(decision_rule=rule).fit(X, y)
    model = OptimisticScoreClassifier(decision_rule=rule).fit(*in_blocks(X, y))
    calls = []

    def watched(block):
        calls.append(len(block))
        return block

    lazy = da.from_array(X, chunks=(700, 2)).map_blocks(watched, meta=X[:0])
    results = {name: getattr(model, name)(lazy) for name in METHODS}
    assert not calls
    for name, result in results.items():
        wanted = getattr(expected, name)(X)
        pairs = zip(result, wanted, strict=True) if isinstance(result, tuple) else [(result, wanted)]
        for a, b in pairs:
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert a.chunks[0] == (700, 700, 700, 700, 200)
            assert a.compute().dtype == b.dtype
            tolerance = {"rtol": 1e-7, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-3, "atol": 1e-3}
            np.testing.assert_allclose(a.compute(), b, **tolerance)


def test_bounds_are_computed_once_for_both():
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(*in_blocks(X, y))
    rows = []

    def watched(block):
        rows.append(len(block))
        return block

    lower, upper = model.predict_proba_bounds(
        da.from_array(X, chunks=(700, 3)).map_blocks(watched, dtype=float, meta=X[:0])
    )
    dask.compute(lower, upper, scheduler="synchronous")
    assert sum(rows) == len(X)


def tasks_per_block(X, y):
    parts = map_labelled(blockwise.sums_of_block, X, y)
    assert len(parts) == 10
    return len(parts[0].dask) / 10


def test_few_tasks_per_block():
    """What is done to each element costs no tasks, however much it is."""
    rng = da.random.default_rng(0)
    labels = rng.integers(2, size=1000, chunks=100)
    noise = rng.normal(size=(1000, 3), chunks=(100, 3))
    assert tasks_per_block(noise, labels) <= 5
    assert tasks_per_block(noise + 1, labels) == tasks_per_block(3 * np.exp((noise + 1) * 2) - 1, labels)
    X, y = make_data(n=1000)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(y=y), npartitions=10)
    assert tasks_per_block(frame[["a", "b"]], frame["y"]) <= 2
    samples = noise + labels[:, None]
    assert tasks_per_block(samples, labels) <= 7
    expected = InMemory(decision_rule="prior").fit(*dask.compute(samples, labels))
    assert_same_model(OptimisticScoreClassifier(decision_rule="prior").fit(samples, labels), expected)


def test_what_blocks_share_is_made_once():
    """A block that two blocks of samples come from stays a task of its own."""
    X, y = make_data(n=1000)
    made = []

    def watched(block):
        made.append(len(block))
        return block

    source = da.from_array(X, chunks=(500, 3)).map_blocks(watched, dtype=float, meta=X[:0])
    samples = source.rechunk((100, 3))
    with dask.config.set(scheduler="synchronous"):
        model = OptimisticScoreClassifier(decision_rule="prior").fit(samples, da.from_array(y, chunks=100))
    assert made == [500, 500]
    assert_same_model(model, InMemory(decision_rule="prior").fit(X, y))


@pytest.mark.parametrize(("n_classes", "rule", "passes"), [(2, "minimax", 1), (2, "tuned", 2), (3, "tuned", 2)])
def test_passes_over_the_data(n_classes, rule, passes):
    X, y = make_data(n_classes)
    made = []

    def watched(block):
        made.append(len(block))
        return block

    samples = da.from_array(X, chunks=(500, 3)).map_blocks(watched, dtype=float, meta=X[:0])
    with dask.config.set(scheduler="synchronous"):
        OptimisticScoreClassifier(decision_rule=rule).fit(samples, da.from_array(y, chunks=500))
    assert sum(made) == passes * len(X)


def test_of_many_samples_the_same_ones_decide_as_in_memory(monkeypatch):
    from optiscore.robust import tuning

    monkeypatch.setattr(tuning, "_ENOUGH", 500)
    monkeypatch.setattr(tuning, "_ENOUGH_OF_CLASS", 150)
    X, y = make_data(4, n=3000)
    y = np.where((y == 3) & (np.arange(3000) % 5 > 0), 2, y)
    weight = np.random.default_rng(0).uniform(0.5, 2, 3000)
    for weights in (None, weight):
        lazy = None if weights is None else da.from_array(weights, chunks=700)
        with dask.config.set(scheduler="synchronous"):
            model = OptimisticScoreClassifier().fit(*in_blocks(X, y, 700), lazy)
        assert_same_model(model, InMemory().fit(X, y, weights))


def test_what_travels_does_not_grow_with_the_block():
    def size(n):
        return len(pickle.dumps(blockwise.sums_of_block(*make_data(n=n, d=20))))

    assert size(100_000) == pytest.approx(size(1000), rel=0.05)
    assert size(1000) < 2 * 8 * (1 + 2 * 20) ** 2 * 1.2


def test_streaming_cannot_go_on_after_dask():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(*in_blocks(X[:2000], y[:2000]))
    with pytest.raises(ValueError, match="cannot go on after fit"):
        model.partial_fit(X[2000:], y[2000:])


def test_model_files(tmp_path):
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(*in_blocks(X, y))
    save(model, tmp_path / "model.skops")
    assert (load(tmp_path / "model.skops").predict(X) == model.predict(X)).all()


def test_estimators_that_need_sums_only():
    X, y = make_data()
    settings = {"covariance_estimator": EmpiricalCovariance(), "radius": 0, "decision_rule": "prior"}
    assert_same_model(OptimisticScoreClassifier(**settings).fit(*in_blocks(X, y)), InMemory(**settings).fit(X, y))


def test_clones_and_parameters_are_those_of_memory():
    model = OptimisticScoreClassifier("nonparametric", radius=0.2)
    assert clone(model).get_params() == InMemory("nonparametric", radius=0.2).get_params()

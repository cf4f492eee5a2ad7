"""The classifier on Dask: the model of memory, from blocks of any kind, and what is said of bad ones."""

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
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, LedoitWolf
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore.dask import OptimisticScoreClassifier
from optiscore.dask import classifier as blockwise
from optiscore.dask import tuning as block_tuning
from optiscore.dask.blocks import map_labelled
from optiscore.io import load, save

METHODS = (
    "predict",
    "decision_function",
    "predict_log_proba",
    "predict_proba",
    "predict_set",
    "certified_radius",
    "log_score_bounds",
    "predict_proba_bounds",
)


@parametrize_with_checks([OptimisticScoreClassifier(threshold="minimax")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("threshold", ["minimax", "prior", "tuned", [1.0, 2.0, 0.5]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_model_is_that_of_memory(threshold, weighted, dtype):
    X, y = make_data(3, dtype=dtype)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X)) * 0.5 if weighted else None
    lazy = None if weight is None else da.from_array(weight, chunks=1000)
    model = OptimisticScoreClassifier(threshold=threshold, pooling=0.1).fit(*in_blocks(X, y), lazy)
    expected = InMemory(threshold=threshold, pooling=0.1).fit(X, y, weight)
    assert_same_model(model, expected, 1e-10 if dtype == np.float64 else 1e-5)
    assert model.score(*in_blocks(X, y), lazy) == pytest.approx(expected.score(X, y, weight), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["continuous", "ties", "separable", "plateau"])
def test_tuned_thresholds_are_exact_in_several_rounds(monkeypatch, n_classes, weighted, kind):
    """So few values may be fetched, and so few edges proposed, that bins must be split again and again."""
    monkeypatch.setattr(block_tuning, "_FETCH", 40)
    monkeypatch.setattr(block_tuning, "_PROPOSE_ALL", 16)
    X, y = make_data(n_classes, n=2000, d=2)
    if kind == "ties":
        X = np.round(X)
    if kind == "separable":
        X = X * 0.1 + 5 * y[:, None]
    weight = np.random.default_rng(2).exponential(size=len(X)) if weighted else None
    settings = {"radius": 0.4, "score": "nonparametric" if kind == "plateau" else "gaussian"}
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
@pytest.mark.parametrize("threshold", ["tuned", "minimax"])
def test_what_is_said_of_samples_is_lazy_and_the_same(n_classes, threshold):
    X, y = make_data(n_classes)
    expected = InMemory(threshold=threshold).fit(X, y)
    model = OptimisticScoreClassifier(threshold=threshold).fit(*in_blocks(X, y))
    calls = []

    def watched(block):
        calls.append(len(block))
        return block

    lazy = da.from_array(X, chunks=(700, 2)).map_blocks(watched, meta=np.empty((0, 0)))
    results = {name: getattr(model, name)(lazy) for name in METHODS}
    assert not calls
    for name, result in results.items():
        wanted = getattr(expected, name)(X)
        pairs = zip(result, wanted, strict=True) if isinstance(result, tuple) else [(result, wanted)]
        for a, b in pairs:
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert a.chunks[0] == (700, 700, 700, 700, 200)
            np.testing.assert_allclose(a.compute(), b, rtol=1e-7, atol=1e-9)


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


def test_unknown_chunk_sizes():
    X, y = make_data()
    lazy_X, lazy_y = in_blocks(X, y)
    keep = lazy_X[:, 0] > 0
    lazy_X, lazy_y = lazy_X[keep], lazy_y[keep]
    assert np.isnan(lazy_X.shape[0])
    rows = X[:, 0] > 0
    for threshold in ("minimax", "tuned"):
        model = OptimisticScoreClassifier(threshold=threshold).fit(lazy_X, lazy_y)
        expected = InMemory(threshold=threshold).fit(X[rows], y[rows])
        assert_same_model(model, expected)
        assert (model.predict(lazy_X).compute() == expected.predict(X[rows])).all()
        assert model.score(lazy_X, lazy_y) == pytest.approx(expected.score(X[rows], y[rows]))


def test_data_frames_are_read_once_per_pass():
    X, y = make_data(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(tree=np.array(["ash", "birch", "cedar"])[y])
    reads = []

    def read(start):
        reads.append(start)
        return frame.iloc[start : start + 1000]

    lazy = dd.from_map(read, [0, 1000, 2000], meta=frame.iloc[:0])
    with dask.config.set(scheduler="synchronous"):
        model = OptimisticScoreClassifier(threshold="minimax").fit(lazy[["a", "b", "c"]], lazy["tree"])
        assert sorted(reads) == [0, 1000, 2000]
        expected = InMemory(threshold="minimax").fit(frame[["a", "b", "c"]], frame["tree"])
        assert_same_model(model, expected)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert (model.predict(lazy[["a", "b", "c"]]).compute() == expected.predict(frame[["a", "b", "c"]])).all()
        with pytest.raises(ValueError, match="feature names"):
            model.predict(lazy[["b", "a", "c"]])


def test_frames_arrays_and_weights_mix():
    X, y = make_data()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=4)
    lengths = tuple(frame.map_partitions(len).compute())
    weight = np.linspace(0, 2, len(X))
    expected = InMemory(threshold="prior").fit(X, y, weight)
    for labels in (da.from_array(y, chunks=(lengths,)), dd.from_pandas(pd.Series(y), npartitions=4)):
        for weights in (da.from_array(weight, chunks=(lengths,)), dd.from_pandas(pd.Series(weight), npartitions=4)):
            model = OptimisticScoreClassifier(threshold="prior").fit(frame, labels, weights)
            np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=1e-10)


def test_blocks_without_samples_and_blocks_of_one_class():
    X, y = make_data()
    order = np.argsort(y, kind="stable")
    frame = dd.from_pandas(pd.DataFrame(X[order]).assign(y=y[order]), npartitions=6)
    some = frame[frame[0] > 2.5]
    rows = X[order][:, 0] > 2.5
    expected = InMemory(threshold="prior").fit(X[order][rows], y[order][rows])
    with_nothing = dd.concat([some, frame[frame[0] > 1e9]])
    model = OptimisticScoreClassifier(threshold="prior").fit(with_nothing[[0, 1, 2]], with_nothing["y"])
    np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=1e-10)
    assert len(model.predict(with_nothing[[0, 1, 2]]).compute()) == rows.sum()
    assert model.score(with_nothing[[0, 1, 2]], with_nothing["y"]) == expected.score(X[order][rows], y[order][rows])


def test_one_task_per_block_even_if_samples_and_labels_have_one_source():
    rng = da.random.default_rng(0)
    labels = rng.integers(2, size=1000, chunks=100)
    samples = rng.normal(size=(1000, 3), chunks=(100, 3)) + labels[:, None]
    parts = map_labelled(blockwise._sums_of_block, samples, labels)
    assert len(dict(parts[0].dask)) == len(parts) == 10
    expected = InMemory(threshold="prior").fit(*dask.compute(samples, labels))
    assert_same_model(OptimisticScoreClassifier(threshold="prior").fit(samples, labels), expected)


@pytest.mark.parametrize("threshold", ["minimax", "tuned"])
def test_blocks_whose_weights_are_all_zero(threshold):
    X, y = make_data()
    weight = np.ones(len(X))
    weight[:1500] = 0
    lazy = da.from_array(weight, chunks=700)
    model = OptimisticScoreClassifier(threshold=threshold).fit(*in_blocks(X, y), lazy)
    expected = InMemory(threshold=threshold).fit(X, y, weight)
    assert_same_model(model, expected)
    assert model.score(*in_blocks(X, y), lazy) == pytest.approx(expected.score(X, y, weight))


@pytest.mark.parametrize(
    "parameters",
    [{"radius": "limit"}, {"threshold": "best"}, {"pooling": 3}, {"covariance_estimator": LedoitWolf()}],
)
def test_settings_are_checked_before_anything_is_read(parameters):
    def refuse(block):
        raise AssertionError("a block was read")

    X, y = in_blocks(*make_data())
    with pytest.raises(ValueError, match=r"limit|threshold|pooling|LedoitWolf"):
        OptimisticScoreClassifier(**parameters).fit(X.map_blocks(refuse, dtype=float, meta=np.empty((0, 0))), y)


def test_frames_that_cannot_be_used_are_explained():
    X, y = make_data(n=60)
    frame = pd.DataFrame(X, columns=list("abc")).assign(tree="ash", y=np.where(y, "yes", "no"))
    frame.loc[3, "y"] = None
    lazy = dd.from_pandas(frame, npartitions=3)
    for features, labels, words in (
        (["a", "tree"], "y", "columns \\['tree'\\] of X hold no numbers"),
        (["a", "b"], "y", "y contains NaN"),
        (["a", "b"], ["a"], "one dimension"),
    ):
        with pytest.raises(ValueError, match=words):
            OptimisticScoreClassifier().fit(lazy[features], lazy[labels])


def test_partial_fit_is_for_blocks_in_memory():
    X, y = in_blocks(*make_data())
    with pytest.raises(ValueError, match="call fit on Dask's collections"):
        OptimisticScoreClassifier(threshold="minimax").partial_fit(X, y, classes=[0, 1])


def test_what_travels_does_not_grow_with_the_block():
    def size(n):
        return len(pickle.dumps(blockwise._sums_of_block(*make_data(n=n, d=20))))

    assert size(100_000) == pytest.approx(size(1000), rel=0.05)
    assert size(1000) < 2 * 8 * (1 + 2 * 20) ** 2 * 1.2


def test_streaming_goes_on_after_dask():
    X, y = make_data()
    model = OptimisticScoreClassifier(threshold="minimax").fit(*in_blocks(X[:2000], y[:2000]))
    assert_same_model(model.partial_fit(X[2000:], y[2000:]), InMemory(threshold="minimax").fit(X, y))


def test_model_files(tmp_path):
    X, y = make_data()
    model = OptimisticScoreClassifier().fit(*in_blocks(X, y))
    save(model, tmp_path / "model.skops")
    assert (load(tmp_path / "model.skops").predict(X) == model.predict(X)).all()


def bad_block(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        block = block.copy()
        block[0, 0] = np.nan
    return block


@pytest.mark.parametrize(
    ("parameters", "change", "words"),
    [
        ({}, lambda X, y: (X.map_blocks(bad_block, dtype=float, meta=np.empty((0, 0))), y), "NaN"),
        ({}, lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        ({}, lambda X, y: (X[X[:, 0] > 0], y.rechunk(100)), "cannot be aligned"),
        ({}, lambda X, y: (X[X[:, 0] > 0], y), "inconsistent numbers of samples"),
        ({}, lambda X, y: (X[:, 0], y), "Expected 2D array"),
        ({}, lambda X, y: (X, X), "one dimension"),
        ({}, lambda X, y: (X, y * 0), "at least two classes"),
        ({}, lambda X, y: (X, X[:, 0]), "continuous"),
        ({"radius": "limit"}, lambda X, y: (X, y), "'limit' needs all samples at once"),
        ({"covariance_estimator": LedoitWolf()}, lambda X, y: (X, y), "LedoitWolf.*needs all samples at once"),
        ({"pooling": 3}, lambda X, y: (X, y), "pooling"),
        ({"threshold": "best"}, lambda X, y: (X, y), "threshold must be"),
    ],
)
def test_bad_input_is_explained(parameters, change, words):
    model = OptimisticScoreClassifier(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(*change(*in_blocks(*make_data())))
    with pytest.raises(NotFittedError):
        model.predict(in_blocks(*make_data())[0])


def test_estimators_that_need_sums_only():
    X, y = make_data()
    settings = {"covariance_estimator": EmpiricalCovariance(), "radius": 0, "threshold": "prior"}
    assert_same_model(OptimisticScoreClassifier(**settings).fit(*in_blocks(X, y)), InMemory(**settings).fit(X, y))


def test_clones_and_parameters_are_those_of_memory():
    model = OptimisticScoreClassifier("nonparametric", radius=0.2)
    assert clone(model).get_params() == InMemory("nonparametric", radius=0.2).get_params()

"""What the classifier on Dask is given: arrays and frames of every kind, and what is said of bad ones."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from blocks import assert_same_model, in_blocks, make_data
from sklearn.covariance import LedoitWolf

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore.dask import OptimisticScoreClassifier


def test_unknown_chunk_sizes():
    X, y = make_data()
    lazy_X, lazy_y = in_blocks(X, y)
    keep = lazy_X[:, 0] > 0
    lazy_X, lazy_y = lazy_X[keep], lazy_y[keep]
    assert np.isnan(lazy_X.shape[0])
    rows = X[:, 0] > 0
    for rule in ("minimax", "tuned"):
        model = OptimisticScoreClassifier(decision_rule=rule).fit(lazy_X, lazy_y)
        expected = InMemory(decision_rule=rule).fit(X[rows], y[rows])
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
        model = OptimisticScoreClassifier(decision_rule="minimax").fit(lazy[["a", "b", "c"]], lazy["tree"])
        assert sorted(reads) == [0, 1000, 2000]
        expected = InMemory(decision_rule="minimax").fit(frame[["a", "b", "c"]], frame["tree"])
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
    expected = InMemory(decision_rule="prior").fit(X, y, weight)
    for labels in (da.from_array(y, chunks=(lengths,)), dd.from_pandas(pd.Series(y), npartitions=4)):
        for weights in (da.from_array(weight, chunks=(lengths,)), dd.from_pandas(pd.Series(weight), npartitions=4)):
            model = OptimisticScoreClassifier(decision_rule="prior").fit(frame, labels, weights)
            np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=1e-10)


def test_blocks_without_samples_and_blocks_of_one_class():
    X, y = make_data()
    order, names = np.argsort(y, kind="stable"), ["a", "b", "c"]
    frame = dd.from_pandas(pd.DataFrame(X[order], columns=list("abc")).assign(y=y[order]), npartitions=6)
    some = frame[frame["a"] > 2.5]
    rows = X[order][:, 0] > 2.5
    expected = InMemory(decision_rule="prior").fit(X[order][rows], y[order][rows])
    with_nothing = dd.concat([some, frame[frame["a"] > 1e9]])
    model = OptimisticScoreClassifier(decision_rule="prior").fit(with_nothing[names], with_nothing["y"])
    np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=1e-10)
    assert len(model.predict(with_nothing[names]).compute()) == rows.sum()
    assert model.score(with_nothing[names], with_nothing["y"]) == expected.score(X[order][rows], y[order][rows])


@pytest.mark.parametrize("rule", ["minimax", "tuned"])
def test_blocks_whose_weights_are_all_zero(rule):
    """More of them, one after the other, than are merged by one task."""
    X, y = make_data()
    weight = np.ones(len(X))
    weight[:1500] = 0
    blocks, lazy = in_blocks(X, y, size=60), da.from_array(weight, chunks=60)
    model = OptimisticScoreClassifier(decision_rule=rule).fit(*blocks, lazy)
    expected = InMemory(decision_rule=rule).fit(X, y, weight)
    assert_same_model(model, expected)
    assert model.score(*blocks, lazy) == pytest.approx(expected.score(X, y, weight))


@pytest.mark.parametrize(
    "parameters",
    [
        {"radius": "empirical"},
        {"radius": "large"},
        {"radius": -1},
        {"radius": {0: 1, 1: -1}},
        {"quantile": 2},
        {"decision_rule": "best"},
        {"decision_rule": -1},
        {"decision_rule": [1, 0]},
        {"priors": [1, 2]},
        {"likelihood": "best"},
        {"pooling": 3},
        {"covariance_estimator": LedoitWolf()},
    ],
)
def test_settings_are_checked_before_anything_is_read(parameters):
    def refuse(block):
        raise AssertionError("a block was read")

    X, y = in_blocks(*make_data())
    with pytest.raises(ValueError, match=next(iter(parameters))):
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
        ("a", "y", "two dimensions"),
    ):
        with pytest.raises(ValueError, match=words):
            OptimisticScoreClassifier().fit(lazy[features], lazy[labels])


def test_columns_that_may_hold_missing_cells():
    X, y = make_data()
    frame = pd.DataFrame(X, columns=list("abc")).convert_dtypes()
    expected = InMemory().fit(X, y)
    model = OptimisticScoreClassifier().fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), 3))
    assert_same_model(model, expected)
    assert (model.predict(dd.from_pandas(frame, npartitions=3)).compute() == expected.predict(X)).all()
    frame.iloc[5, 1] = pd.NA
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(dd.from_pandas(frame, npartitions=3)).compute()


def test_files_whose_partitions_dask_joins(tmp_path):
    """One column of many: Dask reads several small files at once, and labels in arrays still go with them."""
    X, y = make_data(n=1000, d=20)
    names = [f"x{j}" for j in range(20)]
    frame = pd.DataFrame(X, columns=names).assign(y=y)
    for part in range(20):
        frame.iloc[50 * part : 50 * (part + 1)].to_parquet(tmp_path / f"{part:02}.parquet")
    lazy = dd.read_parquet(tmp_path)
    columns = lazy[names[:2]]
    assert columns.to_dask_array().numblocks[0] < columns.npartitions == 20
    expected = InMemory().fit(X[:, :2], y)
    model = OptimisticScoreClassifier().fit(columns, da.from_array(y, chunks=50))
    assert_same_model(model, expected)
    assert_same_model(OptimisticScoreClassifier().fit(columns, lazy["y"]), expected)
    assert (model.predict(columns).compute() == expected.predict(X[:, :2])).all()
    assert model.predict(columns).numblocks == (20,)


def test_many_classes_are_no_reason_to_warn():
    X, y = make_data(n_classes=40)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(*in_blocks(X, y))
    assert_same_model(model, InMemory(decision_rule="minimax").fit(X, y))


def test_partial_fit_is_for_blocks_in_memory():
    X, y = in_blocks(*make_data())
    with pytest.raises(ValueError, match="call fit on Dask's collections"):
        OptimisticScoreClassifier(decision_rule="minimax").partial_fit(X, y, classes=[0, 1])


def bad_block(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        block = block.copy()
        block[0, 0] = np.nan
    return block


def mixed_labels(block):
    labels = block.astype(object)
    labels[0] = "none"
    return labels


@pytest.mark.parametrize(
    ("parameters", "change", "words"),
    [
        ({}, lambda X, y: (X.map_blocks(bad_block, dtype=float, meta=np.empty((0, 0))), y), "NaN"),
        ({}, lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        ({}, lambda X, y: (X[X[:, 0] > 0], y.rechunk(100)), "cannot be aligned"),
        ({}, lambda X, y: (X[X[:, 0] > 0], y), "inconsistent numbers of samples"),
        ({}, lambda X, y: (X[:, 0], y), "two dimensions"),
        ({}, lambda X, y: (dask.delayed(X), y), "Dask array or data frame"),
        ({}, lambda X, y: (X, None), "requires y"),
        ({}, lambda X, y: (X, y.map_blocks(mixed_labels, dtype=object)), "cannot be compared"),
        ({}, lambda X, y: (X, X), "one dimension"),
        ({}, lambda X, y: (X, y * 0), "at least two classes"),
        ({}, lambda X, y: (X, X[:, 0]), "continuous"),
        ({"radius": "empirical"}, lambda X, y: (X, y), "'empirical' needs all samples at once"),
        ({"covariance_estimator": LedoitWolf()}, lambda X, y: (X, y), "LedoitWolf.*needs all samples at once"),
        ({"pooling": 3}, lambda X, y: (X, y), "pooling"),
        ({"decision_rule": "best"}, lambda X, y: (X, y), "decision_rule must be"),
    ],
)
def test_bad_input_is_explained(parameters, change, words):
    X, y = in_blocks(*make_data())
    model = OptimisticScoreClassifier().fit(X, y).set_params(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(*change(X, y))
    # The old model is still there.
    assert model.predict(X).shape == y.shape

"""Fitted attributes are results: they cannot be set, other priors are a copy, and copies predict the same bits."""

import ast
import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kinds import SETTINGS, blobs
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.exceptions import NotFittedError

import optiscore
from optiscore import (
    KernelDiscriminantClassifier,
    KernelDiscriminantMap,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
    PowerMap,
    load,
    save,
)

METHODS = ("predict", "predict_proba", "decision_function", "undominated", "certified_factor")
PAIRS = ("predict_proba_bounds", "log_score_bounds")
ARRAYS = ("classes_", "class_count_", "priors_", "means_", "covariances_", "radii_", "offsets_")


def everything(model, X):
    """All that a model says of samples."""
    parts = [getattr(model, method)(X) for method in METHODS]
    return parts + [part for pair in PAIRS for part in getattr(model, pair)(X)]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_arrays_are_read_only(likelihood, rule, n_classes):
    X, y = blobs(n_classes)
    fitted = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    search = OptimisticScoreClassifierCV(likelihood, decision_rule=rule, radii=[0.1]).fit(X, y)
    for model in (fitted, search, copy.deepcopy(fitted), pickle.loads(pickle.dumps(search))):
        for name in ARRAYS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(model, name)[...] = 0


ESTIMATORS = {
    "optimistic": OptimisticScoreClassifier(decision_rule="minimax"),
    "tuned": OptimisticScoreClassifier(),
    "search": OptimisticScoreClassifierCV(radii=[0.1]),
    "moderated": ModeratedDiscriminantAnalysis(),
    "kernel": KernelDiscriminantClassifier("short"),
    "map": KernelDiscriminantMap("short"),
    "power": PowerMap(),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_results_cannot_be_set_or_written_to(name):
    X, y = blobs(3)
    model = clone(ESTIMATORS[name]).fit(X, y)
    results = [each for each in vars(model) if each.endswith("_") and not each.startswith("_")]
    assert len(results) > 3
    for each in results:
        with pytest.raises(AttributeError, match=f"{each} is a result of fit and cannot be set"):
            setattr(model, each, getattr(model, each))
        arrays = getattr(model, each)
        for array in arrays.values() if isinstance(arrays, dict) else [arrays]:
            if isinstance(array, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = array
    assert model.fit(X, y) is model


def arrays_in(value):
    """Arrays in records, lists and objects, however deep."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays_in(part)
    elif type(value).__module__.startswith("optiscore.") and hasattr(value, "__dict__"):
        yield from arrays_in(vars(value))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_within_results_are_read_only(name):
    X, y = blobs(3)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = clone(ESTIMATORS[name]).fit(frame, y)
    ask = model.transform if name in ("map", "power") else model.predict_proba
    before = ask(frame)
    results = {each: value for each, value in vars(model).items() if each.endswith("_") and each != "best_estimator_"}
    arrays = list(arrays_in(results))
    assert len(arrays) > 3
    assert not any(array.flags.writeable for array in arrays)
    np.testing.assert_array_equal(ask(frame), before)


def test_a_search_takes_its_best_estimator_along():
    X, y = blobs(3)
    search = clone(ESTIMATORS["search"]).fit(X, y)
    for copied in (search.with_priors("equal"), search.with_radii({0: 0.1, 1: 0.2, 2: 0.3})):
        np.testing.assert_array_equal(copied.best_estimator_.radii_, copied.radii_)
        np.testing.assert_array_equal(copied.best_estimator_.predict_proba(X), copied.predict_proba(X))
    assert not np.array_equal(search.best_estimator_.predict_proba(X), copied.predict_proba(X))


def test_a_copy_of_a_stream_does_not_go_on_with_it():
    """The next block would bring back what the parameters say."""
    X, y = blobs(3)
    streamed = ModeratedDiscriminantAnalysis(feature_map=None).partial_fit(X, y, [0, 1, 2])
    copied = streamed.with_priors([0.8, 0.1, 0.1])
    with pytest.raises(ValueError, match="keeps no sums"):
        copied.partial_fit(X, y)
    streamed.partial_fit(X, y)


@pytest.mark.parametrize("wrong", [True, "0.5", [True, True, False], ["1", "2", "3"], None, [1, 2]])
def test_radii_that_are_no_numbers_are_refused(wrong):
    X, y = blobs(3)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    with pytest.raises(ValueError, match="radius must"):
        model.with_radii(wrong)
    with pytest.raises(ValueError, match="radius must"):
        OptimisticScoreClassifier(radius=wrong).fit(X, y)


@pytest.mark.parametrize("name", ["optimistic", "tuned", "search", "moderated"])
def test_other_priors_are_a_copy(name):
    X, y = blobs(3)
    model = clone(ESTIMATORS[name]).fit(X, y)
    before = model.predict_proba(X)
    other = model.with_priors([0.98, 0.01, 0.01])
    assert other.priors_.tolist() == [0.98, 0.01, 0.01]
    assert (other.predict(X) == 0).mean() > (model.predict(X) == 0).mean()
    np.testing.assert_array_equal(model.predict_proba(X), before)
    for same_priors in ({0: 0.98, 1: 0.01, 2: 0.01}, np.array([0.98, 0.01, 0.01])):
        np.testing.assert_array_equal(model.with_priors(same_priors).predict_proba(X), other.predict_proba(X))
    np.testing.assert_allclose(other.with_priors(None).predict_proba(X), before, rtol=1e-11, atol=1e-13)
    assert model.with_priors("equal").priors_.tolist() == [1 / 3] * 3
    for wrong, words in (([0.5, 0.5], "one number for each"), ({0: 1.0}, "one entry per class"), ("even", "'equal'")):
        with pytest.raises(ValueError, match=words):
            model.with_priors(wrong)


@pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")
@pytest.mark.parametrize("rule", ["prior", "minimax"])
def test_priors_that_are_set_later_are_those_asked_for(rule):
    X, y = blobs(3)
    model = OptimisticScoreClassifier(decision_rule=rule).fit(X, y).with_priors([0.98, 0.01, 0.01])
    for priors in ([0.98, 0.01, 0.01], {2: 0.01, 1: 0.01, 0: 0.98}):
        asked = OptimisticScoreClassifier(decision_rule=rule, priors=priors).fit(X, y)
        assert same(everything(model, X), everything(asked, X))
    np.testing.assert_array_equal(model.offsets_, np.log(model.priors_))


def test_other_radii_are_a_copy():
    X, y = blobs(3)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    asked = OptimisticScoreClassifier(decision_rule="minimax", radius=[0.1, 0.2, 0.3]).fit(X, y)
    for radii in ([0.1, 0.2, 0.3], {0: 0.1, 1: 0.2, 2: 0.3}):
        assert same(everything(model.with_radii(radii), X), everything(asked, X))
    assert model.with_radii(0.5).radii_.tolist() == [0.5] * 3
    with pytest.raises(ValueError, match="radius must be >= 0"):
        model.with_radii(-1)


@pytest.mark.parametrize("name", ["optimistic", "search", "moderated", "kernel", "map"])
def test_a_fit_that_fails_leaves_the_old_model(name):
    X, y = blobs(3)
    model = clone(ESTIMATORS[name]).fit(X, y)
    answer = model.transform if name == "map" else model.predict_proba
    before = answer(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X[:, :2], np.zeros(len(X)))
    np.testing.assert_array_equal(answer(X), before)


def private_accesses(path):
    """Attributes with an underscore of anything but self: line, expression, and what the class around them defines."""
    found = []

    def visit(node, own):
        if isinstance(node, ast.ClassDef):
            own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            own |= {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
            stored = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
            own |= {
                each.attr for each in stored if isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"
            }
        if isinstance(node, ast.Attribute) and re.fullmatch(r"_[a-z]\w*", node.attr):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()") and node.attr not in ("_asdict", "_fields", "_replace"):
                found.append((f"{ast.unparse(node)}, line {node.lineno}", node.attr in own))
        for child in ast.iter_child_nodes(node):
            visit(child, own)

    visit(ast.parse(path.read_text(encoding="utf-8")), frozenset())
    return found


def test_nothing_reads_what_is_anothers_own():
    """What starts with an underscore belongs to a class: only its own methods ask other objects of it for that."""
    source = Path(optiscore.__file__).parent
    # Names that scikit-learn and Dask have no public ones for.
    other_libraries = {
        "numerics/arrays.py": "_dispatch.",
        "dask/blocks.py": "array._meta",
        "dask/estimator.py": "X._meta",
    }
    strangers = [
        f"{path.relative_to(source)}: {access}"
        for path in source.rglob("*.py")
        for access, is_own in private_accesses(path)
        if not is_own and not access.startswith(other_libraries.get(str(path.relative_to(source)), "\n"))
    ]
    # The check that makes partial_fit unavailable is the parent's, of which the class on Dask is one.
    assert [each for each in strangers if "Parent._check_for_blocks" not in each] == []


def test_a_block_that_spoils_the_model_is_told():
    """The model of all blocks has no positive definite covariance: the earlier one must not stand for it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = OptimisticScoreClassifier(decision_rule="prior", covariance_estimator=EmpiricalCovariance())
    model.partial_fit(X, y, [0, 1])
    model.partial_fit(X + 1e10 * rng.normal(size=(40, 1)), y)
    with pytest.raises(NotFittedError, match=r"too few samples.*not positive definite"):
        model.predict(X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_copies_predict_the_same_bits(likelihood, rule, n_classes, tmp_path):
    X, y = blobs(n_classes)
    for model in (
        OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y),
        OptimisticScoreClassifierCV(likelihood, decision_rule=rule, radii=[0.1, 1]).fit(X, y),
    ):
        expected = everything(model, X)
        save(model, tmp_path / "model.skops")
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), load(tmp_path / "model.skops")):
            assert same(everything(other, X), expected)


def test_a_pickle_holds_parameters_and_public_attributes():
    X, y = blobs(3, d=3)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    public = {*ARRAYS, "likelihood_", "decision_rule_", "n_features_in_"}
    assert set(model.__getstate__()) == {*model.get_params(), *public, "_sklearn_version"} - {"_sklearn_version"}
    streamed = clone(model).partial_fit(X, y, [0, 1, 2])
    assert {name for name in streamed.__getstate__() if name.startswith("_")} == {"_sums"}


def test_class_counts_are_sums_of_weights():
    X, y = blobs(3)
    weight = np.random.default_rng(0).uniform(0, 3, len(y))
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y, weight)
    np.testing.assert_allclose(model.class_count_, np.bincount(y, weights=weight), rtol=1e-14)
    streamed = clone(model).partial_fit(X[:50], y[:50], [0, 1, 2], weight[:50])
    streamed.partial_fit(X[50:], y[50:], sample_weight=weight[50:])
    np.testing.assert_allclose(streamed.class_count_, model.class_count_, rtol=1e-14)

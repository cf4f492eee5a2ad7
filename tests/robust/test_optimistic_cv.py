"""The cross-validated classifier: equal to a grid search; its choice, weights, groups, memory, picture, bad input."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from kinds import blobs
from scikit_learn_checks import scikit_learn_checks
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV, RidgeCovariance, clt_radius
from optiscore.plotting import RadiusSearchDisplay
from optiscore.robust.candidates import DEFAULT_FACTORS

# The rule is tried on purpose where it must not be used.
pytestmark = pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")

CV = OptimisticScoreClassifierCV


@scikit_learn_checks(
    CV(),
    CV(["gaussian", "nonparametric"], radii=[0, 1], poolings=[0, 0.5]),
    CV("fixed-mean", per_class=False, decision_rule="minimax", scoring="neg_log_loss", cv=3),
    CV(decision_rule="prior", covariance_estimator=RidgeCovariance()),
)
# Some versions of scikit-learn check with so few samples.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:, 10:16], y


DATA = {
    "blobs": lambda: blobs(2, n=160),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": digits,
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
}


def grid_search(model, *, scoring=None, cv=5, **parameters):
    """The same candidates, in the same order, in scikit-learn's grid search."""
    names = ("likelihood", "pooling", "radius")
    grid = [{name: [setting[name]] for name in names} for setting in model.cv_results_["params"]]
    return GridSearchCV(OptimisticScoreClassifier(**parameters), grid, scoring=scoring, cv=cv, refit=False)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "balanced_accuracy"])
@pytest.mark.parametrize("rule", ["tuned", "prior", "minimax"])
@pytest.mark.parametrize("name", DATA)
def test_equals_grid_search(name, rule, scoring):
    X, y = DATA[name]()
    model = CV(["gaussian", "nonparametric"], radii=[0, 0.2, 1], poolings=[0, 0.5], decision_rule=rule, scoring=scoring)
    model.fit(X, y)
    search = grid_search(model, scoring=scoring, decision_rule=rule).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "split3_test_score"):
        np.testing.assert_allclose(model.cv_results_[key], search.cv_results_[key], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.cv_results_["rank_test_score"], search.cv_results_["rank_test_score"])
    assert search.cv_results_.keys() - model.cv_results_.keys() == {
        "mean_fit_time",
        "std_fit_time",
        "mean_score_time",
        "std_score_time",
    }
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_equals_grid_search_where_scores_are_tabulated(scoring):
    X, y = blobs(2, n=5000)
    model = CV(radii=[0.01, 0.3], scoring=scoring).fit(X, y)
    search = grid_search(model, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )


def test_single_precision_is_near_grid_search_where_scores_are_tabulated():
    X, y = blobs(2, n=5000)
    X = X.astype(np.float32)
    model = CV(radii=[0.01, 0.3], scoring="neg_log_loss", decision_rule="minimax").fit(X, y)
    search = grid_search(model, scoring="neg_log_loss", decision_rule="minimax").fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc_ovr"])
def test_weights_and_routing_equal_grid_search(n_classes, scoring):
    X, y = blobs(n_classes)
    weight = np.random.default_rng(0).uniform(0.2, 3, size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer(scoring).set_score_request(sample_weight=True)
        model = CV(radii=[0, 0.3], scoring=scorer).fit(X, y, sample_weight=weight)
        search = grid_search(model, scoring=scorer)
        search.estimator.set_fit_request(sample_weight=True)
        search.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-12)
    without_routing = CV(radii=[0, 0.3], scoring=scoring).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], without_routing.cv_results_["mean_test_score"], atol=1e-12
    )


def test_scorers_get_what_they_ask_for_and_no_more():
    X, y = blobs(2)
    frame, labels = pd.DataFrame(X, columns=list("abc")), pd.Series(y)
    weight, other = np.ones(len(y)), np.arange(len(y)) % 3

    def custom(model, Z, t):
        assert model.feature_names_in_.tolist() == list("abc")
        assert model.get_params()["likelihood"] == "gaussian"
        return Z["a"].mean() + t.index[0] + model.score(Z, t)

    for scoring in (custom, "adjusted_rand_score"):
        model = CV(radii=[0, 0.3], scoring=scoring).fit(frame, labels, sample_weight=weight)
        search = grid_search(model, scoring=scoring).fit(frame, labels)
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight="other")
        model = CV(radii=[0, 0.3], scoring=scorer).fit(X, y, sample_weight=weight, other=other)
        search = grid_search(model, scoring=scorer)
        search.estimator.set_fit_request(sample_weight=True)
        search.fit(X, y, sample_weight=weight, other=other)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_unweighted_scorers_count_samples_of_weight_zero():
    X, y = blobs(2)
    weight = np.ones(len(y))
    weight[::3] = 0
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=False)
        model = CV(radii=[0, 0.3], scoring=scorer).fit(X, y, sample_weight=weight)
        search = grid_search(model, scoring=scorer)
        search.estimator.set_fit_request(sample_weight=True)
        search.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_candidates_without_moments_are_passed_over():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 15)), np.repeat([0, 1], [16, 8])
    with pytest.warns(FitFailedWarning, match="not positive definite"):
        model = CV(radii=[0, 0.1], poolings=[0, 0.9], covariance_estimator=EmpiricalCovariance()).fit(X, y)
    assert model.best_params_["pooling"] == 0.9
    assert np.isnan(model.cv_results_["mean_test_score"]).tolist() == [True] * 4 + [False] * 4
    with pytest.raises(ValueError, match="not positive definite"):
        CV(radii=[0, 0.1], covariance_estimator=EmpiricalCovariance()).fit(X, y)


def test_groups_reach_the_splitter():
    X, y = blobs(2)
    groups = np.arange(len(y)) % 7
    model = CV(radii=[0.1, 1], cv=GroupKFold(3)).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    by_hand = CV(radii=[0.1, 1], cv=splits).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = CV(radii=[0.1, 1], cv=GroupKFold(3)).fit(X, y, groups=groups)
    for other in (by_hand, routed):
        np.testing.assert_array_equal(model.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert model.n_splits_ == 3
    with pytest.raises(ValueError, match="unexpected arguments: \\['colour'\\]"):
        model.fit(X, y, colour=groups)


def test_samples_of_weight_zero_are_as_if_absent():
    X, y = blobs(2)
    weight = np.ones(len(y))
    weight[::5] = 0
    folds = list(StratifiedKFold(4).split(X, y))
    kept = np.flatnonzero(weight)
    place = np.cumsum(weight > 0) - 1
    fewer = [tuple(place[part[weight[part] > 0]] for part in fold) for fold in folds]
    a = CV(radii=[0.1, 1], cv=folds).fit(X, y, weight)
    b = CV(radii=[0.1, 1], cv=fewer).fit(X[kept], y[kept])
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], atol=1e-12)
    np.testing.assert_allclose(a.means_, b.means_)


def test_fast_paths_equal_scorers():
    X, y = blobs(3)
    for name, scorer in (
        ("accuracy", make_scorer(accuracy_score)),
        ("neg_log_loss", make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")),
        (None, lambda model, X, y: float((model.predict(X) == y).mean())),
    ):
        fast, slow = (CV(scoring=scoring).fit(X, y).cv_results_["mean_test_score"] for scoring in (name, scorer))
        np.testing.assert_allclose(fast, slow, atol=1e-12)


def test_the_choice_is_refitted_on_all_data():
    X, y = blobs(2)
    labels = np.where(y == 1, "yes", "no")
    model = CV(["gaussian", "nonparametric"], poolings=[0, 0.3]).fit(X, labels)
    plain = OptimisticScoreClassifier(**model.best_params_).fit(X, labels)
    assert model.best_params_.keys() == {"likelihood", "pooling", "radius"}
    assert model.cv_results_["params"][model.best_index_] == model.best_params_
    np.testing.assert_array_equal(model.radii_, model.best_params_["radius"])
    for method in ("predict", "predict_proba", "decision_function", "undominated", "certified_factor"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(plain, method)(X))
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))


def test_default_candidates_are_factors_on_the_clt_radii():
    X, y = blobs(2)
    clt = np.array([clt_radius(n, 3) for n in np.bincount(y)])
    pairs = CV().fit(X, y)
    for axis, radius in zip(pairs.radius_axes_, clt, strict=True):
        np.testing.assert_allclose(axis, np.array(DEFAULT_FACTORS) * radius)
    assert len(pairs.cv_results_["params"]) == len(DEFAULT_FACTORS) ** 2
    common = CV(per_class=False, radius_factors=[2, 0, 2]).fit(X, y)
    assert common.radius_axes_[0].tolist() == [0, 2]
    np.testing.assert_allclose(common.cv_results_["params"][1]["radius"], 2 * clt)
    given = CV(radius_factors=[0, 2]).fit(X, y)
    np.testing.assert_allclose([setting["radius"] for setting in given.cv_results_["params"]][2], [2 * clt[0], 0])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("per_class", [True, False])
def test_radii_are_radii_whatever_the_number_of_classes(n_classes, per_class):
    X, y = blobs(n_classes)
    model = CV(radii=[0.1, 1], per_class=per_class).fit(X, y)
    radii = {setting["radius"] for setting in model.cv_results_["params"]}
    same = {(0.1,) * n_classes, (1.0,) * n_classes}
    assert radii == (same | {(0.1, 1.0), (1.0, 0.1)} if n_classes == 2 and per_class else same)


def test_the_best_estimator_is_the_one_that_predicts():
    X, y = blobs(2)
    model = CV(radii=[0.1, 1]).fit(X, y)
    for name in ("classes_", "class_count_", "priors_", "means_", "covariances_", "radii_", "offsets_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(model.best_estimator_, name))
    np.testing.assert_array_equal(model.predict_proba(X), model.best_estimator_.predict_proba(X))


def test_number_of_jobs_changes_nothing():
    X, y = blobs(3, n=3000)
    one, two = (CV(n_jobs=n_jobs).fit(X, y).cv_results_["mean_test_score"] for n_jobs in (None, 2))
    np.testing.assert_array_equal(one, two)


def test_single_precision_stays_single():
    X, y = blobs(2)
    model = CV(cv=KFold(3, shuffle=True, random_state=0)).fit(X.astype(np.float32), y)
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert abs(model.best_score_ - CV(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y).best_score_) < 0.03


def test_memory_grows_with_candidates_per_class_not_with_pairs():
    X, y = blobs(2, n=20_000, d=2)

    def peak(n_radii):
        model = CV(radii=np.linspace(0.01, 1, n_radii), cv=2)
        model.fit(X, y)
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    few, many = peak(4), peak(16)
    assert many - few < 1.5 * 12 * X.shape[0] * 8


def test_progress_is_silent_unless_asked_for(capsys):
    X, y = blobs(2)
    CV(radii=[0.1, 1]).fit(X, y)
    assert capsys.readouterr() == ("", "")
    CV(radii=[0.1, 1], verbose=1).fit(X, y)
    assert "cross-validation" in capsys.readouterr().out


@pytest.mark.parametrize("n_classes", [2, 3])
def test_display(n_classes):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = blobs(n_classes)
    model = CV(["gaussian", "nonparametric"], radii=[0, 0.5, 1], poolings=[0, 0.5])
    with pytest.raises(NotFittedError):
        RadiusSearchDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="must be an OptimisticScoreClassifierCV"):
        RadiusSearchDisplay.from_estimator(OptimisticScoreClassifier().fit(X, y))
    display = model.fit(X, y).plot_radii()
    assert display.mean.shape == (3,) * (2 if n_classes == 2 else 1)
    assert display.mean[display.best] == model.best_score_
    chosen = [axis[i] for axis, i in zip(display.axes, display.best, strict=True)]
    if n_classes == 2:
        assert tuple(chosen) == model.best_params_["radius"]
        assert display.ax_.get_ylabel() == "radius of class 0"
    assert RadiusSearchDisplay.from_estimator(model, ax=display.ax_).figure_ is display.figure_
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"radii": []}, "radii must be a list of numbers from 0"),
        ({"radii": [-1]}, "radii must be a list of numbers from 0"),
        ({"radii": [np.nan]}, "radii must be a list of numbers from 0"),
        ({"radii": [[1, 2]]}, "radii must be a list of numbers from 0"),
        ({"radii": "clt"}, "radii must be a list of numbers"),
        ({"radius_factors": [1]}, "exclude each other"),
        ({"radii": None, "radius_factors": [-1]}, "radius_factors must be a list of numbers"),
        ({"poolings": []}, "poolings must be a list of numbers from 0 to 1"),
        ({"poolings": [2]}, "poolings must be a list of numbers from 0 to 1"),
        ({"likelihood": []}, "at least one name"),
        ({"likelihood": 3}, "likelihood must be a name or a list"),
        ({"likelihood": ["gaussian", "gamma"]}, "likelihood must be one of"),
        ({"scoring": 3}, "scoring must be None"),
        ({"scoring": lambda model, X, y: {"a": 1}}, "scoring must return one number"),
        ({"cv": []}, "cv yields no splits"),
        ({"scoring": "precise"}, "precise"),
        ({"decision_rule": "best"}, "decision_rule must be"),
        ({"cv": [([0, 1], [2, 3])]}, "no training samples of class"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = blobs(2)
    y = np.sort(y)
    with pytest.raises(ValueError, match=message):
        CV(**{"radii": [0.01], **parameters}).fit(X * 1e-3, y)


def test_a_fold_without_test_samples_is_refused():
    X, y = blobs(2)
    weight = np.ones(len(y))
    weight[:10] = 0
    with pytest.raises(ValueError, match="no test samples"):
        CV(cv=[(np.arange(10, len(y)), np.arange(10))]).fit(X, y, weight)

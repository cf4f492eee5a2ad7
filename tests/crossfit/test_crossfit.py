"""CrossFitClassifier: scikit-learn's checks, folds, calibration, mixtures, and the questions that ours answer."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from kinds import blobs
from scikit_learn_checks import scikit_learn_checks
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from optiscore import CrossFitClassifier, KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis, load, save
from optiscore.crossfit import calibration
from optiscore.crossfit.calibration import VectorScaling, choose_calibration
from optiscore.crossfit.folds import stratified_folds
from optiscore.crossfit.pool import earned_weights, pool_weights

LINE = LogisticRegression()


@scikit_learn_checks(
    CrossFitClassifier(LogisticRegression(), cv=3, random_state=0),
    CrossFitClassifier(
        [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3))], cv=3, random_state=0
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_left_out_probabilities_are_those_of_the_models_of_the_folds():
    X, y = blobs(3)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = CrossFitClassifier(LINE, cv=5, calibration=None, random_state=0).fit(X, labels)
    assert len(model.fold_estimators_) == 5
    said = np.array([models[0].predict_proba(X) for models in model.fold_estimators_])
    assert ((np.abs(said - model.loo_proba_) < 1e-12).all(axis=2).sum(axis=0) >= 1).all()
    np.testing.assert_allclose(model.predict_proba(X), clone(LINE).fit(X, labels).predict_proba(X), atol=1e-12)
    assert (model.predict(X) == clone(LINE).fit(X, labels).predict(X)).all()
    assert model.loo_log_loss_ == pytest.approx(log_loss(labels, model.loo_proba_))
    again = CrossFitClassifier(LINE, cv=5, calibration=None, random_state=0).fit(X, labels)
    assert (model.loo_proba_ == again.loo_proba_).all()


def test_folds_have_as_much_of_each_class_and_rare_ones_are_somewhere():
    codes = np.repeat([0, 1, 2], [55, 30, 3])
    folds = stratified_folds(codes, 10, seed=0)
    assert sorted(np.concatenate([left_out for _, left_out in folds])) == list(range(88))
    counts = np.array([np.bincount(codes[left_out], minlength=3) for _, left_out in folds])
    assert np.ptp(counts[:, 0]) <= 1
    assert (counts[:, 1] == 3).all()
    assert counts[:, 2].max() == 1
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_rare_classes_and_single_rows_can_be_left_out():
    X, y = blobs(3, n=60)
    y[y == 2] = 0
    y[:2] = 2
    model = CrossFitClassifier(LINE, random_state=0).fit(X, y)
    assert model.loo_proba_.shape == (60, 3)
    assert np.isfinite(model.predict_proba(X)).all()
    few = CrossFitClassifier(LINE, cv=LeaveOneOut()).fit(X[:20], np.arange(20) % 2)
    assert len(few.fold_estimators_) == 20
    assert np.isfinite(few.stability(X)).all()


def test_rows_that_no_fold_leaves_out_say_nothing():
    X, y = blobs(2)
    model = CrossFitClassifier(LINE, cv=ShuffleSplit(3, test_size=0.2, random_state=0)).fit(X, y)
    assert len(model.loo_indices_) < len(y)
    assert len(model.loo_proba_) == len(model.loo_indices_)
    assert (model.loo_codes_ == y[model.loo_indices_]).all()


def test_groups_are_left_out_together():
    """Copies of each row flatter who sees them."""
    X, y = blobs(2, n=60)
    X, y, group = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(60), 3)
    near = KNeighborsClassifier(1)
    flattered = CrossFitClassifier(near, calibration=None, random_state=0).fit(X, y)
    honest = CrossFitClassifier(near, calibration=None, random_state=0).fit(X, y, groups=group)
    splitter = CrossFitClassifier(near, cv=GroupKFold(5), calibration=None).fit(X, y, groups=group)
    right = [(each.loo_proba_.argmax(axis=1) == each.loo_codes_).mean() for each in (flattered, honest, splitter)]
    assert right[0] > 0.95
    assert max(right[1:]) < 0.85
    with config_context(enable_metadata_routing=True):
        routed = CrossFitClassifier(near, random_state=0).set_fit_request(groups=True, sample_weight=False)
        scored = cross_validate(routed, X, y, params={"groups": group}, cv=GroupKFold(3))
    assert scored["test_score"].mean() < 0.85


def test_weights_are_passed_on_where_they_are_taken():
    X, y = blobs(2)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = CrossFitClassifier(LINE, calibration=None, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), clone(LINE).fit(X, y, weight).predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model.loo_weights_, weight[model.loo_indices_])
    assert len(model.loo_weights_) == np.count_nonzero(weight)
    parts = [CrossFitClassifier(LINE, random_state=0).fit(X, y, sample_weight=s * weight) for s in (1e-2, 1e-5)]
    np.testing.assert_allclose(parts[0].loo_weights_, parts[1].loo_weights_)
    with pytest.raises(ValueError, match="all samples of some classes have weight 0"):
        CrossFitClassifier(LINE).fit(X, y, sample_weight=y)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert CrossFitClassifier(pipeline).fit(X, y, sample_weight=weight).loo_weights_.max() == 2
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        CrossFitClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_folds_that_are_repeated_or_leave_more_out_tell_the_same_variance():
    X, y = blobs(2, n=300)
    X[:, 0] += 2 * y
    repeated = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    splitters = (10, repeated, ShuffleSplit(30, test_size=0.3, random_state=0))
    models = [CrossFitClassifier(LINE, cv=cv, calibration=None, random_state=0).fit(X, y) for cv in splitters]
    widths = [np.mean(np.subtract(*model.predict_proba_interval(X)[::-1])) for model in models]
    assert max(widths) < 1.8 * min(widths)
    one = [(np.arange(150), np.arange(150, 300))]
    for cv in (one, [], "a", [(np.arange(300), np.arange(300))] * 2):
        with pytest.raises(ValueError, match="cv must"):
            CrossFitClassifier(LINE, cv=cv).fit(X, y)


def test_rows_that_are_left_out_stand_for_all():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [160, 40])
    X, rows = rng.normal(size=(200, 2)) + y[:, None], np.r_[np.arange(20), np.arange(160, 180)]
    pairs = [(np.setdiff1d(np.arange(200), part), part) for part in (rows[::2], rows[1::2])]
    model = CrossFitClassifier(LINE, cv=pairs, calibration=None).fit(X, y)
    np.testing.assert_allclose(model.priors_, [0.8, 0.2])
    np.testing.assert_allclose(np.bincount(model.loo_codes_, model.loo_weights_) / model.loo_weights_.sum(), [0.8, 0.2])
    np.testing.assert_allclose(model.with_priors([0.8, 0.2]).predict_proba(X), model.predict_proba(X))
    pairs = [(np.setdiff1d(np.arange(200), part), part) for part in (np.arange(20), np.arange(20, 40))]
    with pytest.raises(ValueError, match="no fold leaves out a row of class '1'"):
        CrossFitClassifier(LINE, cv=pairs).fit(X, y)


def test_what_stands_beside_a_classifier_of_ours_is_honoured():
    """A splitter, priors and a calibration: then it is fitted by folds as any other."""
    X, group = np.repeat(blobs(2, n=60)[0], 3, axis=0), np.repeat(np.arange(60), 3)
    y = np.repeat(np.random.default_rng(0).integers(0, 2, 60), 3)
    ours = KernelDiscriminantClassifier(["rbf-1", "linear"])
    pairs = list(GroupKFold(5).split(X, y, group))
    assert CrossFitClassifier(ours, cv=pairs).fit(X, y).loo_log_loss_ > 0.6
    given = CrossFitClassifier(KernelDiscriminantClassifier("short", priors=[0.9, 0.1]), cv=3, random_state=0).fit(X, y)
    assert len(given.fold_estimators_) == 3
    assert len(CrossFitClassifier(ours, cv=3, calibration="temperature").fit(X, y).fold_estimators_) == 3


class Nothing(VectorScaling):
    """A scaling that changes nothing."""

    @classmethod
    def fit(cls, *arguments, **keywords):  # noqa: D102
        return VectorScaling(1.0, np.zeros(2), 1e-300)


def test_a_scaling_that_changes_nothing_is_no_gain(monkeypatch):
    rng = np.random.default_rng(0)
    codes, proba = rng.integers(0, 2, 200), np.full((200, 2), 0.1)
    proba[np.arange(200), codes] = 0.9
    proba[:6] = np.eye(2)[1 - codes[:6]]
    monkeypatch.setattr(calibration, "VectorScaling", Nothing)
    assert calibration.choose_calibration(proba, codes, np.ones(200), np.arange(200) % 10) is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_what_is_too_sure_is_calibrated(n_classes):
    X, y = blobs(n_classes, n=1300, d=3)
    tree = DecisionTreeClassifier(min_samples_leaf=3)
    plain = CrossFitClassifier(tree, calibration=None, random_state=0).fit(X[:300], y[:300])
    auto = CrossFitClassifier(tree, random_state=0).fit(X[:300], y[:300])
    slope = CrossFitClassifier(tree, calibration="temperature", random_state=0).fit(X[:300], y[:300])
    losses = [log_loss(y[300:], np.clip(each.predict_proba(X[300:]), 1e-9, 1)) for each in (plain, auto, slope)]
    assert losses[1] < losses[0] - 0.3
    assert losses[2] < losses[0] - 0.3
    assert auto.mixture_.calibrations[0].slope < 0.7
    np.testing.assert_allclose(auto.predict_proba(X).sum(axis=1), 1)


def test_what_is_calibrated_is_left_as_it_is():
    X, y = blobs(2, n=300)
    model = CrossFitClassifier(LINE, random_state=0).fit(X, y)
    assert model.mixture_.calibrations == [None]


def test_scaling_has_the_least_penalised_loss():
    """Finite differences of the log loss, and a slow search over a grid."""
    rng = np.random.default_rng(0)
    proba, codes = rng.dirichlet([1, 1], 200), rng.integers(0, 2, 200)
    found = VectorScaling.fit(proba, codes, np.ones(200))

    def loss(b, a):
        z = b * np.log(np.maximum(proba, found.least)) + np.array([-a, a])
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        return -log_p[np.arange(200), codes].sum() + 0.5 * (np.log(b) / 0.5) ** 2 + (a / 0.3) ** 2

    slopes, shifts = np.exp(np.linspace(-4, 1, 201)), np.linspace(-0.5, 0.5, 201)
    grid = np.array([[loss(b, a) for a in shifts] for b in slopes])
    assert loss(found.slope, found.intercepts[1]) <= grid.min() + 1e-3
    assert choose_calibration(np.full((9, 2), 0.5), np.arange(9) % 2, np.ones(9), np.zeros(9, dtype=int)) is None


class Halfway(BaseEstimator):
    """A calibration of a user's own."""

    def fit(self, proba, codes):  # noqa: D102
        self.n_classes_ = proba.shape[1]
        return self

    def predict(self, proba):  # noqa: D102
        return 0.5 * proba + 0.5 / self.n_classes_


def test_any_calibration_will_do():
    X, y = blobs(3)
    plain = CrossFitClassifier(LINE, calibration=None).fit(X, y)
    model = CrossFitClassifier(LINE, calibration=Halfway()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5 * plain.predict_proba(X) + 1 / 6)
    with pytest.raises(ValueError, match=re.escape("calibration must be one of ['auto', 'temperature'], None")):
        CrossFitClassifier(LINE, calibration="isotonic").fit(X, y)


def test_a_mixture_is_better_than_its_members_and_takes_none_that_does_not_help():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1400, 4))
    y = (X[:, 0] + (np.abs(X[:, 1]) > 0.7) * 2 - 1 + rng.normal(size=1400) > 0).astype(int)
    members = [("line", LogisticRegression()), ("boosting", HistGradientBoostingClassifier(max_iter=40))]
    mixed = CrossFitClassifier([*members, ("noise", Guess())], random_state=0).fit(X[:500], y[:500])
    assert mixed.members_["name"].tolist() == ["line", "boosting", "noise"]
    assert mixed.members_["weight"][2] == 0
    assert len(mixed.estimators_) == np.count_nonzero(mixed.members_["weight"])
    alone = [CrossFitClassifier(member, random_state=0).fit(X[:500], y[:500]) for _, member in members]
    losses = [log_loss(y[500:], each.predict_proba(X[500:])) for each in (mixed, *alone)]
    assert losses[0] <= min(losses[1:]) + 0.01
    with pytest.raises(ValueError, match="different names"):
        CrossFitClassifier([("line", LINE), ("line", LINE)]).fit(X, y)


class Guess(ClassifierMixin, BaseEstimator):
    """The fractions of the classes."""

    def fit(self, X, y):  # noqa: D102
        self.classes_, counts = np.unique(y, return_counts=True)
        self.proba_ = counts / counts.sum()
        return self

    def predict_proba(self, X):  # noqa: D102
        return np.tile(self.proba_, (len(X), 1))


def test_pool_weights_have_the_least_loss():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 1, size=(2, 60))
    grid = np.linspace(0, 1, 1001)[:, None]
    best = grid[np.log(grid * p[0] + (1 - grid) * p[1]).sum(axis=1).argmax(), 0]
    assert pool_weights(p, np.ones(60))[0] == pytest.approx(best, abs=2e-3)
    assert earned_weights(np.array([np.full(60, 0.9), np.full(60, 0.3)]), np.ones(60)).tolist() == [1, 0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_questions_are_answered(n_classes, tmp_path):
    X, y = blobs(n_classes, n=260)
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    model = CrossFitClassifier(RandomForestClassifier(20), cv=5, random_state=0).fit(X[:200], labels[:200])
    Q = X[200:]
    proba, stability = model.predict_proba(Q), model.stability(Q)
    assert ((stability >= 1 / n_classes) & (stability <= 1)).all()
    lower, upper = model.predict_proba_interval(Q, 0.8)
    assert ((lower <= proba) & (proba <= upper)).all()
    low, high = model.predict_proba_interval(Q, 0.8, classes="predicted")
    places = np.arange(len(Q)), proba.argmax(axis=1)
    np.testing.assert_allclose(low, lower[places])
    np.testing.assert_allclose(high, upper[places])
    assert model.predict_set(Q, 0.95).sum() >= model.predict_set(Q, 0.5).sum()
    shifted = model.with_priors("equal")
    np.testing.assert_allclose(
        shifted.predict_proba(Q) / shifted.predict_proba(Q).sum(axis=1, keepdims=True),
        (lambda p: p / p.sum(axis=1, keepdims=True))(proba / model.loo_priors_),
    )
    assert model.typicality(Q).shape == (60,)
    answers = model.answers(Q)
    assert (answers["label"] == model.predict(Q)).all()
    assert model.estimate_priors(Q).priors.sum() == pytest.approx(1)
    trees = ["sklearn.tree._tree.Tree"]
    save(model, tmp_path / "m.skops", trusted=trees)
    for other in (load(tmp_path / "m.skops", trusted=trees), pickle.loads(pickle.dumps(model))):
        assert repr(other.answers(Q)) == repr(answers)
        assert (other.predict_proba(Q) == proba).all()


@pytest.mark.parametrize("ours", [KernelDiscriminantClassifier("short"), ModeratedDiscriminantAnalysis()])
def test_ours_know_their_left_out_rows(ours):
    X, y = blobs(2, n=200)
    model, plain = CrossFitClassifier(ours).fit(X, y), clone(ours).fit(X, y)
    assert model.fold_estimators_ == []
    assert (model.stability(X) == plain.stability(X)).all()
    np.testing.assert_allclose(model.loo_proba_, plain.loo_proba_, atol=0.3)
    rare = model.with_priors([0.9, 0.1])
    np.testing.assert_allclose(
        rare.predict_proba_interval(X)[0], plain.with_priors([0.9, 0.1]).predict_proba_interval(X)[0]
    )
    mixed = CrossFitClassifier([("ours", ours), ("line", LINE)], cv=3, random_state=0).fit(X, y)
    assert len(mixed.fold_estimators_) == 3


def test_frames_reach_the_classifier_as_they_came():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue"], 120)})
    y = np.where(frame["size"] + (frame["colour"] == "red") > 0.5, "yes", "no")
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), LogisticRegression()
    )
    model = CrossFitClassifier(pipeline, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert model.answers(frame)["label"].shape == (120,)
    assert "typicality" not in model.answers(frame)
    assert not hasattr(model, "typicality")
    with pytest.raises(ValueError, match="typicality is that of columns of numbers"):
        model.typicality(frame)


class Unsure(Guess):
    """Numbers that are no probabilities."""

    def __init__(self, value=0.5):
        self.value = value

    def predict_proba(self, X):  # noqa: D102
        return np.full((len(X), 2), self.value)


def test_classifiers_that_say_what_cannot_be_are_refused():
    X, y = blobs(2)
    for value in (np.nan, 3.0):
        with pytest.raises(ValueError, match="probabilities that are NaN or do not sum to 1"):
            CrossFitClassifier(Unsure(value)).fit(X, y)
    frozen = FrozenEstimator(clone(LINE).fit(*blobs(3)))
    with pytest.raises(ValueError, match="knows other classes than y has"):
        CrossFitClassifier(frozen).fit(X, y)
    frozen = FrozenEstimator(clone(LINE).fit(X[::2], y[::2]))
    model = CrossFitClassifier(frozen).fit(X[1::2], y[1::2])
    with pytest.raises(ValueError, match="a frozen one has none"):
        model.stability(X)
    assert model.predict_set(X).any(axis=1).all()


def test_typicality_looks_at_its_columns():
    X, y = blobs(2)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = CrossFitClassifier(HistGradientBoostingClassifier(max_iter=5), cv=3, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.typicality(frame[frame.columns[::-1]])
    gap = frame[:3].copy()
    gap.iloc[0, 0] = np.nan
    assert np.isnan(model.typicality(gap)).tolist() == [True, False, False]
    assert model.answers(gap)["why"][0] != "unlike the training rows"


def test_it_is_searched_like_any_other():
    X, y = blobs(2)
    pairs = [("line", LogisticRegression()), ("near", KNeighborsClassifier())]
    mixed = GridSearchCV(CrossFitClassifier(pairs, cv=3, random_state=0), {"line__C": [1e-4, 1.0]}, cv=3).fit(X, y)
    assert mixed.best_params_.keys() == {"line__C"}
    assert CrossFitClassifier(pairs).set_params(near=KNeighborsClassifier(3)).get_params()["near__n_neighbors"] == 3
    search = GridSearchCV(CrossFitClassifier(LINE, cv=3, random_state=0), {"estimator__C": [1e-4, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_["estimator__C"] == 1.0
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        CrossFitClassifier(LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match="estimator must be a classifier or a list"):
        CrossFitClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match="cv must be at least 2"):
        CrossFitClassifier(LINE, cv=1).fit(X, y)


def test_independent_samples_agree_as_often_as_stability_says():
    """Phi(M/sqrt(2 V)) for two classes, on average."""
    from scipy.special import ndtr

    X, y = blobs(2, n=3400, d=3)
    X[:, 0] += y
    Q = X[3000:]
    models = [CrossFitClassifier(LINE, random_state=0).fit(X[i : i + 200], y[i : i + 200]) for i in range(0, 3000, 200)]
    labels = np.array([model.predict(Q) for model in models])
    said, done = [], []
    for i, model in enumerate(models):
        odds = model._log_odds(Q)
        said.append(ndtr(odds.log_odds[0] / np.sqrt(2 * odds.variances[0])))
        done.append((np.delete(labels, i, axis=0) == labels[i]).mean(axis=0))
    said, done = np.concatenate(said), np.concatenate(done)
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
        group = (said >= low) & (said < high)
        assert done[group].mean() == pytest.approx(said[group].mean(), abs=0.08)


def test_sets_hold_the_truth_as_often_as_asked():
    X, y = blobs(4, n=3400, d=3)
    model = CrossFitClassifier(RandomForestClassifier(50), random_state=0).fit(X[:400], y[:400])
    for level in (0.8, 0.95):
        named = model.predict_set(X[400:], level)
        assert named[np.arange(3000), y[400:]].mean() == pytest.approx(level, abs=0.04)

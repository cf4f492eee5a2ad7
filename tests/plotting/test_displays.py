"""Displays: what they draw is what the estimator says."""

import matplotlib as mpl
import numpy as np
import pytest
from kinds import blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from optiscore import (
    KernelDiscriminantClassifier,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
)
from optiscore.metrics import area_under_risk_coverage
from optiscore.plotting import (
    CertifiedRegionsDisplay,
    PosteriorBoundsDisplay,
    ProbaIntervalDisplay,
    RelevanceDisplay,
    RiskCoverageDisplay,
)

mpl.use("Agg")


@pytest.fixture(params=["classifier", "pipeline"])
def fitted(request):
    X, y = blobs(3, d=2)
    labels = np.array(["ant", "bee", "cat"])[y]
    classifier = OptimisticScoreClassifier(decision_rule="minimax")
    model = classifier if request.param == "classifier" else make_pipeline(StandardScaler(), classifier)
    yield model.fit(X, labels), X, labels
    mpl.pyplot.close("all")


def test_risk_coverage(fitted):
    model, X, y = fitted
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    right = model.predict(X) == y
    assert display.risk[-1] == pytest.approx(1 - right.mean())
    assert "OptimisticScoreClassifier (area" in display.line_.get_label()
    margin = np.sort(model.predict_proba(X), axis=1)[:, -1]
    other = RiskCoverageDisplay.from_predictions(y, model.predict(X), margin, name="margin", ax=display.ax_)
    assert other.figure_ is display.figure_
    assert other.area == area_under_risk_coverage(right, margin)


def test_posterior_bounds(fitted):
    model, X, _ = fitted
    display = PosteriorBoundsDisplay.from_estimator(model, X, class_of_interest="bee")
    assert len(display.ax_.patches) == len(X)
    assert (display.lower <= display.upper).all()
    assert display.ax_.get_ylabel() == "plausible probability of bee"
    assert PosteriorBoundsDisplay.from_estimator(model, X).class_name == "cat"
    with pytest.raises(ValueError, match="class_of_interest must be one of"):
        PosteriorBoundsDisplay.from_estimator(model, X, class_of_interest="dog")


def test_certified_regions(fitted):
    model, X, y = fitted
    display = CertifiedRegionsDisplay.from_estimator(model, X, y, resolution=40)
    assert display.labels.shape == display.certified.shape == (40, 40)
    corner = np.array([[display.x0[0], display.x1[-1]]])
    assert ["ant", "bee", "cat"][display.labels[-1, 0]] == model.predict(corner)[0]
    again = CertifiedRegionsDisplay.from_predictions(
        display.x0, display.x1, display.labels, display.certified, class_names=display.class_names
    )
    np.testing.assert_array_equal(again.ax_.images[0].get_array(), display.ax_.images[0].get_array())
    with pytest.raises(ValueError, match="X must have two features"):
        CertifiedRegionsDisplay.from_estimator(model, np.ones((5, 3)))


def test_other_estimators_are_refused(fitted):
    _, X, y = fitted
    with pytest.raises(ValueError, match="must be a classifier with probabilities, got LinearSVC"):
        RiskCoverageDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


@pytest.mark.parametrize("classifier", [LogisticRegression(), ModeratedDiscriminantAnalysis()])
def test_risk_and_coverage_of_any_classifier_are_by_its_probabilities(classifier, fitted):
    _, X, y = fitted
    model = make_pipeline(StandardScaler(), classifier).fit(X, y)
    display = RiskCoverageDisplay.from_estimator(model, X, y)
    assert display.name == type(classifier).__name__
    assert display.risk[-1] == pytest.approx(1 - model.score(X, y))


def test_intervals_of_any_origin_are_drawn():
    display = ProbaIntervalDisplay.from_predictions([0.1, 0.0], [0.9, 0.3], [0.5, 0.2], name="late")
    assert display.lower.tolist() == [0.0, 0.1]
    assert display.ax_.get_ylabel() == "probability of late"


@pytest.fixture(params=["classifier", "pipeline"])
def moderated(request):
    X, y = blobs(3)
    labels = np.array(["ant", "bee", "cat"])[y]
    classifier = ModeratedDiscriminantAnalysis()
    model = classifier if request.param == "classifier" else make_pipeline(StandardScaler(), classifier)
    yield model.fit(X, labels), X, labels
    mpl.pyplot.close("all")


def test_intervals_are_drawn_in_order(moderated):
    model, X, _ = moderated
    display = ProbaIntervalDisplay.from_estimator(model, X, label="bee", confidence_level=0.8)
    assert len(display.lower) == 60
    assert (np.diff(display.moderated) >= 0).all()
    assert ((display.lower <= display.nominal + 1e-12) & (display.nominal <= display.upper + 1e-12)).all()
    assert display.ax_.get_ylabel() == "probability of bee"
    segments = display.ax_.collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 1] for segment in segments], np.c_[display.lower, display.upper])
    with pytest.raises(ValueError, match="label must be one of"):
        ProbaIntervalDisplay.from_estimator(model, X, label="dog")


def test_displays_of_intervals_ask_for_a_moderated_model(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="must be a classifier with intervals"):
        ProbaIntervalDisplay.from_estimator(model, X)


def test_relevance_is_drawn_from_the_largest_weight_down():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = (X[:, 4] > 0).astype(int)
    model = KernelDiscriminantClassifier(["linear", "rbf-1"], relevance=True).fit(X, y)
    display = RelevanceDisplay.from_estimator(make_pipeline(model), most=4)
    assert display.ax_.get_yticklabels()[0].get_text() == "4"
    assert [bar.get_width() for bar in display.bars_] == sorted(model.relevance_, reverse=True)[:4]
    assert "2 features" in display.ax_.get_xlabel()
    with pytest.raises(ValueError, match="estimator must be a KernelDiscriminantClassifier"):
        RelevanceDisplay.from_estimator(LogisticRegression().fit(X, y))

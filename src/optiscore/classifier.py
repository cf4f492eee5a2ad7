"""OptimisticScoreClassifier: the paper's classifier and the exact minimax rule as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ._typing import BoolArray, FloatArray
from .certificate import largest_certified_factor
from .decision import LogScores, MinimaxRule, OffsetRule, Rule, decide, non_dominated, posterior_bounds
from .model import ScoreModel
from .nominal import estimate_moments, split_classes
from .score_parameter import ScoreParameter
from .scores import Score, ScoreName, get_score
from .settings import check_offsets, check_pooling, check_priors, check_radii
from .tuning import tuned_offsets


# scikit-learn has no types: its classes are Any to the type checker.
class OptimisticScoreClassifier(ScoreParameter, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier by optimistic score ratios, robust to moments that are known only roughly.

    Each class has a nominal mean and covariance, and a ball of plausible moments around them: all those whose
    `moment_divergence` from the nominal ones is at most the class's radius. A sample is judged by its best plausible
    score under each class (thresholds "tuned", "prior" or a number), or by best and worst together ("minimax").
    Radius 0 gives back quadratic and linear discriminant analysis and the Mahalanobis distance classifier.

    Parameters
    ----------
    score : {"gaussian", "nonparametric", "fixed-mean"} or Score, default="gaussian"
        Kind of score, see `log_score`. The nonparametric score is 1 for all points near a class when its radius is
        large, as it is for tiny samples; such ties are all decided alike, and the Gaussian score is the better choice.
    radius : {"clt", "limit"}, float, array-like of shape (n_classes,) or dict, default="clt"
        Radii: calibrated to Gaussian samples (`clt_radius`) or to the samples at hand (`limit_radius`), one number
        for all classes, one per class in the order of `classes_`, or a dict from label to number.
    quantile : float, default=0.5
        Quantile of the calibrated radii.
    threshold : {"tuned", "prior", "minimax"}, float or array-like of shape (n_classes,), default="tuned"
        What the scores are compared by. "tuned" chooses offsets per class that classify the most training samples
        right (the paper's rule). "prior" weighs scores by the priors: right at radius 0, but with calibrated radii and
        unequal class sizes the smaller class, whose radius is larger, wins everywhere. "minimax" decides for the class
        whose smallest plausible posterior is largest; it needs no tuning. A number tau decides between two classes for
        the second where the ratio of scores is at least tau; several numbers divide each class's score by its own.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None takes the shares of the training samples.
    covariance_estimator : estimator, default=None
        None stands for Ledoit-Wolf shrinkage of the features standardised within the class. Otherwise any scikit-learn
        covariance estimator; it is cloned per class, and its ``location_`` is taken as the mean where it has one.
    pooling : float, default=0.0
        Share, between 0 and 1, of the pooled covariance (weighted by the priors) in that of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities.
    means_ : ndarray of shape (n_classes, n_features)
        Nominal means.
    covariances_ : ndarray of shape (n_classes, n_features, n_features)
        Nominal covariances.
    radii_ : ndarray of shape (n_classes,)
        Radii of the ambiguity sets.
    threshold_ : ndarray of shape (n_classes,)
        Offsets added to the log scores; for two classes log tau is the first minus the second. For "minimax" the log
        priors.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    log_score : Scores of points under given moments.
    RidgeCovariance : Covariance plus a multiple of the identity.

    Notes
    -----
    The methods that the paper compares with are settings of this class:

    =========================== =================================================================================
    method                      setting
    =========================== =================================================================================
    GQDA-CLT (paper)            the defaults
    NPQDA-CLT (paper)           ``score="nonparametric"``
    KQDA                        ``score="fixed-mean"`` with a radius per class
    RQDA                        ``radius=0, covariance_estimator=RidgeCovariance(rho)``
    SQDA                        ``radius=0, covariance_estimator=GraphicalLasso(rho)``
    shrunk QDA, tuned threshold ``radius=0``
    QDA                         ``radius=0, threshold="prior", covariance_estimator=EmpiricalCovariance()``
    LDA                         ``radius=0, threshold="prior", pooling=1, covariance_estimator=EmpiricalCovariance()``
    Mahalanobis distance        ``radius=0, threshold=1, score="nonparametric"``
    =========================== =================================================================================

    Samples of type float32 are kept so: distances, scores and probabilities are computed in float32, which loses digits
    of features whose mean is large against their spread. Moments are float64 always.

    References
    ----------
    Nguyen, Si, Blanchet: Robust Bayesian Classification Using an Optimistic Score Ratio, ICML 2020.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimisticScoreClassifier(threshold="minimax").fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> lower, upper = model.predict_proba_bounds(X[[0, 70, 133]])
    >>> lower.round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.  , 0.02],
           [0.  , 0.05, 0.01]])
    >>> model.predict_set(X[[0, 70, 133]])
    array([[ True, False, False],
           [False,  True,  True],
           [False,  True,  True]])
    >>> model.certified_radius(X[[0, 70, 133]]).round(2)
    array([1.017e+01, 1.000e-02, 5.000e-02])
    """

    def __init__(
        self,
        score: ScoreName | Score = "gaussian",
        *,
        radius: Any = "clt",
        quantile: float = 0.5,
        threshold: Any = "tuned",
        priors: ArrayLike | None = None,
        covariance_estimator: Any = None,
        pooling: float = 0.0,
    ) -> None:
        self.score = score
        self.radius = radius
        self.quantile = quantile
        self.threshold = threshold
        self.priors = priors
        self.covariance_estimator = covariance_estimator
        self.pooling = pooling

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn moments, radii and offsets from labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; whole numbers act as repetitions. They weigh moments, shrinkage, priors, radii and offsets.
            Samples of weight 0 are left out, and so is a class that has no others.

        Returns
        -------
        self : OptimisticScoreClassifier
        """
        self.__dict__.pop("_rule", None)
        points, labels, weight = self._validate_training(X, y, sample_weight)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least two classes with samples of positive weight, got 1 class: "
                f"{self.classes_.tolist()}. Add samples of another class."
            )
        codes = np.searchsorted(self.classes_, labels)
        samples = split_classes(points, codes, self.classes_, weight)
        self.priors_ = check_priors(self.priors, samples)
        moments = estimate_moments(samples, self.priors_, self.covariance_estimator, check_pooling(self.pooling))
        self.means_, self.covariances_ = moments.means, moments.covariances
        self.radii_ = check_radii(self.radius, self.quantile, samples, moments)
        self._model = ScoreModel(get_score(self.get_params(deep=False)["score"]), moments, self.radii_)
        self._rule = self._fit_rule(points, codes, weight)
        self.threshold_ = self._rule.offsets
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_rule")

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        X = self._validate(X)
        labels = np.empty(len(X), dtype=self.classes_.dtype)

        def consume(rows: slice, scores: LogScores) -> None:
            labels[rows] = self.classes_.take(decide(self._rule, scores))

        self._model.for_each_block(X, consume, self._rule.needs_pessimistic)
        return labels

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """What the decisions are taken by: the largest column, or the sign where there are two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log R - log tau, and for "minimax" half the difference of the log odds below; >= 0 is the
            second class. More: log score plus offset per class, and for "minimax" the log odds of each class's
            smallest plausible posterior.
        """
        scores = self._log_scores(X)
        return self._rule.margin(scores) if len(self.classes_) == 2 else self._rule.columns(scores).T

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities.
        """
        scores = self._log_scores(X)
        return self._rule.log_proba(scores).T

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes, the largest being that of the predicted one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Optimistic scores times the exponential of the offsets, normalised. For "minimax" the logistic function of
            `decision_function` with two classes, and the smallest plausible posteriors, normalised, with more. At
            radius 0 with "prior" or "minimax" these are the posteriors themselves.
        """
        return np.exp(self.predict_log_proba(X))

    def log_score_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Worst and best plausible log score of each sample under each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        pessimistic, optimistic : ndarray of shape (n_samples, n_classes)
            Natural logarithms of densities (or of probabilities, for the nonparametric score).
        """
        X = self._validate(X)
        low, high = self._model.log_score_bounds(X)
        return low.T, high.T

    def predict_proba_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest posterior of each class over all plausible moments, for the priors `priors_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Both are attained by some moments in the ambiguity sets.
        """
        lower, upper = posterior_bounds(*self._weighted_bounds(X))
        return lower.T, upper.T

    def predict_set(self, X: ArrayLike) -> BoolArray:
        """The classes that no other class dominates under all plausible moments, for the priors `priors_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the classes that remain; a row with one True is a certified decision.
        """
        return non_dominated(*self._weighted_bounds(X)).T

    def certified_radius(self, X: ArrayLike) -> FloatArray:
        """The largest factor on all radii under which the predicted label stays certified.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above 1, the decision is certified at the fitted radii: no plausible moments change the most probable class
            (for the priors `priors_`). 0 where the nominal posterior already disagrees with `predict`, infinity where
            the label is certified whatever the factor (always so at radius 0).
        """
        X = self._validate(X)
        factors = np.empty(len(X))
        evaluate = self._model.evaluator(len(X), X.dtype.type, self._rule.needs_pessimistic)

        def consume(rows: slice, alpha: FloatArray) -> None:
            decided = decide(self._rule, evaluate(alpha))
            factors[rows] = largest_certified_factor(self._model, alpha, decided, np.log(self.priors_))

        self._model.distances.for_each_block(X, consume)
        with np.errstate(over="ignore"):
            return factors.astype(X.dtype, copy=False)

    def _fit_rule(self, X: FloatArray, codes: np.ndarray, sample_weight: FloatArray | None) -> Rule:
        if isinstance(self.threshold, str) and self.threshold in ("prior", "minimax"):
            rule = OffsetRule if self.threshold == "prior" else MinimaxRule
            return rule(np.log(self.priors_))
        if isinstance(self.threshold, str) and self.threshold == "tuned":
            scores = self._model.log_scores(X, with_pessimistic=False)
            return OffsetRule(tuned_offsets(scores.optimistic, codes, self.priors_, sample_weight))
        return OffsetRule(check_offsets(self.threshold, len(self.classes_)))

    def _validate_training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[FloatArray, np.ndarray, FloatArray | None]:
        """Samples, labels and weights; samples of weight 0 are left out."""
        points, labels = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(labels)
        if sample_weight is None:
            return points, labels, None
        weight = _check_sample_weight(sample_weight, points, dtype=np.float64, ensure_non_negative=True)
        counted = weight > 0
        return (points, labels, weight) if counted.all() else (points[counted], labels[counted], weight[counted])

    def _validate(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _log_scores(self, X: ArrayLike) -> LogScores:
        """What the decision rule needs to know of the samples."""
        X = self._validate(X)
        return self._model.log_scores(X, self._rule.needs_pessimistic)

    def _weighted_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Worst and best log scores plus log priors, of shape (n_classes, n_samples)."""
        X = self._validate(X)
        low, high = self._model.log_score_bounds(X)
        log_priors = np.log(self.priors_)[:, None].astype(low.dtype)
        return low + log_priors, high + log_priors

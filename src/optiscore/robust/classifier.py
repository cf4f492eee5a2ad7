"""OptimisticScoreClassifier: the paper's classifier and the exact minimax rule as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.availability import only_if
from ..estimators.streaming import Streaming
from ..estimators.validation import check_priors, validate_training
from ..moments.covariance import check_estimator_for_sums
from ..moments.labelled import ClassData
from ..numerics.arrays import Array
from .answers import WorstCaseAnswers
from .learning import ScoredClasses, score_classes, tune, warn_if_one_class_wins
from .radii import check_radius_parameter
from .rules import check_decision_rule, given_offsets, is_tuned
from .scores.registry import Likelihood, LikelihoodName, get_likelihood


class OptimisticScoreClassifier(WorstCaseAnswers, Streaming):
    """Classifier by optimistic score ratios, robust to moments that are known only roughly.

    Each class has a nominal mean and covariance, and a ball of plausible moments around them: all those whose
    `moment_divergence` from the nominal ones is at most the class's radius. A sample is judged by its best plausible
    score under each class (rules "tuned", "prior" or a number), or by best and worst together ("minimax").
    Radius 0 with the rule "prior" gives back discriminant analysis: quadratic, with ``pooling=1`` linear, to all digits
    where covariances are the same (scikit-learn's with `EmpiricalCovariance()`; its solver "svd" divides by n - 1, or
    by n in later versions); with the nonparametric likelihood the Mahalanobis distance classifier.

    Parameters
    ----------
    likelihood : {"gaussian", "nonparametric", "fixed-mean"} or Likelihood, default="gaussian"
        Kind of score, see `log_score`. The nonparametric score is 1 for all points near a class when its radius is
        large, as it is for tiny samples; such ties are all decided alike, and the Gaussian score is the better choice.
    radius : {"clt", "empirical"}, float, array-like of shape (n_classes,) or dict, default="clt"
        Radii: calibrated to Gaussian samples (`clt_radius`) or to the samples at hand (`empirical_radius`), one number
        for all classes, one per class in the order of `classes_`, or a dict from label to number.
    quantile : float, default=0.5
        Quantile of the calibrated radii.
    decision_rule : {"tuned", "prior", "minimax"}, float or array-like of shape (n_classes,), default="tuned"
        What the scores are compared by. "tuned" chooses offsets per class that classify the most training samples
        right (the paper's rule): of two classes exactly, of more to a local optimum, and there some 80,000 to 160,000
        of the samples decide where there are more. "prior" weighs scores by the priors: right at radius 0, but with
        calibrated radii and unequal class sizes the smaller class, whose radius is larger, wins everywhere. "minimax"
        decides for the class whose smallest plausible posterior is largest; it needs no tuning. A number tau decides
        between two classes for the second where the ratio of scores is at least tau; several numbers divide each
        class's score by its own.
    priors : array-like of shape (n_classes,), dict or "equal", default=None
        Class probabilities in the order of `classes_`, by label, or all the same; None takes the fractions of the
        training samples.
    covariance_estimator : estimator, default=None
        None stands for Ledoit-Wolf shrinkage of the features standardised within the class. Otherwise any scikit-learn
        covariance estimator; it is cloned per class, and its ``location_`` is taken as the mean where it has one.
    pooling : float, default=0.0
        Weight, between 0 and 1, of the pooled covariance (weighted by the priors) in that of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_count_ : ndarray of shape (n_classes,)
        Number of training samples of each class, or their total weight.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities.
    means_ : ndarray of shape (n_classes, n_features)
        Nominal means.
    covariances_ : ndarray of shape (n_classes, n_features, n_features)
        Nominal covariances.
    radii_ : ndarray of shape (n_classes,)
        Radii of the ambiguity sets.
    offsets_ : ndarray of shape (n_classes,)
        Offsets added to the log scores; for two classes log tau is the first minus the second. For "prior" and
        "minimax" the logarithms of `priors_`.
    likelihood_ : str or Likelihood
        The kind of score.
    decision_rule_ : {"offsets", "prior", "minimax"}
        The kind of rule; "offsets" are those that were tuned or given.

    See Also
    --------
    optiscore.dask.OptimisticScoreClassifier : The same on Dask's arrays and data frames.
    log_score : Scores of points under given moments.
    RidgeCovariance : Covariance plus a multiple of the identity.

    Notes
    -----
    The methods that the paper compares with are settings of this class:

    =========================== =================================================================================
    method                      setting
    =========================== =================================================================================
    GQDA-CLT (paper)            the defaults
    NPQDA-CLT (paper)           ``likelihood="nonparametric"``
    KQDA                        ``likelihood="fixed-mean"`` with a radius per class
    RQDA                        ``radius=0, covariance_estimator=RidgeCovariance(rho)``
    SQDA                        ``radius=0, covariance_estimator=GraphicalLasso(rho)``
    shrunk QDA, tuned           ``radius=0``
    QDA                         ``radius=0, decision_rule="prior", covariance_estimator=EmpiricalCovariance()``
    LDA                         the same with ``pooling=1``
    Mahalanobis distance        ``radius=0, decision_rule=1, likelihood="nonparametric"``
    =========================== =================================================================================

    Fitted attributes are results and cannot be set: other class probabilities and other radii are copies, by
    `with_priors` and `with_radii`. Pickles and files hold parameters and fitted attributes, and after `partial_fit` its
    sums.

    Samples of type float32 are kept so: distances, scores and probabilities are computed in float32, which loses digits
    of features whose mean is large against their spread. Moments are float64 always.

    Under scikit-learn's ``array_api_dispatch``, samples of PyTorch, CuPy, JAX and other libraries of the array API
    standard may be on any device: sums and squared distances are computed there, all else on the host, from one number
    per sample and class. Results and fitted arrays come where the samples are. Copies, pickles and files hold NumPy's
    arrays.

    References
    ----------
    Nguyen, Si, Blanchet: Robust Bayesian Classification Using an Optimistic Score Ratio, ICML 2020.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> lower, upper = model.predict_proba_bounds(X[[0, 70, 133]])
    >>> lower.round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.  , 0.02],
           [0.  , 0.05, 0.01]])
    >>> model.undominated(X[[0, 70, 133]])
    array([[ True, False, False],
           [False,  True,  True],
           [False,  True,  True]])
    >>> model.certified_factor(X[[0, 70, 133]]).round(2)
    array([1.017e+01, 1.000e-02, 5.000e-02])
    """

    def __init__(
        self,
        likelihood: LikelihoodName | Likelihood = "gaussian",
        *,
        radius: Any = "clt",
        quantile: float = 0.5,
        decision_rule: Any = "tuned",
        priors: Any = None,
        covariance_estimator: Any = None,
        pooling: float = 0.0,
    ) -> None:
        self.likelihood = likelihood
        self.radius = radius
        self.quantile = quantile
        self.decision_rule = decision_rule
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
            Weights >= 0; integers act as repetitions. They weigh moments, shrinkage, priors, radii and offsets.
            Samples of weight 0 are left out, and so is a class that has no others.

        Returns
        -------
        self : OptimisticScoreClassifier
        """
        self._check_parameters()
        with self._learning():
            training = validate_training(self, X, y, sample_weight)
            known = self._scored(training.by_class())
            is_rule_tuned = is_tuned(self.decision_rule)
            offsets = tune(known, training) if is_rule_tuned else given_offsets(self.decision_rule, known.priors)
            self._keep(**known.results(training.labels, self.decision_rule, offsets, training.X))
        if self.decision_rule_ == "prior":
            warn_if_one_class_wins(self._model, training)
        return self

    def _scored(self, classes: Sequence[ClassData]) -> ScoredClasses:
        """Return scores under the classes, by the parameters."""
        parameters = self.get_params(deep=False)
        del parameters["decision_rule"]
        return score_classes(classes, **parameters)

    def _check_parameters(self) -> None:
        """Raise if no samples can make parameters right, before any are read."""
        get_likelihood(self.likelihood)
        check_decision_rule(self.decision_rule)
        if not (isinstance(self.pooling, (int, float, np.number)) and 0 <= self.pooling <= 1):
            raise ValueError(f"pooling must be a number between 0 and 1, got {self.pooling!r}.")
        if self.priors is not None:
            check_priors(self.priors)
        check_radius_parameter(self.radius, self.quantile)

    def _check_for_blocks(self) -> None:
        if is_tuned(self.decision_rule):
            raise ValueError(
                "decision_rule 'tuned' compares scores of all training samples, which partial_fit does not keep. Use "
                "decision_rule='minimax', which needs no tuning, 'prior', or a number."
            )
        self._check_for_sums()

    def _check_for_sums(self) -> None:
        if isinstance(self.radius, str) and self.radius == "empirical":
            raise ValueError("radius 'empirical' needs all samples at once, not block by block. Use 'clt' or numbers.")
        check_estimator_for_sums(self.covariance_estimator)

    @only_if(_check_for_blocks)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more block of samples; the blocks have one sample or more each, in any order.

        The model is that of `fit` on all blocks together, but for rounding. Until each class has samples, and a
        covariance that is positive definite, the classifier is not fitted and its methods say why.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur; needed in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, as for `fit`.

        Returns
        -------
        self : OptimisticScoreClassifier

        Raises
        ------
        ValueError
            If a parameter needs all samples at once: decision_rule "tuned", radius "empirical", or a covariance
            estimator other than None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. ``hasattr`` tells
            beforehand. Also after `fit`, which keeps no sums that a block could be added to.

        Examples
        --------
        >>> import numpy as np
        >>> from optiscore import OptimisticScoreClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = OptimisticScoreClassifier(decision_rule="minimax")
        >>> for rows in np.array_split(np.arange(150), 4):
        ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        >>> whole = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
        >>> np.allclose(model.covariances_, whole.covariances_, rtol=1e-12)
        True
        """
        self._check_parameters()
        self._add_block(X, y, classes, sample_weight)
        return self

    def _learn_from_sums(self, labels: np.ndarray, classes: list[ClassData], samples: Array) -> Self:
        known = self._scored(classes)
        offsets = given_offsets(self.decision_rule, known.priors)
        return self._keep(**known.results(labels, self.decision_rule, offsets, samples))

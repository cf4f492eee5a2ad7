"""OptimisticScoreClassifier: the paper's classifier and the exact minimax rule as a scikit-learn estimator."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.availability import only_if
from ..estimators.streaming import StreamingState
from ..estimators.validation import validate_training
from ..moments.labelled import ClassData
from ..moments.nominal import class_priors, estimate_moments
from ..numerics.arrays import Array, in_place, take_rows, to_host
from ..numerics.types import FloatArray
from .answers import BaseScoreClassifier
from .log_scores import ScoreModel
from .parameters import check_for_blocks, check_parameters, check_pooling, choose_radii
from .rules import choose_offsets, decide
from .scores.registry import Likelihood, LikelihoodName, get_likelihood
from .tuning import representatives, tuned_offsets, tuned_offsets_of_two


class OptimisticScoreClassifier(BaseScoreClassifier, StreamingState):
    """Classifier by optimistic score ratios, robust to moments that are known only roughly.

    Each class has a nominal mean and covariance, and a ball of plausible moments around them: all those whose
    `moment_divergence` from the nominal ones is at most the class's radius. A sample is judged by its best plausible
    score under each class (rules "tuned", "prior" or a number), or by best and worst together ("minimax").
    Radius 0 with the rule "prior" gives back discriminant analysis, with `EmpiricalCovariance()` to all digits:
    quadratic, with ``pooling=1`` linear; with the nonparametric likelihood the Mahalanobis distance classifier.

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
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None takes the fractions of the training samples.
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had them.

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

    The fitted attributes are the model: predictions follow when one of them is replaced, such as ``priors_`` by those
    of another population. The arrays are read-only; `class_count_`, and `offsets_` where they follow from the priors,
    cannot be set. Tensors of other libraries cannot be protected: replace them, do not change them in place.
    Pickles and files hold parameters and fitted attributes, and after `partial_fit` its sums.

    Samples of type float32 are kept so: distances, scores and probabilities are computed in float32, which loses digits
    of features whose mean is large against their spread. Moments are float64 always.

    Under scikit-learn's ``array_api_dispatch``, samples of PyTorch, CuPy, JAX and other libraries of the array API
    standard stay in their library and on their device, and so do results and fitted arrays; what moves to the host is
    sums of size O(d^2), labels and, for the rule "tuned", scores. Certified factors, radius "empirical" and covariance
    estimators of scikit-learn are computed on the host. Copies, pickles and files hold NumPy's arrays;
    ``sklearn.utils._array_api.move_estimator_to`` brings them to a device again.

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
    >>> model.predict_set(X[[0, 70, 133]])
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
        priors: ArrayLike | None = None,
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
        self._drop_fitted()
        check_parameters(vars(self))
        training = validate_training(self, X, y, sample_weight)

        def tune(model: ScoreModel, priors: FloatArray) -> FloatArray:
            if len(priors) == 2:
                return tuned_offsets_of_two(model.log_ratio(in_place(training.X)), training.codes, training.weight)
            rows, weight = representatives(training.codes, len(priors), training.weight)
            some = training.X if rows is None else take_rows(training.X, rows)
            codes = training.codes if rows is None else training.codes[rows]
            return tuned_offsets(to_host(model.optimistic(in_place(some))), codes, priors, weight)

        self._learn(training.labels, training.by_class(), tune, training.X)
        if self.decision_rule_ == "prior":
            self._warn_if_one_class_wins(training.X)
        return self

    def _warn_if_one_class_wins(self, samples: Array) -> None:
        """A class with a larger radius may win everywhere if scores are weighed by the priors."""
        rule, scores = self._model.rule, self._model.scores

        def winners(X: Array) -> np.ndarray:
            codes = scores.map(in_place(X), lambda known: decide(rule, known), rule.needs_pessimistic)
            return np.unique(to_host(codes))

        # The means are few: where two classes win at these, there is no need to ask all samples.
        if len(self.classes_) > 1 and len(winners(scores.moments.means)) == 1 and len(won := winners(samples)) == 1:
            label = self.classes_[int(won[0])].item()
            warnings.warn(
                f"decision_rule='prior' gives all training samples to class {label!r}, since scores grow with the "
                f"radius of their class. Use decision_rule='minimax' or 'tuned', or a smaller radius.",
                UserWarning,
                stacklevel=3,
            )

    def _check_for_blocks(self) -> None:
        check_for_blocks(self.decision_rule, self.radius, self.covariance_estimator)

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
        check_parameters(vars(self))
        self._add_block(X, y, classes, sample_weight)
        return self

    def _learn_from_sums(self, labels: np.ndarray, classes: list[ClassData], samples: Array) -> Self:
        return self._learn(labels, classes, None, samples)

    def _learn(
        self,
        labels: np.ndarray,
        classes: Sequence[ClassData],
        tune: Callable[[ScoreModel, FloatArray], FloatArray] | None,
        samples: Array = None,
    ) -> Self:
        """From what is known of each class to moments, radii and offsets; without samples, these cannot be tuned."""
        priors = class_priors(self.priors, classes)
        moments = estimate_moments(classes, priors, self.covariance_estimator, check_pooling(self.pooling))
        radii = choose_radii(self.radius, self.quantile, classes, moments)
        model = ScoreModel(get_likelihood(self.likelihood), moments, radii)
        offsets = choose_offsets(self.decision_rule, priors, None if tune is None else lambda: tune(model, priors))
        class_count = np.array([known.sums.weight_sum for known in classes])
        return self._set_fitted(labels, class_count, priors, model, offsets, samples)

"""OptimisticScoreClassifier: the paper's classifier and the exact minimax rule as a scikit-learn estimator."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import _check_partial_fit_first_call

from ._typing import FloatArray
from .array_api import Array, to_host
from .availability import only_if
from .model import ScoreModel
from .moment_sums import MomentSums
from .moments import SingularCovarianceError
from .nominal import estimate_moments
from .prediction import BaseScoreClassifier
from .scores import Score, ScoreName, get_score
from .settings import check_for_blocks, check_pooling, check_priors, check_radii, check_settings
from .thresholds import choose_rule, is_tuned
from .training_set import ClassData, TrainingSet, merge
from .tuning import tuned_offsets

#: Sums of each class, None where it has no samples.
Sums: TypeAlias = list[MomentSums | None]


class OptimisticScoreClassifier(BaseScoreClassifier):
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

    Under scikit-learn's ``array_api_dispatch``, samples of PyTorch, CuPy, JAX and other libraries of the array API
    standard stay in their library and on their device, and so do results and fitted arrays; what moves to the host is
    sums of size O(d^2), labels and, for threshold "tuned", scores. Certified radii, radius "limit" and covariance
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
        training = self._validate_training(X, y, sample_weight).counted()
        classes = training.by_class()

        def tune(model: ScoreModel, priors: FloatArray) -> FloatArray:
            optimistic = model.log_scores(training.X, with_pessimistic=False).optimistic
            return tuned_offsets(to_host(optimistic), training.codes, priors, training.weight)

        self._learn(classes, tune, training.X)
        self._sums: Sums | None = None if is_tuned(self.threshold) else [known.sums for known in classes]
        return self

    def _check_for_blocks(self) -> None:
        check_for_blocks(self.threshold, self.radius, self.covariance_estimator)

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
            If a setting needs all samples at once: threshold "tuned", radius "limit", or a covariance estimator other
            than None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. ``hasattr`` tells beforehand.

        Examples
        --------
        >>> import numpy as np
        >>> from optiscore import OptimisticScoreClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = OptimisticScoreClassifier(threshold="minimax")
        >>> for rows in np.array_split(np.arange(150), 4):
        ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        >>> whole = OptimisticScoreClassifier(threshold="minimax").fit(X, y)
        >>> np.allclose(model.covariances_, whole.covariances_, rtol=1e-12)
        True
        """
        check_settings(self.get_params(deep=False))
        sums = self._sums_so_far()
        points, labels, weight = self._validate_labelled(X, y, sample_weight, reset=sums is None, is_block=True)
        if sums is None:
            self.__dict__.pop("classes_", None)
        given = to_host(classes)
        if _check_partial_fit_first_call(self, given):
            # As fit has them: labels that are objects stay objects.
            self.classes_ = np.unique(np.asarray(given))
        if len(self.classes_) < 2:
            raise ValueError(f"classes must list at least two labels, got {self.classes_.tolist()}.")
        if unknown := sorted(set(labels.tolist()) - set(self.classes_.tolist())):
            listed = f"{unknown[:5]}{' and more' if len(unknown) > 5 else ''}"
            raise ValueError(f"y holds labels that are not in classes {self.classes_.tolist()}: {listed}.")
        block = TrainingSet(points, np.searchsorted(self.classes_, labels), self.classes_, weight).counted().sums()
        merged = block if sums is None else [merge(one, other) for one, other in zip(sums, block, strict=True)]
        self._learn_from_sums(merged, points)
        self._sums = merged
        return self

    def _learn_from_sums(self, sums: Sums, samples: Array) -> None:
        """Make the model, or note why there is none yet."""
        pairs = list(zip(self.classes_, sums, strict=True))
        if lacking := [str(label) for label, known in pairs if known is None]:
            self._forget(f"there are no samples of class {lacking[0]!r} yet.")
            return
        try:
            self._learn([ClassData(label, known) for label, known in pairs if known is not None], None, samples)
        except SingularCovarianceError as error:
            self._forget(str(error))

    def _learn(
        self,
        classes: Sequence[ClassData],
        tune: Callable[[ScoreModel, FloatArray], FloatArray] | None,
        samples: Array = None,
    ) -> None:
        """From what is known of each class to moments, radii and offsets; without samples, these cannot be tuned."""
        priors = check_priors(self.priors, classes)
        moments = estimate_moments(classes, priors, self.covariance_estimator, check_pooling(self.pooling))
        radii = check_radii(self.radius, self.quantile, classes, moments)
        model = ScoreModel(get_score(self.get_params(deep=False)["score"]), moments, radii)
        rule = choose_rule(self.threshold, priors, tune and partial(tune, model, priors))
        self._set_fitted(priors, model, rule, samples)

    def _sums_so_far(self) -> Sums | None:
        sums: Sums | None = self.__dict__.get("_sums")
        if sums is None and hasattr(self, "_learned"):
            raise ValueError(
                "this model keeps no sums that partial_fit could add to, as after fit with threshold 'tuned'. Fit "
                "again, or go on with a new classifier: sklearn.base.clone(model).partial_fit(...)."
            )
        return sums

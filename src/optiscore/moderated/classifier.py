"""ModeratedDiscriminantAnalysis: Gaussian classes whose probabilities, intervals and stability know their sample."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..estimators.availability import only_if
from ..estimators.validation import check_priors, resolve_priors, validate_training
from ..moments.covariance import check_estimator_for_sums
from ..moments.labelled import ClassData, TrainingSet
from ..moments.subsets import stratified
from ..numerics.arrays import take_rows, to_host
from ..numerics.types import FloatArray
from ..trust.limits import UNTYPICAL, lower_quantile
from .answers import MappedGaussians, ModeratedAnswers, check_mapped
from .gaussians import fit_gaussians
from .power import PowerTransform, fit_power
from .weighing import weigh_models

_COVARIANCES = ("both", "own", "shared")

# Training samples that are left out one by one, at most, for sets of labels and for proportions of the classes.
_LEFT_OUT = 1000


class ModeratedDiscriminantAnalysis(ModeratedAnswers):
    """Discriminant analysis whose probabilities, intervals and confidence know how many samples there were.

    Two Gaussian models, one with a covariance for each class and one with a shared covariance, take the sampling error
    of their moments into account by the likelihood ratio of the training samples. Their posteriors are moderated by
    that error and averaged, with weights and a sharpness from training samples that are left out.

    Parameters
    ----------
    covariance : {"both", "own", "shared"}, default="both"
        Which models: covariances of the classes' own (quadratic boundaries), a shared one (linear), or both averaged.
    feature_map : {"power", None} or transformer, default="power"
        What is done to the features first: `optiscore.PowerMap`, nothing, or any scikit-learn transformer,
        which is cloned and trained with ``fit_transform`` on arrays, without names. `partial_fit` takes None or a
        transformer that is fitted already.
    priors : array-like of shape (n_classes,), dict or "equal", default=None
        Class probabilities in the order of `classes_`, by label, or all the same; None takes the fractions of the
        training samples.
    covariance_estimator : estimator, default=None
        None stands for Ledoit-Wolf shrinkage of standardised features, within each class and, for the shared
        covariance, of all deviations from the class means. Otherwise any scikit-learn covariance estimator.
    calibration : {"auto", None}, default="auto"
        Whether the two models are weighted, and how much of their log densities counts, by the log loss of training
        samples that are left out: columns of zeros and ones, and skewed ones, make densities say more than they know.
        None takes the models as they are, with equal weights, as `partial_fit` does, which has no samples to leave out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_count_ : ndarray of shape (n_classes,)
        Number of training samples of each class, or their total weight: this is what certainty comes from.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities.
    means_ : ndarray of shape (n_classes, n_mapped_features)
        Means of the mapped features.
    covariances_ : ndarray of shape (n_classes, n_mapped_features, n_mapped_features) or None
        Covariances of the classes' own.
    covariance_ : ndarray of shape (n_mapped_features, n_mapped_features) or None
        Shared covariance.
    mean_distance_ : ndarray of shape (n_classes + 1,)
        Mean squared distance of the training samples from their class, and last under the shared covariance: the number
        of features if there is no shrinkage.
    effective_features_ : ndarray of shape (n_classes + 1,)
        How many features the shrunk covariances have in effect, and last the shared one.
    kurtosis_, radial_kurtosis_ : ndarray of shape (n_classes + 1,)
        Excess kurtosis of the features and of the distance from the mean, for each class and last for all deviations
        from the class means; 0 for Gaussian samples. Intervals depend on the first, `typicality` on the second.
    model_weights_ : ndarray of shape (n_models,) or None
        Weights of the models, own covariances first; None where they are equal for want of left-out samples. A model of
        a weight below a quarter has no say in stability and intervals.
    sharpness_ : float
        The part of log densities that counts, between 0.1 and 1: posteriors are proportional to priors times densities
        to this power.
    loo_proba_ : ndarray of shape (n_left_out, n_classes)
        Probabilities of some training samples, each left out: sets of labels and `estimate_priors` come from them.
        There are none after `partial_fit`.
    loo_codes_ : ndarray of shape (n_left_out,)
        Their classes, as indices into `classes_`.
    loo_weights_ : ndarray of shape (n_left_out,)
        What each of them stands for.
    loo_priors_ : ndarray of shape (n_classes,)
        The class probabilities that `loo_proba_` is for.
    typicality_limit_ : float
        One of a hundred left-out training samples is less typical.
    feature_map_ : PowerTransform, transformer or None
        The fitted map; its method ``transform`` maps samples.

    See Also
    --------
    OptimisticScoreClassifier : Bounds for moments that may be anywhere in a ball: drift, or an adversary.

    Notes
    -----
    *Intervals* and *stability* cover sampling error, given the weights and the sharpness: they speak of the classifier
    of this kind that an endless training sample of the same population would give. They cover neither drift nor classes
    that are not Gaussian; for a point unlike all training samples see `typicality`.

    Weights that are integers act as repetitions; others act as if a class had their sum as its number of samples.
    Fitted attributes cannot be set: other class probabilities are a copy, by `with_priors`.

    References
    ----------
    Wilks: The large-sample distribution of the likelihood ratio, Annals of Mathematical Statistics 1938.
    MacKay: The evidence framework applied to classification networks, Neural Computation 1992.

    Examples
    --------
    >>> from optiscore import ModeratedDiscriminantAnalysis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ModeratedDiscriminantAnalysis().fit(X[::5], y[::5])  # ten samples per class
    >>> model.predict_proba(X[[1, 70, 133]]).round(3)
    array([[0.978, 0.011, 0.011],
           [0.011, 0.87 , 0.12 ],
           [0.011, 0.912, 0.077]])
    >>> lower, upper = model.predict_proba_interval(X[[1, 70, 133]])
    >>> lower[:, 1].round(3), upper[:, 1].round(3)
    (array([0.   , 0.243, 0.27 ]), array([0., 1., 1.]))
    >>> model.stability(X[[1, 70, 133]]).round(3)
    array([1.   , 0.878, 0.909])
    >>> model.typicality([[6, 3, 5, 2], [9, 1, 9, 9]]).round(3)
    array([0.163, 0.   ])
    """

    def __init__(
        self,
        covariance: Literal["both", "own", "shared"] = "both",
        *,
        feature_map: Any = "power",
        priors: Any = None,
        covariance_estimator: Any = None,
        calibration: Literal["auto"] | None = "auto",
    ) -> None:
        self.covariance = covariance
        self.feature_map = feature_map
        self.priors = priors
        self.covariance_estimator = covariance_estimator
        self.calibration = calibration

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the feature map and the moments from labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; integers act as repetitions. Samples of weight 0 are left out.

        Returns
        -------
        self : ModeratedDiscriminantAnalysis
        """
        self._check_parameters()
        with self._learning():
            training = validate_training(self, X, y, sample_weight)
            feature_map, mapped = self._fit_map(training)
            training = training._replace(X=mapped)
            return self._learn(training.labels, training.by_class(), feature_map, training)

    def _check_for_blocks(self) -> None:
        self._check_parameters()
        check_estimator_for_sums(self.covariance_estimator)
        if self.feature_map is not None:
            if isinstance(self.feature_map, str):
                raise ValueError(
                    "feature_map 'power' needs all samples at once, not block by block. Use None, or a transformer "
                    "that is fitted already, such as optiscore.PowerMap().fit(some_samples)."
                )
            try:
                if not isinstance(self.feature_map, PowerTransform):
                    check_is_fitted(self.feature_map)
            except NotFittedError:
                raise ValueError(
                    f"feature_map {self.feature_map!r} must be fitted already to learn block by block."
                ) from None

    @only_if(_check_for_blocks)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more block of samples; the blocks have one sample or more each, in any order.

        The model is that of `fit` on all blocks together with ``calibration=None``, but for rounding; until each class
        has samples, the classifier is not fitted and its methods say why.

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
        self : ModeratedDiscriminantAnalysis

        Raises
        ------
        ValueError
            If a parameter needs all samples at once: a feature map that is not fitted, or a covariance estimator other
            than None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. Also after `fit`, which keeps no sums.

        Examples
        --------
        >>> import numpy as np
        >>> from optiscore import ModeratedDiscriminantAnalysis
        >>> from optiscore import PowerMap
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ModeratedDiscriminantAnalysis(feature_map=PowerMap().fit(X))
        >>> for rows in np.array_split(np.arange(150), 4):
        ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        >>> whole = ModeratedDiscriminantAnalysis(calibration=None).fit(X, y)
        >>> np.allclose(model.predict_proba(X), whole.predict_proba(X))
        True
        """
        self._add_block(X, y, classes, sample_weight, self._transform())
        return self

    def _transform(self) -> Callable[[FloatArray], FloatArray] | None:
        """Return what a fitted map makes of a block of samples."""
        feature_map = self.feature_map
        return None if feature_map is None else lambda block: check_mapped(feature_map.transform(block), block)

    def _learn_from_sums(self, labels: np.ndarray, classes: list[ClassData], samples: Any) -> Self:
        return self._learn(labels, classes, self.feature_map)

    def _learn(
        self, labels: np.ndarray, classes: Sequence[ClassData], feature_map: Any, training: TrainingSet | None = None
    ) -> Self:
        """Take over the moments of what is known of each class; without samples, none is left out."""
        priors = resolve_priors(self.priors, labels.tolist(), np.array([known.sums.weight_sum for known in classes]))
        gaussians = fit_gaussians(classes, priors, self.covariance, self.covariance_estimator)
        left_out = dict[str, Any]()
        if training is not None:
            rows, weights = stratified(training.codes, _LEFT_OUT, 2, seed=0)
            Z, codes = to_host(take_rows(training.X, rows)).astype(np.float64, copy=False), training.codes[rows]
            weights, mass = np.ones(len(rows)) if weights is None else weights, np.ones(len(rows))
            if training.weight is not None:
                # Of a weight that stands for repetitions, one is left out at a time.
                weights, mass = weights * training.weight[rows], np.minimum(training.weight[rows], 1)
            if self.calibration is not None:
                gaussians = gaussians.weighed(*weigh_models(gaussians.models, Z, codes, weights, mass))
            proba = np.exp(gaussians.left_out_log_proba(Z, codes, mass)).T
            left_out = {"loo_proba_": proba, "loo_codes_": codes, "loo_weights_": weights, "loo_priors_": priors}
            typicality = gaussians.left_out_typicality(Z, codes, mass)
            left_out["typicality_limit_"] = lower_quantile(typicality, weights, UNTYPICAL)
        moments = {f"{name}_": value for name, value in gaussians.moments._asdict().items()}
        model = MappedGaussians(feature_map, gaussians)
        return self._keep(classes_=labels, feature_map_=feature_map, _model=model, **moments, **left_out)

    def _check_parameters(self) -> None:
        if not isinstance(self.covariance, str) or self.covariance not in _COVARIANCES:
            raise ValueError(f"covariance must be one of {list(_COVARIANCES)}, got {self.covariance!r}.")
        is_power = isinstance(self.feature_map, str) and self.feature_map == "power"
        is_map = hasattr(self.feature_map, "transform") and not isinstance(self.feature_map, type)
        if self.calibration is not None and not (isinstance(self.calibration, str) and self.calibration == "auto"):
            raise ValueError(f"calibration must be 'auto' or None, got {self.calibration!r}.")
        if not (self.feature_map is None or is_power or is_map):
            raise ValueError(
                f"feature_map must be 'power', None or a transformer such as StandardScaler(), got "
                f"{self.feature_map!r}."
            )
        if self.priors is not None:
            check_priors(self.priors)

    def _fit_map(self, training: TrainingSet) -> tuple[Any, FloatArray]:
        """Return a trained map, and what it makes of the training samples."""
        if self.feature_map is None:
            return None, training.X
        if isinstance(self.feature_map, str):
            power = fit_power(training.X.astype(np.float64, copy=False), training.weight)
            return power, power.transform(training.X)
        transformer = clone(self.feature_map)
        keywords = {}
        if training.weight is not None and has_fit_parameter(transformer, "sample_weight"):
            keywords["sample_weight"] = training.weight
        labels = training.labels[training.codes]
        if hasattr(transformer, "fit_transform"):
            mapped = transformer.fit_transform(training.X, labels, **keywords)
        else:
            mapped = transformer.fit(training.X, labels, **keywords).transform(training.X)
        return transformer, check_mapped(mapped, training.X)

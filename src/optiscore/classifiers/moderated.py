"""ModeratedDiscriminantAnalysis: Gaussian classes whose probabilities, intervals and certificates know their sample."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ..ambiguity.limit_law import check_probability
from ..decisions.gaussian_models import GaussianModel, OwnModel, SharedModel
from ..decisions.moderation import (
    Certificate,
    Utility,
    best_sets,
    certify,
    moderated_log_proba,
    nominal_log_proba,
    proba_interval,
)
from ..features.power import PowerMap
from ..moments.factors import factorise
from ..moments.labelled import ClassData, TrainingSet
from ..moments.nominal import Estimate, class_priors, factorise_class, own_estimates, shared_estimate
from ..numerics.blocks import map_blocks
from ..numerics.types import BoolArray, FloatArray
from .availability import only_if
from .fitted import check_classes, check_numbers, check_priors_attribute
from .parameters import check_estimator_for_sums
from .streaming import StreamingState
from .validation import validate_training

_COVARIANCES = ("both", "own", "shared")

#: What predictions depend on.
_ATTRIBUTES = (
    "classes_",
    "class_count_",
    "priors_",
    "means_",
    "covariances_",
    "covariance_",
    "mean_distance_",
    "effective_features_",
    "kurtosis_",
    "radial_kurtosis_",
    "feature_map_",
    "n_features_in_",
)


class Gaussians(NamedTuple):
    """The models that are averaged, one or two, with the labels that they are about."""

    classes: np.ndarray
    models: tuple[GaussianModel, ...]


class ModeratedDiscriminantAnalysis(ClassifierMixin, StreamingState):  # type: ignore[misc] # scikit-learn has no types
    """Discriminant analysis whose probabilities, intervals and certificates know how many samples there were.

    Two Gaussian models, one with a covariance for each class and one with a shared covariance, take the sampling error
    of their moments into account by the likelihood ratio of the training samples. Their posteriors are moderated by
    that error and averaged.

    Parameters
    ----------
    covariance : {"both", "own", "shared"}, default="both"
        Which models: covariances of the classes' own (quadratic boundaries), a shared one (linear), or both averaged.
    feature_map : {"power", None} or transformer, default="power"
        What is done to the features first: `optiscore.features.PowerMap`, nothing, or any scikit-learn transformer,
        which is cloned and trained with ``fit_transform`` on arrays, without names. `partial_fit` takes None or a
        transformer that is fitted already.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None takes the fractions of the training samples.
    covariance_estimator : estimator, default=None
        None stands for Ledoit-Wolf shrinkage of standardised features, within each class and, for the shared
        covariance, of all deviations from the class means. Otherwise any scikit-learn covariance estimator.

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
    feature_map_ : transformer or None
        The fitted map.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    OptimisticScoreClassifier : Bounds for moments that may be anywhere in a ball: drift, or an adversary.

    Notes
    -----
    *Intervals* and *decision confidence* cover sampling error: they speak of the classifier of this kind that an
    endless training sample of the same population would give. They cover neither drift nor classes that are not
    Gaussian; for a point unlike all training samples see `typicality`.

    Weights that are integers act as repetitions; others act as if a class had their sum as its number of samples. The
    arrays are read-only, and predictions follow when a fitted attribute is replaced.

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
    array([[0.972, 0.014, 0.014],
           [0.013, 0.856, 0.131],
           [0.014, 0.897, 0.089]])
    >>> lower, upper = model.predict_proba_interval(X[[1, 70, 133]])
    >>> lower[:, 1].round(3), upper[:, 1].round(3)
    (array([0.   , 0.243, 0.27 ]), array([0., 1., 1.]))
    >>> model.decision_confidence(X[[1, 70, 133]]).round(3)
    array([1.   , 0.878, 0.909])
    >>> model.typicality([[6, 3, 5, 2], [9, 1, 9, 9]]).round(3)
    array([0.163, 0.   ])
    """

    _attributes: ClassVar[tuple[str, ...]] = _ATTRIBUTES

    def __init__(
        self,
        covariance: Literal["both", "own", "shared"] = "both",
        *,
        feature_map: Any = "power",
        priors: ArrayLike | None = None,
        covariance_estimator: Any = None,
    ) -> None:
        self.covariance = covariance
        self.feature_map = feature_map
        self.priors = priors
        self.covariance_estimator = covariance_estimator

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
        self._drop_fitted()
        self._check_parameters()
        training = validate_training(self, X, y, sample_weight)
        feature_map, mapped = self._fit_map(training)
        return self._learn(training.labels, training._replace(X=mapped).by_class(), feature_map)

    def _check_for_blocks(self) -> None:
        self._check_parameters()
        check_estimator_for_sums(self.covariance_estimator)
        if self.feature_map is not None:
            if isinstance(self.feature_map, str):
                raise ValueError(
                    "feature_map 'power' needs all samples at once, not block by block. Use None, or a transformer "
                    "that is fitted already, such as optiscore.features.PowerMap().fit(some_samples)."
                )
            try:
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

        The model is that of `fit` on all blocks together, but for rounding; until each class has samples, the
        classifier is not fitted and its methods say why.

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
        >>> from optiscore.features import PowerMap
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ModeratedDiscriminantAnalysis(feature_map=PowerMap().fit(X))
        >>> for rows in np.array_split(np.arange(150), 4):
        ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        >>> whole = ModeratedDiscriminantAnalysis().fit(X, y)
        >>> np.allclose(model.predict_proba(X), whole.predict_proba(X))
        True
        """
        self._add_block(X, y, classes, sample_weight, self._transform())
        return self

    def _transform(self) -> Callable[[FloatArray], FloatArray] | None:
        """What a fitted map makes of a block of samples."""
        feature_map = self.feature_map
        return None if feature_map is None else lambda block: _check_mapped(feature_map.transform(block), block)

    def _learn_from_sums(self, labels: np.ndarray, classes: list[ClassData], samples: Any) -> Self:
        return self._learn(labels, classes, self.feature_map)

    def _learn(self, labels: np.ndarray, classes: Sequence[ClassData], feature_map: Any) -> Self:
        """From what is known of each class to the moments of one or two models."""
        priors = class_priors(self.priors, classes)
        class_count = np.array([known.sums.weight_sum for known in classes])
        estimates = self._estimates(classes, class_count)
        pooled = reduce(add, [known.sums.centred() for known in classes])
        kurtoses = np.array([sums.kurtosis() for sums in (*(known.sums for known in classes), pooled)])
        distances = np.array([0.0 if each is None else each.mean_distance() for each in estimates])
        noise = np.array([0.0 if each is None else each.weight for each in estimates])
        *own, shared = estimates
        self.classes_, self.class_count_, self.priors_ = labels, class_count, priors
        self.means_ = np.stack(
            [known.sums.mean if each is None else each.mean for known, each in zip(classes, own, strict=True)]
        )
        self.covariances_ = None if own[0] is None else np.stack([each.covariance for each in own if each is not None])
        self.covariance_ = None if shared is None else shared.covariance
        self.mean_distance_ = distances
        self.effective_features_ = np.clip(noise * distances, 0, self.means_.shape[1])
        self.kurtosis_, self.radial_kurtosis_ = kurtoses.T.copy()
        self.feature_map_ = feature_map
        self._derived = self._freeze(), self._model
        return self

    def _estimates(self, classes: Sequence[ClassData], class_count: FloatArray) -> list[Estimate | None]:
        """Moments of each class, and last those that all share; None where the model does not ask for them."""
        own: list[Estimate | None] = [None] * len(classes)
        if self.covariance != "shared":
            own = list(own_estimates(classes, self.covariance_estimator))
            for known, each in zip(classes, own, strict=True):
                assert each is not None
                factorise_class(each.covariance, known)
        if self.covariance == "own":
            return [*own, None]
        # Whatever the priors, the classes count by their sizes: the evidence is that of the sample.
        shared = shared_estimate(classes, class_count / class_count.sum(), self.covariance_estimator)
        factorise_class(shared.covariance, ClassData("all classes together", shared.sums))
        return [*own, shared]

    def _check_parameters(self) -> None:
        if not isinstance(self.covariance, str) or self.covariance not in _COVARIANCES:
            raise ValueError(f"covariance must be one of {list(_COVARIANCES)}, got {self.covariance!r}.")
        is_power = isinstance(self.feature_map, str) and self.feature_map == "power"
        is_map = hasattr(self.feature_map, "transform") and not isinstance(self.feature_map, type)
        if not (self.feature_map is None or is_power or is_map):
            raise ValueError(
                f"feature_map must be 'power', None or a transformer such as StandardScaler(), got "
                f"{self.feature_map!r}."
            )

    def _fit_map(self, training: TrainingSet) -> tuple[Any, FloatArray]:
        """A trained map, and what it makes of the training samples."""
        if self.feature_map is None:
            return None, training.X
        transformer = PowerMap() if isinstance(self.feature_map, str) else clone(self.feature_map)
        keywords = {}
        if training.weight is not None and has_fit_parameter(transformer, "sample_weight"):
            keywords["sample_weight"] = training.weight
        labels = training.labels[training.codes]
        if hasattr(transformer, "fit_transform"):
            mapped = transformer.fit_transform(training.X, labels, **keywords)
        else:
            mapped = transformer.fit(training.X, labels, **keywords).transform(training.X)
        return transformer, _check_mapped(mapped, training.X)

    def _derive(self, *values: Any) -> Gaussians:
        """The models behind the public attributes, which are checked."""
        classes, class_count, priors, means, covariances, covariance, distance, effective, *kurtoses, feature_map, _ = (
            values
        )
        n_classes, d = len(check_classes(classes)), np.shape(means)[-1]
        class_count = check_numbers("class_count_", class_count, (n_classes,))
        if not (class_count > 0).all():
            raise ValueError(f"class_count_ must be positive, got {class_count.tolist()}.")
        if feature_map is not None and not hasattr(feature_map, "transform"):
            raise ValueError(f"feature_map_ must be None or a fitted transformer, got {feature_map!r}.")
        log_priors = np.log(check_priors_attribute(priors, n_classes))
        means = check_numbers("means_", means, (n_classes, d))
        effective = check_numbers("effective_features_", effective, (n_classes + 1,))
        distance = check_numbers("mean_distance_", distance, (n_classes + 1,))
        kurtosis = check_numbers("kurtosis_", kurtoses[0], (n_classes + 1,))
        radial = check_numbers("radial_kurtosis_", kurtoses[1], (n_classes + 1,))
        if (distance < 0).any() or (effective < 0).any():
            raise ValueError("mean_distance_ and effective_features_ must not be negative.")
        models: list[GaussianModel] = []
        if covariances is not None:
            checked = check_numbers("covariances_", covariances, (n_classes, d, d))
            factors = [factorise(S, f"covariances_[{c}]") for c, S in enumerate(checked)]
            spread = kurtosis[:-1], radial[:-1], distance[:-1]
            models.append(OwnModel(class_count, log_priors, means, factors, effective[:-1], *spread))
        if covariance is not None:
            factor = factorise(check_numbers("covariance_", covariance, (d, d)), "covariance_")
            models.append(SharedModel(class_count, log_priors, means, factor, effective[-1], radial[-1], distance[-1]))
        if not models:
            raise ValueError("one of covariances_ and covariance_ must not be None.")
        return Gaussians(classes, tuple(models))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "kurtosis_")

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels of samples: those of the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        samples = self._validate(X)
        classes, models = self._model
        return self._map(samples, lambda alphas: classes.take(_log_proba(models, alphas).argmax(axis=0)))

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes, moderated by the sampling error: for predictions and decisions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Means over what the moments may be, given the training samples. Such a mean of a skewed distribution can lie
            outside of `predict_proba_interval`, which is about `nominal_proba`.
        """
        samples = self._validate(X)
        return self._map(samples, lambda alphas: np.exp(_log_proba(self._model.models, alphas))).T

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
        samples = self._validate(X)
        return self._map(samples, lambda alphas: _log_proba(self._model.models, alphas)).T

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """What the decisions are taken by: the largest column, or the sign where there are two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log odds of the second. More: log probabilities.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba

    def nominal_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes with the moments taken as exact, as plain discriminant analysis has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The mean of both models' posteriors.
        """
        samples = self._validate(X)
        models = self._model.models
        return self._map(
            samples, lambda alphas: np.exp(_average([nominal_log_proba(*pair) for pair in _pairs(models, alphas)]))
        ).T

    def predict_proba_interval(self, X: ArrayLike, confidence_level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's posterior, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the posterior of the same model with the population's moments
            shall lie in the interval.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Ends of the interval; with two models, the smaller and the larger of theirs. Exact up to the limit of
            the likelihood ratio for two classes, conservative for more.
        """
        level = float(check_probability(confidence_level, "confidence_level"))
        samples = self._validate(X)
        models = self._model.models

        def interval(alphas: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
            parts = [proba_interval(model, alpha, level) for model, alpha in _pairs(models, alphas)]
            nominal = [np.exp(nominal_log_proba(*pair)) for pair in _pairs(models, alphas)]
            # Few samples move the middle of an interval by more than its width: the nominal posterior stays inside.
            lower = np.min([low for low, _ in parts] + nominal, axis=0)
            upper = np.max([high for _, high in parts] + nominal, axis=0)
            return lower.astype(samples.dtype, copy=False), upper.astype(samples.dtype, copy=False)

        lower, upper = self._map(samples, interval)
        return lower.T, upper.T

    def likelihood_ratio(self, X: ArrayLike) -> tuple[FloatArray, np.ndarray]:
        """Evidence of the training samples for the predicted labels: the likelihood ratio that another would cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ratio : ndarray of shape (n_samples,)
            T, the least over rivals and models; negative where a model prefers the rival to the predicted label.
        rival : ndarray of shape (n_samples,)
            The label that it belongs to.
        """
        certificate = self._certify(X)
        return certificate.ratio, self._model.classes.take(certificate.rival)

    def decision_confidence(self, X: ArrayLike) -> FloatArray:
        """How surely the predicted label is that of the best classifier of this kind, given the sampling error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Phi(sqrt T) for the least likelihood ratio T over all rivals: 0.5 on the boundary, 0.95 for T = 2.71. With
            two models the smaller value; below 0.5 where one of them prefers another label.
        """
        return self._certify(X).confidence

    def predict_set(self, X: ArrayLike, utility: Utility = "u65", *, min_probability: float | None = None) -> BoolArray:
        """The labels worth naming.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        utility : {"u65", "u80"}, default="u65"
            What a set of two labels, one of which is right, is worth: 0.65 or 0.80 of a right label. The most probable
            labels are named, as many as have the largest expected utility.
        min_probability : float, default=None
            Instead, all labels that have at least this probability, and always the most probable one.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the labels that are named.
        """
        if utility not in ("u65", "u80"):
            raise ValueError(f"utility must be 'u65' or 'u80', got {utility!r}.")
        proba = self.predict_proba(X).T
        if min_probability is None:
            return best_sets(proba, utility).T
        check_probability(min_probability, "min_probability")
        return ((proba >= min_probability) | (proba == proba.max(axis=0))).T

    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probability, for the class for which it is largest, that a new sample of it is as far from its mean
            (Hotelling's F, with the class's kurtosis). A point unlike anything in training has a value near 0, whatever
            probabilities it gets. With two models, the covariances of the classes' own decide. The power map goes on
            linearly beyond the training range here, instead of being clipped.
        """
        samples = self._validate(X, goes_on=True)
        model = self._model.models[0]
        values = self._map(samples, lambda alphas: model.tail_probability(alphas[0].astype(np.float64)).max(axis=0))
        return values.astype(samples.dtype, copy=False)

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log density of samples under all classes together, in the mapped features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithm of the mean of both models' densities. Where squared distances would exceed the range of numbers,
            they are limited.
        """
        samples = self._validate(X)
        models = self._model.models

        def density(alphas: list[FloatArray]) -> FloatArray:
            joint = np.concatenate([model.log_joint(alpha) for model, alpha in _pairs(models, alphas)])
            return logsumexp(joint, axis=0) - np.log(len(models), dtype=joint.dtype)

        return self._map(samples, density)

    def _certify(self, X: ArrayLike) -> Certificate:
        samples = self._validate(X)
        models = self._model.models

        def certificate(alphas: list[FloatArray]) -> tuple[FloatArray, np.ndarray]:
            decided = _log_proba(models, alphas).argmax(axis=0)
            parts = [certify(model, alpha, decided) for model, alpha in _pairs(models, alphas)]
            least = np.argmin([part.ratio for part in parts], axis=0)
            ratio, rival = (np.choose(least, list(column)) for column in zip(*parts, strict=True))
            with np.errstate(over="ignore"):
                return ratio.astype(samples.dtype, copy=False), rival

        return Certificate(*self._map(samples, certificate))

    def _validate(self, X: ArrayLike, *, goes_on: bool = False) -> FloatArray:
        """Samples as the models see them; beyond the training range the power map may go on."""
        self._check_fitted()
        samples = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if self.feature_map_ is None:
            return samples
        feature_map = self.feature_map_
        is_power = goes_on and isinstance(feature_map, PowerMap)
        return _check_mapped(feature_map.extrapolate(samples) if is_power else feature_map.transform(samples), samples)

    def _map(self, samples: FloatArray, function: Callable[[list[FloatArray]], Any]) -> Any:
        """``function(squared distances under each model)`` of all samples, block by block."""
        models = self._model.models
        width = 4 * len(self._model.classes)
        return map_blocks(lambda block: function([model.distances(block) for model in models]), samples, width=width)


def _pairs(models: tuple[GaussianModel, ...], alphas: list[FloatArray]) -> list[tuple[GaussianModel, FloatArray]]:
    return list(zip(models, alphas, strict=True))


def _average(log_probas: list[FloatArray]) -> FloatArray:
    """Logarithm of the mean of probabilities."""
    if len(log_probas) == 1:
        return log_probas[0]
    return np.logaddexp(*log_probas) - np.log(2, dtype=log_probas[0].dtype)


def _log_proba(models: tuple[GaussianModel, ...], alphas: list[FloatArray]) -> FloatArray:
    return _average([moderated_log_proba(*pair) for pair in _pairs(models, alphas)])


def _check_mapped(mapped: Any, samples: FloatArray) -> FloatArray:
    """What a feature map returns, as an array of the samples' type."""
    array = np.asarray(mapped.toarray() if hasattr(mapped, "toarray") else mapped)
    if array.ndim != 2 or len(array) != len(samples):
        raise ValueError(f"feature_map must return one row per sample, got shape {array.shape} for {len(samples)}.")
    array = array.astype(samples.dtype, copy=False)
    if not np.isfinite(array).all():
        raise ValueError("feature_map returned NaN or infinity; choose a map that keeps numbers finite.")
    return array

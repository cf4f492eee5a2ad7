"""KernelDiscriminantClassifier: probabilities behind kernel discriminant maps, an average over many or one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators.availability import only_if
from ..estimators.documented import Documented
from ..estimators.predictions import ProbabilisticPredictions
from ..estimators.validation import validate_training
from ..metrics import mean_log_loss
from ..moderated.classifier import ModeratedDiscriminantAnalysis
from ..moderated.moderation import least_certificate
from ..numerics.blocks import map_blocks
from ..numerics.types import FloatArray
from ..trust.calibration import best_sharpness
from ..trust.probabilities import normalise
from .mixture import LEAST_PROBABILITY, KernelTrial, promising, try_combination, weigh
from .parameters import pose_problem
from .search import search

_TEMPERATURES = 0.3, 3.0

# Covariances of more features than this are not worth their time and room in a model that does without them.
_WIDE = 1000

# So that logarithms of probabilities stay finite in single precision, too, at every temperature.
_SMALLEST = 1e-30


# scikit-learn has no types: its classes are Any to the type checker.
class KernelDiscriminantClassifier(ProbabilisticPredictions, Documented, BaseEstimator):  # type: ignore[misc]
    """Classifier with curved boundaries: moderated models behind kernel discriminant maps, averaged over the maps.

    Each combination of kernel and scaling gives a map to discriminant coordinates (`KernelDiscriminantMap`). Behind
    each map three models of the coordinates are averaged: Gaussian classes with covariances of their own and with a
    shared one, both moderated by their sampling error, and a softmax. Maps are weighted by their log loss with every
    training sample left out, of the map and of the models, and the mixture gets one temperature in the same way: no
    sample is set aside, and there is nothing to tune.

    Parameters
    ----------
    kernels : {"default", "short", "long"} or list of str, default="default"
        Kernels to try, by name: "linear"; "product-laplacian" and "product-gaussian", products over the features that
        sum effects of single features, of pairs and so on; "rbf-f" with f out of 0.0625, 0.25, 1, 4 and "laplacian-f"
        with f out of 0.25, 1 (the larger, the narrower), in units of the median distance. "short" is the first three,
        "default" these and "rbf-0.25", "rbf-1", "long" all.
    average : bool, default=True
        Whether to average over all maps that are about as good as the best; otherwise the best one alone, for which
        there are also `decision_confidence`, `predict_proba_interval` and `nominal_proba`.
    scalings : {"standard", "ranks"} or list of these, default=("standard", "ranks")
        Scalings of the features to try: standardised, or normal scores of their ranks.
    ridges : array-like, default=None
        Ridges to try, from 1e-12 to 1e12 in units of the mean eigenvalue; None is nine from 1e-5 to 10.
    max_landmarks : int or None, default=1500
        With more samples than this, so many random ones (two of each class at least) serve as landmarks that all are
        compared with; time and memory then grow with the samples times the landmarks, not the samples squared.
        Maps are first compared on the landmarks alone, and the best few on all samples. None compares all samples
        with all.
    random_state : int, RandomState or None, default=None
        For the choice of landmarks.
    verbose : int, default=0
        Above 0, a progress bar is shown (extra `rich`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    maps_ : dict of ndarray
        What was averaged with which weight, largest first, ready for a data frame: "kernel", "scaling", "ridge",
        "log_loss" (leave-one-out) and "weight".
    results_ : dict of ndarray
        What was tried: "kernel", "scaling", "ridge", "squared_error", "log_loss" (both leave-one-out; the latter NaN
        for ridges that are not next to the one of the least squared error) and "n_rows", the number of rows it was
        tried on.
    temperature_ : float
        What the logarithms of the averaged probabilities are divided by.
    left_out_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the training samples, each left out.
    left_out_log_loss_ : float
        Mean log loss of these: somewhat too small, since kernels, ridges and weights were chosen by it.
    models_ : list
        The maps and the models behind them, in the order of `maps_`.
    scalers_ : dict
        Fitted scalings by name.
    typicality_model_ : ModeratedDiscriminantAnalysis or None
        Gaussian classes of the features themselves, for `typicality`; None for more than 1,000 features, whose
        covariances would take most of the time and of the model.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had them.

    See Also
    --------
    KernelDiscriminantMap : The map alone, for `ModeratedDiscriminantAnalysis` or any other classifier behind it.
    ModeratedDiscriminantAnalysis : For confidence, intervals, streams, clusters, and models that a person reads.

    Notes
    -----
    A fitted classifier holds training rows, and so do files of it: whoever has the model can read them. Predictions
    cost a comparison with each of these rows for each map. There are no sample weights: a row's weight and leaving the
    row out do not go together.

    Behind a map, *intervals* and *decision confidence* cover the sampling error of the coordinates' moments, given the
    map. They do not cover the sampling error of the map itself, nor that of the softmax, and an average over maps has
    neither.

    References
    ----------
    Mika, Raetsch, Weston, Schoelkopf, Mueller: Fisher discriminant analysis with kernels, NNSP 1999.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantClassifier
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelDiscriminantClassifier().fit(X, y)
    >>> X_new, y_new = make_moons(1000, noise=0.2, random_state=1)
    >>> round(model.score(X_new, y_new), 2)
    0.96
    >>> model.predict_proba([[0, 1], [0.5, 0.25]]).round(2)
    array([[0.99, 0.01],
           [0.61, 0.39]])
    >>> print(model.maps_["kernel"][0], model.maps_["scaling"][0])
    rbf-1 standard
    """

    def __init__(
        self,
        kernels: str | Sequence[str] = "default",
        *,
        average: bool = True,
        scalings: Sequence[str] = ("standard", "ranks"),
        ridges: ArrayLike | None = None,
        max_landmarks: int | None = 1500,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.average = average
        self.scalings = scalings
        self.ridges = ridges
        self.max_landmarks = max_landmarks
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn maps, the models behind them and their weights from labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : KernelDiscriminantClassifier
        """
        if not isinstance(self.average, (bool, np.bool_)):
            raise ValueError(f"average must be True or False, got {self.average!r}.")
        training = validate_training(self, X, y, None)
        labels, codes = training.labels, training.codes
        problem, combinations, scalings = pose_problem(self, training.X, codes, len(labels))
        found = search(problem, combinations, partial(try_combination, labels=labels), promising, verbose=self.verbose)
        by_features = ModeratedDiscriminantAnalysis("own")
        # Whatever can fail comes before the first attribute is set: no fit leaves half a model behind.
        self.typicality_model_ = None if training.X.shape[1] > _WIDE else by_features.fit(training.X, labels[codes])
        self.classes_, self.results_ = labels, found.table()
        self._mix(found.trials, codes)
        used = {model.scaling for model in self.models_}
        self.scalers_ = {name: scale for name, scale in scalings.items() if name in used}
        return self

    def _mix(self, trials: Sequence[KernelTrial], codes: np.ndarray) -> None:
        """Weights of the maps, and the temperature of their mixture."""
        weights = weigh(trials, len(codes))
        order = np.argsort(-weights, kind="stable")
        kept = order[weights[order] > 0] if self.average else order[:1]
        trials, weights = [trials[i] for i in kept], weights[kept] / weights[kept].sum()
        mixture = sum(weight * trial.left_out for weight, trial in zip(weights, trials, strict=True))
        logits = np.log(np.maximum(mixture, LEAST_PROBABILITY))
        coldest, hottest = _TEMPERATURES
        self.temperature_ = 1 / best_sharpness(logits, codes, 1 / hottest, 1 / coldest)
        left_out = np.exp(normalise(logits / self.temperature_))
        self.left_out_proba_, self.left_out_log_loss_ = left_out.T.copy(), mean_log_loss(left_out, codes)
        self.models_ = [trial.model for trial in trials]
        self.maps_ = {
            "kernel": np.array([trial.combination.kernel for trial in trials]),
            "scaling": np.array([trial.combination.scaling for trial in trials]),
            "ridge": np.array([trial.ridge for trial in trials]),
            "log_loss": np.array([trial.criterion for trial in trials]),
            "weight": weights,
        }

    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class, in the features themselves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            As `ModeratedDiscriminantAnalysis.typicality`: near 0 for a sample unlike anything in training, whatever
            probabilities it gets. The maps do not matter.
        """
        samples = self._validate(X)
        if self.typicality_model_ is None:
            raise ValueError(
                f"there is no typicality for more than {_WIDE} features, here {self.n_features_in_}. Reduce them "
                f"first, or fit ModeratedDiscriminantAnalysis('own') for it."
            )
        return self.typicality_model_.typicality(samples)

    def _check_one_map(self) -> None:
        if self.average or len(getattr(self, "models_", (1,))) != 1:
            raise ValueError(
                "an average over maps has no single certificate. Fit KernelDiscriminantClassifier(average=False), or "
                "ModeratedDiscriminantAnalysis."
            )

    @only_if(_check_one_map)
    def nominal_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities by the Gaussian models of the one map, with the moments of its coordinates taken as exact.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            What `predict_proba_interval` is about; `predict_proba` is not.
        """
        coordinates, gaussians = self._coordinates(X)
        return gaussians.nominal_proba(coordinates)

    @only_if(_check_one_map)
    def predict_proba_interval(self, X: ArrayLike, confidence_level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's posterior under the Gaussian models of the one map, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the posterior of the same models with the population's moments of
            the coordinates shall lie in the interval, given the map.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Ends of the interval around `nominal_proba`. The sampling error of the map itself is not covered. The time
            grows with the square of the number of classes.
        """
        coordinates, gaussians = self._coordinates(X)
        return gaussians.predict_proba_interval(coordinates, confidence_level)

    @only_if(_check_one_map)
    def decision_confidence(self, X: ArrayLike) -> FloatArray:
        """How surely the predicted label is that of the best Gaussian models of the one map's coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            As `ModeratedDiscriminantAnalysis.decision_confidence`, given the map, whose own sampling error is not
            covered; below 0.5 where one of the two Gaussian models prefers another label.
        """
        samples = self._validate(X)
        (model,) = self.models_
        gaussians = model.coordinate_models.gaussians._model.models

        def confidence(block: FloatArray) -> FloatArray:
            z = model.coordinates(self._scale(block))
            decided = model.coordinate_models.proba(z).argmax(axis=0)
            return least_certificate(gaussians, [each.distances(z) for each in gaussians], decided).confidence

        return self._map(samples, confidence).astype(samples.dtype, copy=False)

    def _coordinates(self, X: ArrayLike) -> tuple[FloatArray, ModeratedDiscriminantAnalysis]:
        samples = self._validate(X)
        (model,) = self.models_
        z = self._map(samples, lambda block: model.coordinates(self._scale(block)).T).T
        return z.astype(samples.dtype, copy=False), model.coordinate_models.gaussians

    def _map_log_proba(self, X: ArrayLike, function: Callable[[FloatArray], Any]) -> Any:
        samples = self._validate(X)
        return self._map(samples, lambda block: function(self._log_proba(block).astype(samples.dtype, copy=False)))

    def _log_proba(self, block: FloatArray) -> FloatArray:
        """Averaged over the maps, at the temperature of the mixture."""
        scaled = self._scale(block)
        pairs = zip(self.maps_["weight"].tolist(), self.models_, strict=True)
        mixture = sum(weight * model.proba(scaled) for weight, model in pairs)
        return normalise(np.log(np.maximum(mixture, _SMALLEST)) / self.temperature_)

    def _validate(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _scale(self, block: FloatArray) -> dict[str, FloatArray]:
        points = block.astype(np.float64, copy=False)
        return {name: scale(points) for name, scale in self.scalers_.items()}

    def _map(self, samples: FloatArray, function: Callable[[FloatArray], Any]) -> Any:
        """``function(block)`` of all samples, in blocks that leave room for the kernel values of one map."""
        n_anchors = max(len(model.expansion.anchors) for model in self.models_)
        return map_blocks(function, samples, width=n_anchors, operations=10 * n_anchors)

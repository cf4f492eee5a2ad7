"""KernelDiscriminantClassifier: probabilities behind kernel discriminant maps, an average over many or one."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..estimators.answers import ProbabilisticAnswers
from ..estimators.availability import only_if
from ..estimators.validation import validate_training
from ..metrics import mean_log_loss
from ..moderated.certainty import least_certificate, widest_interval
from ..moderated.gaussians import Gaussians, fit_gaussians
from ..moderated.power import PowerTransform, fit_power
from ..moments.labelled import TrainingSet
from ..numerics.types import FloatArray
from ..trust.probabilities import check_probability, most_probable
from .mixture import KernelMixture, KernelModel, LogLoss, best_first, mix, weights_of
from .parameters import check_combinations, check_max_landmarks, check_relevance, check_ridges
from .problem import pose
from .relevance import weigh_columns
from .search import search

# Covariances of more features than this are not worth their time and memory in a model that does without them.
_WIDE = 1000

# Rows that typicality is learned from.
_TYPICAL = 1000


class TypicalityModel(NamedTuple):
    """Gaussian classes of the features themselves, behind a power map."""

    power: PowerTransform
    gaussians: Gaussians


class KernelDiscriminantClassifier(ProbabilisticAnswers):
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
        there are also `stability`, `predict_proba_interval` and `nominal_proba`.
    scalings : {"standard", "ranks"} or list of these, default=("standard", "ranks")
        Scalings of the features to try: standardised, or normal scores of their ranks.
    relevance : bool or "auto", default="auto"
        Whether to multiply scaled features by learned weights: "auto" where these help on rows held out by more than
        chance, True always. Weights are learned on 500 samples at most, for 1,000 features at most.
    ridges : array-like, default=None
        Ridges to try, from 1e-12 to 1e12 in units of the mean eigenvalue; None is nine from 1e-5 to 10.
    max_landmarks : "auto", int or None, default="auto"
        With more samples than this, so many of them (two of each class at least) serve as landmarks that all are
        compared with; time then grows with the samples, and memory with the landmarks. "auto" compares up to 1,600
        samples with each other; beyond, there are 700 to 1,200 landmarks, and twice as many where these are better.
        None compares all samples with all.
    random_state : int, RandomState or None, default=0
        For the choice of rows, where there are more than 600: two fits with the same number are the same.
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
        tried on: of more than 600, maps are compared on some first.
    relevance_ : ndarray of shape (n_features,)
        Weights of the features, 1 for the one that matters most and 0 for what is not looked at; all 1 where nothing is
        learned. A copy of a feature takes part of its weight.
    temperature_ : float
        What the logarithms of the averaged probabilities are divided by.
    loo_indices_ : ndarray of shape (n_left_out,)
        Training samples that were left out one by one: all, or where there are landmarks 2,000, some of each class.
    loo_proba_ : ndarray of shape (n_left_out, n_classes)
        Probabilities of these, each left out.
    loo_log_loss_ : float
        Mean log loss of these: somewhat too small, since kernels, ridges and weights were chosen by it.
    mixture_ : KernelMixture
        What predicts: the fitted scalings by name, and maps with the models behind them, in the order of `maps_`.
    typicality_ : TypicalityModel or None
        Gaussian classes of the features themselves, for `typicality`; None for more than 1,000 features, whose
        covariances would take most of the time and of the model.

    See Also
    --------
    KernelDiscriminantMap : The map alone, for `ModeratedDiscriminantAnalysis` or any other classifier behind it.
    ModeratedDiscriminantAnalysis : For confidence, intervals, streams, clusters, and models that a person reads.

    Notes
    -----
    A fitted classifier holds training rows, and so do files of it: whoever has the model can read them. Predictions
    cost a comparison with each of these rows for each map. There may be 1,000,000 training rows at most. There are no
    sample weights: a row's weight and leaving the row out do not go together.

    Behind a map, *intervals* and *stability* cover the sampling error of the coordinates' moments, given the
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
        relevance: bool | str = "auto",
        ridges: ArrayLike | None = None,
        max_landmarks: int | str | None = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.average = average
        self.scalings = scalings
        self.relevance = relevance
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
        combinations = check_combinations(self.kernels, self.scalings)
        ridges, max_landmarks = check_ridges(self.ridges), check_max_landmarks(self.max_landmarks)
        check_relevance(self.relevance)
        # One seed from the caller's, so that every use of it is the same again.
        seed = int(check_random_state(self.random_state).randint(2**31))
        with self._learning():
            training = validate_training(self, X, y, None)
            labels, codes = training.labels, training.codes
            problem = pose(training.X, codes, len(labels), [each.scaling for each in combinations], ridges)
            problem, relevance = weigh_columns(problem, self.relevance, seed)
            problem, trials, table = search(
                problem,
                combinations,
                LogLoss(),
                max_landmarks=max_landmarks,
                seed=seed,
                verbose=self.verbose,
            )
            weights = weights_of(trials, len(codes))
            kept = best_first(weights)[: None if self.average else 1]
            trials, weights = [trials[i] for i in kept], weights[kept] / weights[kept].sum()
            temperature, log_proba = mix(trials, weights, problem)
            used = {trial.combination.scaling for trial in trials}
            used_scalings = {name: scale for name, scale in problem.scalings.items() if name in used}
            models = [KernelModel(trial.combination.scaling, trial.expansion, trial.judged.models) for trial in trials]
            mixture = KernelMixture(used_scalings, models, weights, temperature)
            rows = np.arange(len(codes)) if problem.rows is None else problem.rows
            order = np.argsort(rows)
            loo_proba = np.exp(log_proba).T
            loo_log_loss = mean_log_loss(loo_proba, problem.left_out_codes, problem.weights)
            some = rows[order] if len(rows) <= _TYPICAL else rows[:_TYPICAL]
            return self._keep(
                classes_=labels,
                mixture_=mixture,
                _model=mixture,
                typicality_=None if training.X.shape[1] > _WIDE else _typicality_model(training.take(some)),
                temperature_=temperature,
                loo_indices_=rows[order],
                loo_proba_=loo_proba[order],
                loo_log_loss_=loo_log_loss,
                results_=table,
                relevance_=relevance,
                maps_={
                    "kernel": np.array([trial.combination.kernel for trial in trials]),
                    "scaling": np.array([trial.combination.scaling for trial in trials]),
                    "ridge": np.array([trial.ridge for trial in trials]),
                    "log_loss": np.array([trial.loss for trial in trials]),
                    "weight": weights,
                },
            )

    mixture_: KernelMixture
    typicality_: TypicalityModel | None

    def _build(self) -> KernelMixture:
        return self.mixture_

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state; the first ones had all rows left out and all columns alike."""
        if "loo_proba_" in state:
            places, n_features = np.arange(len(state["loo_proba_"])), state["n_features_in_"]
            state = {"loo_indices_": places, "relevance_": np.ones(n_features), **state}
        super().__setstate__(state)

    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class, in the features themselves.

        Returns
        -------
        ndarray of shape (n_samples,)
            As `ModeratedDiscriminantAnalysis.typicality`: near 0 for a sample unlike anything in training, whatever
            probabilities it gets. The maps do not matter.
        """
        self._check_fitted()
        if self.typicality_ is None:
            raise ValueError(
                f"there is no typicality for more than {_WIDE} features, here {self.n_features_in_}. Reduce them "
                f"first, or fit ModeratedDiscriminantAnalysis('own') for it."
            )
        power, gaussians = self.typicality_

        def typicality(samples: FloatArray) -> FloatArray:
            return gaussians.typicality(power.extrapolate(samples)).astype(samples.dtype, copy=False)

        return self._map(X, typicality)

    def _check_one_map(self) -> None:
        if self.average or (hasattr(self, "mixture_") and len(self.mixture_.models) > 1):
            raise ValueError(
                "an average over maps has no single certificate. Fit KernelDiscriminantClassifier(average=False), or "
                "ModeratedDiscriminantAnalysis."
            )

    @only_if(_check_one_map)
    def nominal_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities by the Gaussian models of the one map, with the moments of its coordinates taken as exact.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            What `predict_proba_interval` is about; `predict_proba` is not.
        """
        self._check_fitted()
        gaussians = self.mixture_.models[0].coordinate_models.gaussians

        def nominal(samples: FloatArray) -> FloatArray:
            z = self.mixture_.coordinates(samples).astype(samples.dtype, copy=False)
            return np.exp(gaussians.nominal_log_proba(z))

        return self._map(X, nominal)

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
        self._check_fitted()
        level = float(check_probability(confidence_level, "confidence_level"))
        models = self.mixture_.models[0].coordinate_models.gaussians.models

        def interval(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
            return widest_interval(models, self.mixture_.coordinates(samples).astype(samples.dtype, copy=False), level)

        return self._map(X, interval)

    @only_if(_check_one_map)
    def stability(self, X: ArrayLike) -> FloatArray:
        """How surely the predicted label is that of the best Gaussian models of the one map's coordinates.

        Returns
        -------
        ndarray of shape (n_samples,)
            As `ModeratedDiscriminantAnalysis.stability`, given the map, whose own sampling error is not
            covered; below 0.5 where one of the two Gaussian models prefers another label.
        """
        self._check_fitted()
        models = self.mixture_.models[0].coordinate_models

        def stability(samples: FloatArray) -> FloatArray:
            z = self.mixture_.coordinates(samples)
            found = least_certificate(models.gaussians.models, z, most_probable(np.log(models.proba(z)))).stability
            return found.astype(samples.dtype, copy=False)

        return self._map(X, stability)


def _typicality_model(training: TrainingSet) -> TypicalityModel:
    """Return Gaussian classes with covariances of their own, of features that look Gaussian."""
    power = fit_power(training.X.astype(np.float64, copy=False), None)
    classes = training._replace(X=power.transform(training.X)).by_class()
    counts = np.bincount(training.codes, minlength=len(training.labels))
    return TypicalityModel(power, fit_gaussians(classes, counts / counts.sum(), "own"))

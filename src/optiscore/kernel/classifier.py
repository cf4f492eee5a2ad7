"""KernelDiscriminantClassifier: probabilities behind kernel discriminant maps, an average over many or one."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..estimators.answers import ProbabilisticAnswers, check_classes
from ..estimators.availability import only_if
from ..estimators.validation import check_priors, resolve_priors, validate_training
from ..metrics import mean_log_loss
from ..moderated.typicality import MOST_FEATURES, MOST_TYPICAL, TypicalityModel
from ..moments.subsets import stratified
from ..numerics.blocks import threads_at_most
from ..numerics.types import FloatArray
from ..trust.probabilities import check_level
from .influence import MOST_ROWS, InfluencedMixture, SamplingRows
from .mixture import KernelMixture, KernelModel, LogLoss, best_first, mix, weights_of
from .parameters import check_combinations, check_max_landmarks, check_relevance, check_ridges
from .problem import Problem, Trial, pose
from .relevance import weigh_columns
from .search import search


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
        Whether to average over all maps that are about as good as the best; otherwise the best one alone.
    scalings : {"standard", "ranks"} or list of these, default=("standard", "ranks")
        Scalings of the features to try: standardised, or normal scores of their ranks.
    relevance : bool or "auto", default="auto"
        Whether to multiply scaled features by learned weights: "auto" where these help on rows held out by more than
        chance, True always. Weights are learned from 60 samples on, on 500 of them at most, for 2 to 1,000 features.
    ridges : array-like, default=None
        Ridges to try, from 1e-12 to 1e12 in units of the mean eigenvalue; None is nine from 1e-5 to 10.
    max_landmarks : "auto", int or None, default="auto"
        With more samples than this, so many of them (two of each class at least) serve as landmarks that all are
        compared with; time then grows with the samples, and memory with the landmarks. "auto" compares up to 1,600
        samples with each other; beyond, there are 700 to 1,200 landmarks, and twice as many where these are better.
        None compares all samples with all.
    priors : array-like of shape (n_classes,), dict or "equal", default=None
        Class probabilities of predictions, in the order of `classes_`, by label, or all the same; None takes the
        fractions of the training samples. As `with_priors`, after the fit.
    n_jobs : int, default=None
        Threads at most, -1 for all cores; None takes as many as are worth it.
    random_state : int, RandomState or None, default=0
        For the choice of rows, where there are more than 600, and for learning weights of the features: two fits with
        the same number are the same.
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
    loo_codes_ : ndarray of shape (n_left_out,)
        Their classes, as indices into `classes_`.
    loo_weights_ : ndarray of shape (n_left_out,)
        What each of them stands for, since rows of rare classes are more often among them.
    loo_log_loss_ : float
        Mean log loss of `loo_proba_`: somewhat too small, since kernels, ridges and weights were chosen by it.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities of predictions: the fractions of the training samples, or those of `with_priors`.
    loo_priors_ : ndarray of shape (n_classes,)
        The class probabilities that `loo_proba_` is for.
    sampling_rows_ : SamplingRows
        700 training samples at most with what they do to the answers: `stability` and intervals come from them.
    mixture_ : KernelMixture
        What predicts: the fitted scalings by name, and maps with the models behind them, in the order of `maps_`.
    typicality_ : TypicalityModel or None
        Gaussian classes of the features themselves, for `typicality`; None for more than 1,000 features, whose
        covariances would take most of the time and of the model.
    typicality_limit_ : float or None
        One of a hundred left-out training samples is less typical.

    See Also
    --------
    KernelDiscriminantMap : The map alone, for `ModeratedDiscriminantAnalysis` or any other classifier behind it.
    ModeratedDiscriminantAnalysis : For streams, clusters, and models that a person reads.

    Notes
    -----
    A fitted classifier holds training rows, and so do files of it: whoever has the model can read them. Predictions
    cost a comparison with each of these rows for each map. There may be 1,000,000 training rows at most.

    *Weights of samples* act in scalings, regressions, moments, the weights of the maps and the temperature, and leaving
    a row out takes all of its weight, exactly. The unit of distances and the weights of features are learned without.

    *Intervals* and *stability* cover sampling errors, of the maps by the jackknife and of the models behind them; they
    speak of what models of other samples of this size would say, not of the truth.

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
        priors: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.average = average
        self.scalings = scalings
        self.relevance = relevance
        self.ridges = ridges
        self.max_landmarks = max_landmarks
        self.priors = priors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn maps, the models behind them and their weights from labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, of which only the ratios matter. A sample is left out with all of its weight: integers act as
            repetitions that are left out together. Samples of weight 0 are left out altogether.

        Returns
        -------
        self : KernelDiscriminantClassifier
        """
        if not isinstance(self.average, (bool, np.bool_)):
            raise ValueError(f"average must be True or False, got {self.average!r}.")
        combinations = check_combinations(self.kernels, self.scalings)
        ridges, max_landmarks = check_ridges(self.ridges), check_max_landmarks(self.max_landmarks)
        relevance = check_relevance(self.relevance)
        if self.priors is not None:
            check_priors(self.priors)
        # One seed from the caller's, so that every use of it is the same again.
        seed = int(check_random_state(self.random_state).randint(2**31))
        with self._learning(), threads_at_most(self.n_jobs):
            training = validate_training(self, X, y, sample_weight)
            labels, codes = training.labels, training.codes
            problem = pose(training, [each.scaling for each in combinations], ridges)
            problem, weights_of_columns = weigh_columns(problem, relevance, seed)
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
            some = (
                rows[order] if len(rows) <= MOST_TYPICAL else rows[stratified(codes[rows], MOST_TYPICAL, 2, seed).rows]
            )
            typicality_model, typicality_limit, relative = None, None, training._replace(weight=problem.mass)
            if training.X.shape[1] <= MOST_FEATURES:
                typicality_model, typicality_limit = TypicalityModel.fit(relative.take(some))
            return self._keep(
                classes_=labels,
                mixture_=mixture,
                sampling_rows_=_sampling_rows(training.X, problem, trials),
                typicality_=typicality_model,
                typicality_limit_=typicality_limit,
                temperature_=temperature,
                loo_indices_=rows[order],
                loo_proba_=loo_proba[order],
                loo_codes_=codes[rows[order]],
                loo_weights_=np.ones(len(rows)) if problem.weights is None else problem.weights[order],
                loo_priors_=problem.fractions,
                priors_=resolve_priors(self.priors, labels.tolist(), problem.fractions),
                loo_log_loss_=loo_log_loss,
                results_=table,
                relevance_=weights_of_columns,
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

    sampling_rows_: SamplingRows | None
    _model: InfluencedMixture

    def _build(self) -> InfluencedMixture:
        return InfluencedMixture(self.mixture_, self.sampling_rows_, self.priors_)

    def _check_sampling_rows(self) -> None:
        if getattr(self, "sampling_rows_", self) is None:
            raise ValueError("this model was saved before sampling errors were kept: fit it again.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state; the first ones had all rows left out and all columns alike."""
        if "loo_proba_" in state:
            places, n_features = np.arange(len(state["loo_proba_"])), state["n_features_in_"]
            priors = state["mixture_"].models[0].coordinate_models.gaussians.moments.priors
            later = {"loo_indices_": places, "relevance_": np.ones(n_features), "sampling_rows_": None}
            state = {**later, "loo_codes_": None, "loo_priors_": priors, "priors_": priors, **state}
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
                f"there is no typicality for more than {MOST_FEATURES} features, here {self.n_features_in_}. Reduce "
                f"them first, or fit ModeratedDiscriminantAnalysis('own') for it."
            )
        return self._map(X, self.typicality_.p_values)

    @only_if(_check_sampling_rows)
    def predict_proba_interval(
        self, X: ArrayLike, confidence_level: float = 0.9, *, classes: Literal["all", "predicted"] = "all"
    ) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's probability, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the mean prediction of models of this kind, fitted to other samples
            of this size from the same population, shall lie in the interval.
        classes : {"all", "predicted"}, default="all"
            Whether the intervals are those of all classes or of the predicted one.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Ends of the interval around `predict_proba`. Sampling errors of the maps and of the models behind them are
            covered; the choice of kernels, ridges and weights of columns, and what such models get wrong on average,
            are not.
        """
        self._check_fitted()
        level, of_predicted = check_level(confidence_level, "confidence_level"), check_classes(classes)

        def interval(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
            lower, upper = self._model.proba_interval(samples, level, of_predicted=of_predicted)
            return lower.astype(samples.dtype, copy=False), upper.astype(samples.dtype, copy=False)

        lower, upper = self._map(X, interval)
        return (lower[:, 0], upper[:, 0]) if of_predicted else (lower, upper)

    @only_if(_check_sampling_rows)
    def stability(self, X: ArrayLike) -> FloatArray:
        """How surely the label is the one that models of other samples of this size give on average.

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 1/n_classes and 1: one less the sum, over the other classes, of the probability that the sampling
            error of the log odds is larger than these. Two models of samples of their own agree less often, with
            probability Phi(M/sqrt(2 V)) for log odds M with the variance V. About the sample, not about the truth:
            errors are found by low probabilities, and low stability says that more training samples could change the
            label.
        """
        self._check_fitted()
        n_classes = len(self.classes_)

        def stability(samples: FloatArray) -> FloatArray:
            return self._model.log_odds(samples).stability(n_classes).astype(samples.dtype, copy=False)

        return self._map(X, stability)


def _sampling_rows(X: FloatArray, problem: Problem, trials: Sequence[Trial]) -> SamplingRows:
    """Return rows, among those that are left out, whose influence will be known."""
    n = len(problem.codes)
    left_out = np.arange(n) if problem.rows is None else problem.rows
    some = np.sort(stratified(problem.left_out_codes, MOST_ROWS, 2, seed=0).rows)
    part = len(some) / n
    ridges = np.array([trial.absolute_ridge for trial in trials]) * part
    points = X[left_out[some]].astype(np.float64)
    mass = None if problem.mass is None else problem.mass[left_out[some]]
    return SamplingRows(points, [trial.errors[some] for trial in trials], ridges, part, mass)

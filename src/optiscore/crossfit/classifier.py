"""CrossFitClassifier: any classifier, or a mixture of several, asked the questions that ours are asked."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from ..estimators.answers import ProbabilisticAnswers, check_classes
from ..estimators.availability import only_if
from ..estimators.progress import progress_bar
from ..metrics import mean_log_loss
from ..moderated.typicality import MOST_FEATURES, MOST_TYPICAL, TypicalityModel
from ..moments.labelled import TrainingSet, check_two_classes, check_weights, comparing_labels, encode_labels
from ..moments.subsets import stratified
from ..numerics.types import FloatArray
from ..trust.probabilities import check_level, most_probable
from ..trust.sampling import HARDLY, LogOdds, interval_around
from .folds import Fold, fit_all, left_out_means, proba_of, split_rows
from .mixture import LeftOut, Mixture, learn_mixture

_CALIBRATIONS = ("auto", "temperature")

_OF_VALIDATION = ("n_features_in_", "feature_names_in_")


class CrossFitClassifier(MetaEstimatorMixin, ProbabilisticAnswers):  # type: ignore[misc] # scikit-learn has no types
    """Any classifier, or a mixture of several, with calibrated probabilities, sets with a level, stability and more.

    A clone is fitted on all rows, which predicts, and one for each fold without it. What these say of the rows that
    they have not seen tells how good the probabilities are: they are calibrated by it, sets of labels get their level,
    and proportions of the classes among new rows can be estimated. How the models of the folds differ tells how far
    another training sample would change an answer.

    Parameters
    ----------
    estimator : classifier or list of (str, classifier)
        Any classifier with `predict_proba`, or a pipeline that ends in one. Of a list, probabilities are averaged with
        the weights of the least left-out log loss, and a classifier without which that is no larger by more than chance
        is left out.
    cv : int, splitter or list of pairs, default=10
        Number of folds, stratified and at random; or a splitter of scikit-learn, or pairs of indices.
    calibration : {"auto", "temperature", None} or object, default="auto"
        "auto": a slope of the log probabilities and an intercept for each class, drawn towards none, where these lessen
        the log loss of rows that they were not fitted to by more than chance; "temperature": a slope, always. None
        takes probabilities as they are. An object has ``fit(proba, codes)`` and ``predict(proba)``.
    n_jobs : int, default=None
        Fits at a time, as of joblib.
    random_state : int, RandomState or None, default=None
        For the folds, and for classifiers whose own ``random_state`` is None.
    verbose : int, default=0
        Above 0, a progress bar is shown (extra `rich`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list
        Classifiers fitted on all rows, those of the list that have a weight.
    fold_estimators_ : list of list
        For each fold, the same fitted without it. None for a classifier that knows its own left-out probabilities.
    mixture_ : Mixture
        Their weights, and what calibrates each of them and their mean.
    members_ : dict of ndarray
        All that were tried: "name", "log_loss" (left out, calibrated by itself) and "weight".
    loo_indices_ : ndarray of shape (n_left_out,)
        Training rows that were left out.
    loo_proba_ : ndarray of shape (n_left_out, n_classes)
        Probabilities of these, by models that have not seen them.
    loo_codes_ : ndarray of shape (n_left_out,)
        Their classes, as indices into `classes_`.
    loo_weights_ : ndarray of shape (n_left_out,)
        Their weights.
    loo_log_loss_ : float
        Mean log loss of `loo_proba_`.
    priors_, loo_priors_ : ndarray of shape (n_classes,)
        Class probabilities of predictions, and fractions of the training rows.
    typicality_ : TypicalityModel or None
        Gaussian classes of the columns, where X is numbers.
    typicality_limit_ : float or None
        One of a hundred training rows is less typical.

    See Also
    --------
    KernelDiscriminantClassifier : Leaves rows out in closed form.

    Notes
    -----
    *Stability* and *intervals* come from the jackknife that deletes a group: with G folds and f_g the log odds of the
    model without fold g, their variance is (G - 1)/G times the sum of (f_g - mean)^2. What a classifier decides by
    chance is in it: of a forest they are too modest. They cost as many predictions as there are folds.

    With groups, rows of one group are left out together: nothing that is said is flattered by copies of a patient.

    References
    ----------
    Miller: The jackknife, a review, Biometrika 1974.

    Examples
    --------
    >>> from optiscore import CrossFitClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> line = make_pipeline(StandardScaler(), LogisticRegression())
    >>> model = CrossFitClassifier(line, random_state=0).fit(X[:200], y[:200])
    >>> model.predict_set(X[200:], 0.95)[range(369), y[200:]].mean().round(2)
    np.float64(0.97)
    >>> answers = model.answers(X[200:])
    """

    estimators_: list[Any]
    fold_estimators_: list[list[Any]]
    mixture_: Mixture
    typicality_: TypicalityModel | None

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 10,
        calibration: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        _, (first, *_) = named_members(self.estimator)
        inner = get_tags(first)
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.input_tags.allow_nan, inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.non_deterministic = inner.non_deterministic
        return tags

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the classifiers on all rows and without each fold, and learn from what they say of the rows left out.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples, as the classifiers take them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for classifiers that take them.
        groups : array-like of shape (n_samples,), default=None
            What hangs together: rows of one group are left out together.

        Returns
        -------
        self : CrossFitClassifier
        """
        if isinstance(self.calibration, str) and self.calibration not in _CALIBRATIONS:
            raise ValueError(
                f"calibration must be one of {list(_CALIBRATIONS)}, None or an object with fit and predict, got "
                f"{self.calibration!r}."
            )
        names, members = named_members(self.estimator)
        for name, member in zip(names, members, strict=True):
            if not hasattr(member, "predict_proba"):
                raise ValueError(f"{name} has no predict_proba: wrap it, in CalibratedClassifierCV say.")
        seed = int(check_random_state(self.random_state).randint(2**31))
        with self._learning():
            training = _labelled(X, y, sample_weight)
            fitted, folds, left_out = self._fit_members(
                [with_seed(each, seed) for each in members], training, groups, seed
            )
            mixture, losses = learn_mixture(left_out, self.calibration)
            used = np.flatnonzero(mixture.weights)
            proba = mixture.proba(left_out.probas)
            fractions = np.bincount(left_out.codes, left_out.weights) / left_out.weights.sum()
            typicality, limit = _typicality_of(training)
            return self._keep(
                classes_=training.labels,
                estimators_=[fitted[i] for i in used],
                fold_estimators_=[[models[i] for i in used] for models in folds],
                mixture_=mixture.take(used),
                members_={"name": np.array(names), "log_loss": losses, "weight": mixture.weights},
                loo_indices_=left_out.rows,
                loo_proba_=proba,
                loo_codes_=left_out.codes,
                loo_weights_=left_out.weights,
                loo_log_loss_=mean_log_loss(proba, left_out.codes, left_out.weights),
                loo_priors_=fractions,
                priors_=fractions,
                typicality_=typicality,
                typicality_limit_=limit,
                **{name: getattr(fitted[0], name) for name in _OF_VALIDATION if hasattr(fitted[0], name)},
            )

    def _fit_members(
        self, members: list[Any], training: TrainingSet, groups: Any, seed: int
    ) -> tuple[list[Any], list[list[Any]], LeftOut]:
        """Return the classifiers fitted to all rows, those of each fold, and what is said of the rows left out."""
        X, codes, labels, weight = training
        n, K, truth = len(codes), len(labels), labels[codes]
        folds: list[Fold] = []
        if groups is not None or len(members) > 1 or not _knows_left_out(members[0]):
            folds = split_rows(self.cv, X, truth, codes, groups, seed)
        with progress_bar("fits", (1 + len(folds)) * len(members), visible=self.verbose > 0) as advance:
            fitted, results = fit_all(members, X, truth, labels, weight, folds, self.n_jobs, advance)
        if not folds:
            own = fitted[0]
            rows = getattr(own, "loo_indices_", np.arange(len(own.loo_codes_)))
            return fitted, [], LeftOut(rows, own.loo_codes_, own.loo_weights_, np.arange(len(rows)), [own.loo_proba_])
        places = [left_out for _, left_out in folds]
        probas = [
            left_out_means(zip(places, (found[i].proba for found in results), strict=True), n, K)
            for i in range(len(members))
        ]
        rows, fold = np.flatnonzero(~np.isnan(probas[0]).any(axis=1)), np.zeros(n, dtype=int)
        for k, left_out in enumerate(places):
            fold[left_out] = k
        weights = np.ones(len(rows)) if weight is None else weight[rows]
        models = [[each.model for each in found] for found in results]
        return fitted, models, LeftOut(rows, codes[rows], weights, fold[rows], [proba[rows] for proba in probas])

    def _proba(self, models: Sequence[Any], X: Any) -> FloatArray:
        """Return probabilities by classifiers of one fit, of all rows or without a fold."""
        proba = self.mixture_.proba([proba_of(model, X, self.classes_) for model in models])
        proba = proba * (self.priors_ / self.loo_priors_)
        return proba / proba.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probabilities of the classes, by the classifiers of all rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        self._check_fitted()
        return self._proba(self.estimators_, X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities; where a classifier says 0, that of the smallest number.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        log_proba = self.predict_log_proba(X)
        return self.classes_.take(most_probable(log_proba.T))

    def _check_folds(self) -> None:
        if "fold_estimators_" not in vars(self) or self.fold_estimators_ or _knows_left_out(self.estimators_[0]):
            return
        raise ValueError("stability and intervals come from models of folds, and there are none.")

    @only_if(_check_folds)
    def stability(self, X: Any) -> FloatArray:
        """How surely a model of another sample of this size from the same population would give the predicted label.

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 1/n_classes and 1: one less the sum, over the other classes, of the probability that the sampling
            error of the log odds is larger than these. About the sample, not about the truth.
        """
        self._check_fitted()
        if not self.fold_estimators_:
            return self._known_by_itself().stability(X)
        return self._log_odds(X).stability(len(self.classes_))

    def _known_by_itself(self) -> Any:
        """Return the one classifier that leaves rows out in closed form, for the class probabilities of this one."""
        return self.estimators_[0].with_priors(self.priors_)

    def _log_odds(self, X: Any) -> LogOdds:
        """Return log odds of the most probable class against all others, with variances by the jackknife."""
        p, rows = self.predict_proba(X), np.arange(_n_rows(X))
        best, K = p.argmax(axis=1), len(self.classes_)
        places = np.arange(K - 1)
        rivals = places + (places >= best[:, None])

        def log_odds(proba: FloatArray) -> FloatArray:
            logs = np.log(proba + HARDLY)
            return (logs[rows, best][:, None] - np.take_along_axis(logs, rivals, axis=1)).T

        counts = self._counts()
        variances = self._variance(X, log_odds) + 1 / counts[best] + 1 / counts[rivals].T
        return LogOdds(best, rivals.T, log_odds(p), variances)

    def _counts(self) -> FloatArray:
        """Return training rows of each class: folds have the same fractions, and tell no error of these."""
        return self.loo_priors_ * len(self.loo_codes_)

    def _variance(self, X: Any, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the variance of a function of the probabilities, by the models of the folds."""
        values = np.array([function(self._proba(models, X)) for models in self.fold_estimators_])
        G = len(values)
        return (G - 1) / G * np.square(values - values.mean(axis=0)).sum(axis=0)

    @only_if(_check_folds)
    def predict_proba_interval(
        self, X: Any, confidence_level: float = 0.9, *, classes: Literal["all", "predicted"] = "all"
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
            Ends of the interval around `predict_proba`.
        """
        self._check_fitted()
        level, of_predicted = check_level(confidence_level, "confidence_level"), check_classes(classes)
        if not self.fold_estimators_:
            return self._known_by_itself().predict_proba_interval(X, level, classes=classes)
        p = self.predict_proba(X)
        asked = p.argmax(axis=1)[:, None] if of_predicted else np.broadcast_to(np.arange(p.shape[1]), p.shape)

        def log_odds(proba: FloatArray) -> FloatArray:
            chosen = np.take_along_axis(proba, asked, axis=1)
            return np.log(chosen + HARDLY) - np.log(1 - chosen + HARDLY)

        counts = self._counts()
        variance = self._variance(X, log_odds) + 1 / counts[asked] + 1 / (counts.sum() - counts)[asked]
        quantile = float(stdtrit(max(len(self.fold_estimators_) - 1, 1), 0.5 + 0.5 * level))
        lower, upper = interval_around(np.take_along_axis(p, asked, axis=1), quantile * np.sqrt(variance))
        return (lower[:, 0], upper[:, 0]) if of_predicted else (lower, upper)

    def _check_typicality(self) -> None:
        if vars(self).get("typicality_", self) is None:
            raise ValueError("typicality is that of numbers without gaps, in 1,000 columns at most.")

    @only_if(_check_typicality)
    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class, in the columns themselves.

        Returns
        -------
        ndarray of shape (n_samples,)
            Near 0 for a sample unlike anything in training, whatever probabilities it gets.
        """
        self._check_fitted()
        assert self.typicality_ is not None
        return self.typicality_.p_values(np.asarray(X, dtype=np.float64))


def named_members(estimator: Any) -> tuple[list[str], list[Any]]:
    """Return names and classifiers of a list of pairs, or of one classifier."""
    if isinstance(estimator, BaseEstimator) or hasattr(estimator, "fit"):
        return [type(estimator).__name__], [estimator]
    try:
        names, members = zip(*estimator, strict=True)
    except (TypeError, ValueError):
        raise ValueError(
            f"estimator must be a classifier or a list of (name, classifier), got {estimator!r}."
        ) from None
    if len(set(names)) < len(names):
        raise ValueError(f"estimator must be a list of classifiers with different names, got {list(names)}.")
    return list(names), list(members)


def with_seed(member: Any, seed: int) -> Any:
    """Return a clone whose choices at random have a seed, where none is given."""
    cloned = clone(member)
    parameters = cloned.get_params(deep=True) if hasattr(cloned, "get_params") else {}
    seeds = {
        name: seed
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return cloned.set_params(**seeds) if seeds else cloned


def _knows_left_out(member: Any) -> bool:
    """Return whether a classifier leaves rows out in closed form, as ours do that are asked for probabilities."""
    return isinstance(member, ProbabilisticAnswers) and not isinstance(member, CrossFitClassifier)


def _labelled(X: Any, y: ArrayLike, sample_weight: Any) -> TrainingSet:
    """Return samples as they came in, with classes and weights."""
    X, given = indexable(X, column_or_1d(y, warn=True))
    with comparing_labels():
        if given.dtype.kind == "f":
            assert_all_finite(given, input_name="y")
        check_classification_targets(given)
    weight = None if sample_weight is None else check_weights(sample_weight, given)
    labels, codes = encode_labels(given)
    if weight is not None and (np.bincount(codes, weight) == 0).any():
        empty = labels[np.bincount(codes, weight) == 0].tolist()
        raise ValueError(f"all samples of some classes have weight 0: {empty}. Leave these samples out.")
    return TrainingSet(X, codes, check_two_classes(labels), weight)


def _typicality_of(training: TrainingSet) -> tuple[TypicalityModel | None, float | None]:
    """Return a model of columns that are numbers, and its limit; None where they are not."""
    try:
        X = np.asarray(training.X, dtype=np.float64)
    except (TypeError, ValueError):
        return None, None
    if X.ndim != 2 or X.shape[1] > MOST_FEATURES or not np.isfinite(X).all():
        return None, None
    counted = training._replace(X=X).counted()
    some = stratified(counted.codes, MOST_TYPICAL, 2, seed=0).rows
    try:
        return TypicalityModel.fit(counted.take(np.sort(some)))
    except ValueError:
        return None, None


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)

"""CrossFitClassifier: any classifier, or a mixture of several, asked the questions that ours are asked."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from ..estimators.answers import ProbabilisticAnswers
from ..estimators.progress import progress_bar
from ..metrics import mean_log_loss
from ..moderated.typicality import MOST_FEATURES, MOST_TYPICAL, TypicalityModel
from ..moments.labelled import TrainingSet, check_two_classes, check_weights, comparing_labels, encode_labels
from ..moments.subsets import stratified
from .answers import CrossFitAnswers
from .folds import LeftOut, fit_all, fresh, split_rows, worth_of
from .mixture import learn_mixture

_CALIBRATIONS = ("auto", "temperature")

_OF_VALIDATION = ("n_features_in_", "feature_names_in_")


class CrossFitClassifier(MetaEstimatorMixin, CrossFitAnswers):  # type: ignore[misc] # scikit-learn has no types
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
        For each fold, the same fitted without it; there are none for one classifier of this package, with a number for
        ``cv``, which knows its own left-out probabilities and is calibrated by itself.
    fold_part_ : float
        Part of the rows that a fold leaves out, on average.
    class_count_ : ndarray of shape (n_classes,)
        Training rows of each class, as many as they are worth where they have weights.
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
        What each of them stands for.
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
    chance is in it: of a forest they are too modest. Each costs as many predictions as there are folds, and `answers`
    asks for both.

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
        try:
            inner = get_tags(named_members(self.estimator)[1][0])
        # No list of classifiers, which fit says.
        except ValueError:
            return tags
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
        _check_calibration(self.calibration)
        names, members = named_members(self.estimator)
        for name, member in zip(names, members, strict=True):
            if not hasattr(member, "predict_proba"):
                raise ValueError(f"{name} has no predict_proba: wrap it, in CalibratedClassifierCV say.")
        seed = int(check_random_state(self.random_state).randint(2**31))
        with self._learning():
            training = _labelled(X, y, sample_weight, groups)
            members, truth = [with_seed(each, seed) for each in members], training.labels[training.codes]
            knows_itself = groups is None and self._knows_left_out(members)
            folds = [] if knows_itself else split_rows(self.cv, training.X, truth, training.codes, groups, seed)
            with progress_bar("fits", (1 + len(folds)) * len(members), visible=self.verbose > 0) as advance:
                fitted, results = fit_all(members, training, folds, self.n_jobs, advance)
            left_out = _known_left_out(fitted[0]) if knows_itself else LeftOut.of(training, folds, results)
            mixture, losses = learn_mixture(left_out, None if knows_itself else self.calibration)
            used, proba = np.flatnonzero(mixture.weights), mixture.proba(left_out.probas)
            weight = np.ones(len(training.codes)) if training.weight is None else training.weight
            fractions = np.bincount(training.codes, weight) / weight.sum()
            typicality, limit = _typicality_of(training)
            return self._keep(
                classes_=training.labels,
                class_count_=fractions * worth_of(weight),
                estimators_=[fitted[i] for i in used],
                fold_estimators_=[[models[i].model for i in used] for models in results],
                fold_part_=float(np.mean([len(out) for _, out in folds]) / len(weight)) if folds else 0.0,
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

    def _knows_left_out(self, members: Sequence[Any]) -> bool:
        """Return whether the one classifier leaves rows out in closed form, and nothing else is asked for.

        So do ours that are asked for probabilities: these are calibrated by themselves.
        """
        is_ours = isinstance(members[0], ProbabilisticAnswers) and not isinstance(members[0], CrossFitClassifier)
        plain = isinstance(self.cv, (int, np.integer)) and self.calibration in (None, "auto")
        return len(members) == 1 and is_ours and plain and getattr(members[0], "priors", None) is None

    def _is_list(self) -> bool:
        pairs = self.estimator if isinstance(self.estimator, (list, tuple)) else ()
        return bool(pairs) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the classifiers of a list under their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return those of the classifiers, too.

        Returns
        -------
        dict
        """
        parameters: dict[str, Any] = super().get_params(deep=deep)
        if deep and self._is_list():
            for name, member in zip(*named_members(self.estimator), strict=True):
                inner = member.get_params(deep=True) if hasattr(member, "get_params") else {}
                parameters |= {name: member, **{f"{name}__{key}": value for key, value in inner.items()}}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the classifiers of a list by their names.

        Parameters
        ----------
        **params : dict
            Parameters of this estimator, ``estimator__...`` of the one classifier, or ``name`` and ``name__...`` of
            those of a list.

        Returns
        -------
        self : CrossFitClassifier
        """
        if self._is_list() and "estimator" not in params:
            names, members = named_members(self.estimator)
            for i, name in enumerate(names):
                members[i] = params.pop(name, members[i])
                inner = {key: value for key, value in params.items() if key.startswith(f"{name}__")}
                if inner:
                    members[i].set_params(**{key.removeprefix(f"{name}__"): params.pop(key) for key in inner})
            self.estimator = list(zip(names, members, strict=True))
        super().set_params(**params)
        return self


def _check_calibration(calibration: Any) -> None:
    is_object = hasattr(calibration, "fit") and hasattr(calibration, "predict")
    if not (calibration is None or is_object or (isinstance(calibration, str) and calibration in _CALIBRATIONS)):
        raise ValueError(
            f"calibration must be one of {list(_CALIBRATIONS)}, None or an object with fit and predict, got "
            f"{calibration!r}."
        )


def _known_left_out(own: Any) -> LeftOut:
    """Return what a classifier of ours knows of rows that are left out."""
    codes = own.loo_codes_
    rows = getattr(own, "loo_indices_", np.arange(len(codes)))
    return LeftOut(rows, codes, own.loo_weights_, np.arange(len(codes)), [own.loo_proba_])


def named_members(estimator: Any) -> tuple[list[str], list[Any]]:
    """Return names and classifiers of a list of pairs, or of one classifier."""
    if isinstance(estimator, BaseEstimator) or hasattr(estimator, "fit"):
        return [type(estimator).__name__], [estimator]
    try:
        names, members = [*zip(*estimator, strict=True)] or [(), ()]
    except (TypeError, ValueError):
        raise ValueError(
            f"estimator must be a classifier or a list of (name, classifier), got {estimator!r}."
        ) from None
    if not names or len(set(names)) < len(names):
        raise ValueError(f"estimator must be a list of classifiers with different names, got {list(names)}.")
    return list(names), list(members)


def with_seed(member: Any, seed: int) -> Any:
    """Return a clone whose choices at random have a seed, where none is given."""
    cloned = fresh(member)
    parameters = cloned.get_params(deep=True) if hasattr(cloned, "get_params") else {}
    seeds = {
        name: seed
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return cloned.set_params(**seeds) if seeds else cloned


def _labelled(X: Any, y: ArrayLike, sample_weight: Any, groups: Any) -> TrainingSet:
    """Return samples as they came in, with classes and weights."""
    X, given, _ = indexable(X, column_or_1d(y, warn=True), groups)
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
    X = np.asarray(training.X)
    if X.dtype.kind not in "biuf" or X.ndim != 2 or X.shape[1] > MOST_FEATURES or not np.isfinite(X).all():
        return None, None
    counted = training._replace(X=X.astype(np.float64)).counted()
    some = stratified(counted.codes, MOST_TYPICAL, 2, seed=0).rows
    try:
        return TypicalityModel.fit(counted.take(np.sort(some)))
    except ValueError:
        return None, None

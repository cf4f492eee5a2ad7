"""Labels, probabilities and sets of labels, from log probabilities: what classifiers that have these say alike."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from ..numerics.blocks import map_blocks, threads_at_most
from ..numerics.types import BoolArray, FloatArray
from ..trust.limits import least_probability
from ..trust.probabilities import check_level, most_probable
from ..trust.proportions import ClassProportions, estimate_proportions
from ..trust.sets import Utility, best_sets, sets_at_level
from .answer_table import AnswerTable, label_sets
from .results import Results
from .validation import resolve_priors


def check_classes(classes: Any) -> bool:
    """Return whether intervals are those of the predicted class alone."""
    if not isinstance(classes, str) or classes not in ("all", "predicted"):
        raise ValueError(f"classes must be 'all' or 'predicted', got {classes!r}.")
    return classes == "predicted"


class Answers(ClassifierMixin, Results):  # type: ignore[misc] # scikit-learn has no types
    """A classifier whose model has log probabilities."""

    classes_: np.ndarray
    #: With `log_proba` of a block of samples (n_classes, n_samples), and `cost`, what `map_blocks` wants to know.
    _model: Any

    def _map(self, X: ArrayLike, function: Callable[[FloatArray], Any], method: str = "predict") -> Any:
        """Return a function of blocks of samples for all of them, by samples along the first axis.

        In what the function returns they run along the last one. The name of the method is for messages.
        """
        if "_model" not in vars(self):
            self._check_fitted()
        samples = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        width, operations = self._model.cost
        with threads_at_most(getattr(self, "n_jobs", None)):
            found = map_blocks(function, samples, width=width, operations=operations)
        return tuple(part.T for part in found) if isinstance(found, tuple) else found.T

    def _decide(self, samples: FloatArray) -> np.ndarray:
        """Return labels of a block of samples."""
        return self.classes_.take(most_probable(self._model.log_proba(samples)))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the labels of samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._map(X, self._decide)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probabilities of the classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._map(X, lambda samples: np.exp(self._model.log_proba(samples)), "predict_proba")

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities.
        """
        return self._map(X, lambda samples: self._model.log_proba(samples), "predict_log_proba")

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return what the decisions are taken by: the largest column, or the sign where there are two classes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log odds of the second. More: log probabilities.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba


class ProbabilisticAnswers(Answers):
    """A classifier that decides for the class of the largest probability."""

    priors_: FloatArray
    #: Probabilities of training samples, each left out, and their classes; the class probabilities that they are for.
    loo_proba_: FloatArray
    loo_codes_: np.ndarray
    loo_weights_: FloatArray
    loo_priors_: FloatArray
    #: With these, and `typicality` where there is a limit to it, `answers` puts all together.
    predict_proba_interval: Callable[..., tuple[FloatArray, FloatArray]]
    stability: Callable[..., FloatArray]
    typicality: Callable[..., FloatArray]
    typicality_limit_: float | None

    def predict_set(
        self,
        X: ArrayLike,
        confidence_level: float = 0.9,
        *,
        by_class: bool = False,
        utility: Utility | None = None,
        min_probability: float | None = None,
    ) -> BoolArray:
        """Return sets of labels: such that hold the true one as often as asked, or the labels worth naming.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Part of new samples whose set shall hold the true label. What is named has at least the probability that so
            many training samples gave to their own label when they were left out (the jackknife): asymptotic, and
            measured to hold on average; no theorem for few samples.
        by_class : bool, default=False
            Whether each class shall be covered alike, not only all together.
        utility : {"u65", "u80"}, default=None
            Instead, what a set of two labels, one of which is right, is worth: 0.65 or 0.80 of a right label. The most
            probable labels are named, as many as have the largest expected utility.
        min_probability : float, default=None
            Instead, all labels that have at least this probability.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the labels that are named, among them always the most probable one.
        """
        if utility is not None and utility not in ("u65", "u80"):
            raise ValueError(f"utility must be 'u65', 'u80' or None, got {utility!r}.")
        if utility is not None and min_probability is not None:
            raise ValueError("sets are by utility or by min_probability, not by both: give one of them.")
        level = check_level(confidence_level, "confidence_level")
        proba = self.predict_proba(X).T
        if min_probability is not None:
            check_level(min_probability, "min_probability")
            return ((proba >= min_probability) | (proba == proba.max(axis=0))).T
        if utility is not None:
            return best_sets(proba, utility).T
        left_out, weights = self._left_out(self.priors_)
        return sets_at_level(proba, left_out.T, self.loo_codes_, weights, level, by_class=by_class).T

    def answers(
        self, X: ArrayLike, *, confidence_level: float = 0.9, target_accuracy: float | None = 0.9
    ) -> AnswerTable:
        """Return everything that is said of samples, as one table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Level of the intervals and sets.
        target_accuracy : float, default=0.9
            Part of the decisions that shall be right: whose probability is below the limit at which so many decisions
            on left-out training samples were right goes to a person. None decides about all.

        Returns
        -------
        AnswerTable
            "label", "probability" of it, "low" and "high" (`predict_proba_interval`; where there is a `nominal_proba`,
            the interval is around that), "stability", "set" (tuples of labels, `predict_set`), "typicality", "abstain"
            and "why". Samples that are less typical than ninety-nine of a hundred training samples were go to a person,
            too.
        """
        proba = self.predict_proba(X)
        codes = most_probable(np.log(np.maximum(proba, np.finfo(proba.dtype).tiny)).T)
        probability, named = proba[np.arange(len(proba)), codes], self.predict_set(X, confidence_level)
        low, high = self.predict_proba_interval(X, confidence_level, classes="predicted")
        columns: dict[str, np.ndarray] = {"label": self.classes_.take(codes), "probability": probability}
        columns |= {"low": low, "high": high, "stability": self.stability(X), "set": label_sets(self.classes_, named)}
        limit, remark = self._probability_limit(target_accuracy)
        why = np.where(probability >= limit, "", "too uncertain").astype(object)
        if getattr(self, "typicality_limit_", None) is not None:
            columns["typicality"] = self.typicality(X)
            strange = columns["typicality"] < self.typicality_limit_
            why[strange & (why == "")] = "unlike the training rows"
        return AnswerTable({**columns, "abstain": why != "", "why": why.astype(str)}, remark)

    def _probability_limit(self, target_accuracy: float | None) -> tuple[float, str]:
        """Return the limit below which left-out samples would have gone to a person, and what is to be said of it."""
        if target_accuracy is None:
            return 0.0, "Decided whatever the probability."
        target = check_level(target_accuracy, "target_accuracy")
        left_out, weights = self._left_out(self.priors_)
        limit = least_probability(left_out.max(axis=1), left_out.argmax(axis=1) == self.loo_codes_, weights, target)
        if np.isinf(limit):
            return limit, f"No limit reaches {100 * target:g} % right decisions on left-out training rows."
        decided = f"from a probability of {limit:.3f} on" if limit else "whatever the probability"
        return limit, f"Decided {decided}: at least {100 * target:g} % right on left-out training rows."

    def estimate_priors(self, X: ArrayLike) -> ClassProportions:
        """Estimate the proportions of the classes among new samples without labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of a population in which the classes may have other proportions, and nothing else has changed:
            within each class, samples are as in training.

        Returns
        -------
        ClassProportions
            With `priors`, `low`, `high` and `p_value` (of no change); prints as a table. `with_priors` makes the model
            for them.

        Examples
        --------
        >>> from optiscore import KernelDiscriminantClassifier
        >>> from sklearn.datasets import make_moons
        >>> X, y = make_moons(300, noise=0.2, random_state=0)
        >>> X_new, y_new = make_moons((40, 160), noise=0.2, random_state=1)
        >>> model = KernelDiscriminantClassifier("short").fit(X, y)
        >>> found = model.estimate_priors(X_new)
        >>> found.priors.round(2), found.p_value < 0.01
        (array([0.22, 0.78]), True)
        >>> shifted = model.with_priors(found.priors)
        """
        self._check_fitted()
        left_out, weights = self._left_out(None)
        proba = self.predict_proba(X).astype(np.float64) * (self._fractions() / self.priors_)
        proba /= proba.sum(axis=1, keepdims=True)
        return estimate_proportions(proba, left_out, weights, self.classes_.tolist())

    def with_priors(self, priors: Any) -> Self:
        """Return a fitted copy for other class probabilities.

        Parameters
        ----------
        priors : array-like of shape (n_classes,), dict or "equal"
            Class probabilities in the order of `classes_`, by label, or all the same. None takes the fractions of the
            training samples.

        Returns
        -------
        classifier
            Log odds are those of before plus the change of those of the class probabilities.

        Examples
        --------
        >>> from optiscore import ModeratedDiscriminantAnalysis
        >>> model = ModeratedDiscriminantAnalysis(feature_map=None).fit([[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1])
        >>> rare = model.with_priors({0: 0.9, 1: 0.1})
        >>> bool(rare.predict_proba([[2.0]])[0, 1] < model.predict_proba([[2.0]])[0, 1])
        True
        """
        self._check_fitted()
        of_training = getattr(self, "class_count_", None)
        counts = self.loo_priors_ if of_training is None else of_training
        return self._copy_with(priors_=resolve_priors(priors, self.classes_.tolist(), counts))

    def _fractions(self) -> FloatArray:
        """Return fractions of the classes in training."""
        counts = np.bincount(self.loo_codes_, self.loo_weights_, minlength=len(self.priors_))
        return counts / counts.sum()

    def _left_out(self, priors: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return left-out probabilities under class probabilities, None for those of training, and weights of rows."""
        self._check_fitted()
        if getattr(self, "loo_proba_", None) is None or getattr(self, "loo_codes_", None) is None:
            raise ValueError(
                "there are no left-out probabilities: learn from samples with fit; streams, clusters and older model "
                "files have none. Sets by utility or min_probability need none."
            )
        fractions = self._fractions()
        new = fractions if priors is None else priors
        changed = self.loo_proba_ * (new / self.loo_priors_)
        return changed / changed.sum(axis=1, keepdims=True), self.loo_weights_ * (new / fractions)[self.loo_codes_]

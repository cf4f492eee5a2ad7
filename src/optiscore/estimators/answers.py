"""Labels, probabilities and sets of labels, from log probabilities: what classifiers that have these say alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from ..numerics.blocks import map_blocks
from ..numerics.types import BoolArray, FloatArray
from ..trust.probabilities import check_probability, most_probable
from ..trust.sets import Utility, best_sets
from .results import Results


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

    def predict_set(self, X: ArrayLike, utility: Utility = "u65", *, min_probability: float | None = None) -> BoolArray:
        """Return the labels worth naming.

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

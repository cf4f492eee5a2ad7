"""Learning from one block of samples after the other: the sums of all blocks so far, and a model once they allow it."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from ..moments.factors import SingularCovarianceError
from ..moments.labelled import ClassData, TrainingSet, check_two_classes, merge
from ..moments.sums import MomentSums
from ..numerics.arrays import Array, to_host
from .results import Results
from .validation import check_known_labels, validate_block

#: Sums of each class, None where it has no samples.
Sums: TypeAlias = list[MomentSums | None]

_OF_VALIDATION = ("n_features_in_", "feature_names_in_")


class Streaming(Results):
    """An estimator that keeps the sums of blocks.

    Subclasses learn from sums by ``_learn_from_sums(labels, classes, samples)``, where samples only tell the library
    and the device that arrays go to.
    """

    classes_: np.ndarray
    _sums: Sums

    def _learn_from_sums(self, labels: np.ndarray, classes: list[ClassData], samples: Array) -> Any:
        """Take over the results of what is known of each class."""
        raise NotImplementedError

    def _add_block(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        transform: Callable[[Array], Array] | None = None,
    ) -> None:
        """Add a block, of which ``transform`` makes what is summed, to those before, and learn from all of them."""
        sums = self._sums_so_far()
        with self._learning() if sums is None else nullcontext():
            points, labels, weight = validate_block(self, X, y, sample_weight, reset=sums is None)
            known = self._known_classes(to_host(classes), is_first=sums is None)
            check_known_labels(labels, known)
            points = points if transform is None else transform(points)
            block = TrainingSet(points, np.searchsorted(known, labels), known, weight).counted().sums()
            merged = block if sums is None else [merge(one, other) for one, other in zip(sums, block, strict=True)]
            try:
                self._learn_from_sums(known, _class_data(known, merged), points)
            except (_TooFewSamplesError, SingularCovarianceError):
                # There is no model of all blocks yet; the methods say what is lacking.
                results = [name for name in self.__dict__ if name.endswith("_") or name == "_model"]
                for name in set(results) - set(_OF_VALIDATION):
                    del self.__dict__[name]
                self.classes_ = known
            self.__dict__["_sums"] = merged

    def _sums_so_far(self) -> Sums | None:
        """Return the sums of earlier blocks, None if there were none."""
        if not hasattr(self, "_sums") and self.__sklearn_is_fitted__():
            raise ValueError(
                "partial_fit cannot go on after fit, which keeps no sums. Start with partial_fit instead, on an "
                "estimator that is not fitted yet."
            )
        return getattr(self, "_sums", None)

    def _known_classes(self, given: Any, is_first: bool) -> np.ndarray:
        """Return all labels that will ever occur, as the first call lists them."""
        if given is None:
            if is_first:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return self.classes_
        # As fit has them: labels that are objects stay objects.
        listed = np.unique(np.asarray(given))
        if not is_first and not np.array_equal(listed, self.classes_):
            raise ValueError(
                f"`classes={listed.tolist()}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_.tolist()}."
            )
        return check_two_classes(listed)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "means_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__() and hasattr(self, "_sums"):
            try:
                self._learn_from_sums(self.classes_, _class_data(self.classes_, self._sums), None)
            except (_TooFewSamplesError, SingularCovarianceError) as error:
                raise NotFittedError(f"This {type(self).__name__} has seen too few samples: {error}") from None
        super()._check_fitted()


class _TooFewSamplesError(ValueError):
    """A class has no samples yet."""


def _class_data(classes: np.ndarray, sums: Sums) -> list[ClassData]:
    """Return what is known of each class from blocks."""
    data = []
    for label, known in zip(classes, sums, strict=True):
        if known is None:
            raise _TooFewSamplesError(f"there are no samples of class {str(label)!r} yet.")
        data.append(ClassData(label, known))
    return data

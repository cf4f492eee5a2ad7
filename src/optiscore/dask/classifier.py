"""OptimisticScoreClassifier for Dask: fit reduces blocks to sums, predictions are lazy and block by block."""

from functools import partial
from typing import Any, Self

import numpy as np

from ..estimators.availability import only_if
from ..numerics.types import FloatArray
from ..robust.classifier import OptimisticScoreClassifier as Parent
from ..robust.log_scores import ScoreModel
from ..robust.parameters import check_for_sums, check_parameters
from ..robust.tuning import LabelledScores, ascend
from .blocks import is_lazy, map_labelled
from .estimator import LazyClassifier, check_block
from .lazy import Width, lazy
from .tuning import BlockScores


class OptimisticScoreClassifier(LazyClassifier, Parent):
    """`optiscore.OptimisticScoreClassifier` for Dask's arrays and data frames.

    Parameters and fitted attributes are the same, and so is the model, but for rounding. `fit` reads the data once
    (rule "tuned": twice), reduces each block to sums of size O(d^2) per class where the block is, and merges these
    in a tree. The methods that say something of samples return lazy Dask arrays for Dask's collections. Chunks may have
    unknown sizes. Whatever scheduler is current is used: a `dask.distributed.Client` of yours, or threads.

    What needs all samples of a class in one place is refused: radius "empirical", and covariance estimators other than
    None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. NumPy arrays are treated as by the parent class.

    Examples
    --------
    >>> import dask.array as da
    >>> from optiscore.dask import OptimisticScoreClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    >>> model.predict(X).chunks  # lazy
    ((50, 50, 50),)
    >>> model.score(X, y)
    0.98

    Labels as a column of the frame that they are predicted from:

    >>> import dask.dataframe as dd
    >>> frame = dd.from_pandas(load_iris(as_frame=True).data, npartitions=3)
    >>> labelled = frame.map_partitions(lambda part: part.assign(label=model.predict(part.to_numpy())))
    >>> int(labelled.label.nunique().compute())
    3
    """

    _parent = Parent

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn moments, radii and offsets from labelled samples.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask data frame
            Samples.
        y : dask array or series of shape (n_samples,)
            Labels.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights >= 0, as in memory.

        Returns
        -------
        self : OptimisticScoreClassifier
        """
        if not is_lazy(X):
            return super().fit(X, y, sample_weight)
        self._drop_fitted()
        check_parameters(vars(self))
        check_for_sums(self.radius, self.covariance_estimator)
        labels, known = self._known_from_blocks(X, y, sample_weight)

        def tune(model: ScoreModel, priors: FloatArray) -> FloatArray:
            score = partial(_scores_of_block, model=model, labels=labels)
            boxes = map_labelled(score, X, y, sample_weight)
            return ascend(BlockScores(boxes, is_used_once=len(priors) == 2), priors)

        return self._learn(labels, known, tune)

    @only_if(Parent._check_for_blocks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more block in memory; Dask's collections are for `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : OptimisticScoreClassifier
        """
        self._check_in_memory(X, y, sample_weight)
        return Parent.partial_fit(self, X, y, classes, sample_weight)

    predict = lazy(Parent.predict, Width.ONE)
    decision_function = lazy(Parent.decision_function, Width.MARGINS)
    predict_log_proba = lazy(Parent.predict_log_proba, Width.CLASSES)
    predict_proba = lazy(Parent.predict_proba, Width.CLASSES)
    log_score_bounds = lazy(Parent.log_score_bounds, Width.PAIR)
    predict_proba_bounds = lazy(Parent.predict_proba_bounds, Width.PAIR)
    predict_set = lazy(Parent.predict_set, Width.CLASSES)
    certified_factor = lazy(Parent.certified_factor, Width.ONE)


def _scores_of_block(
    X: Any, y: Any, sample_weight: Any = None, *, model: ScoreModel, labels: np.ndarray
) -> LabelledScores:
    samples, own, weight = check_block(X, y, sample_weight)
    optimistic = model.optimistic(samples)
    return LabelledScores(optimistic, np.searchsorted(labels, own), weight)

"""ModeratedDiscriminantAnalysis for Dask: fit reduces blocks to sums, answers are lazy."""

from typing import Any, Self

from ..moderated.classifier import ModeratedDiscriminantAnalysis as Parent
from .blocks import Width, is_lazy, lazy
from .estimator import LazyClassifier, in_memory_only


class ModeratedDiscriminantAnalysis(LazyClassifier, Parent):
    """`optiscore.ModeratedDiscriminantAnalysis` for Dask's arrays and data frames.

    Parameters and fitted attributes are the same, and so is the model, but for rounding. `fit` reads the data once.
    What needs all samples in one place is refused: a feature map that is not fitted already, the default among them,
    and covariance estimators other than None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. A map can be
    fitted on a sample of the rows. NumPy arrays are treated as by the parent class.

    Examples
    --------
    >>> import dask.array as da
    >>> from optiscore.dask import ModeratedDiscriminantAnalysis
    >>> from optiscore import PowerMap
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> blocks, labels = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> model = ModeratedDiscriminantAnalysis(feature_map=PowerMap().fit(X[::3])).fit(blocks, labels)
    >>> model.predict_proba(blocks).chunks  # lazy
    ((50, 50, 50), (3,))
    >>> round(model.score(blocks, labels), 3)
    0.98
    """

    _parent = Parent

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the moments from labelled samples.

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
        self : ModeratedDiscriminantAnalysis
        """
        if not is_lazy(X):
            return super().fit(X, y, sample_weight)
        self._check_for_blocks()
        with self._learning():
            labels, known, _ = self._known_from_blocks(X, y, sample_weight, self._transform())
            return self._learn(labels, known, self.feature_map)

    partial_fit = in_memory_only(Parent.partial_fit, Parent._check_for_blocks)
    predict = lazy(Parent.predict, Width.ONE)
    decision_function = lazy(Parent.decision_function, Width.MARGINS)
    predict_log_proba = lazy(Parent.predict_log_proba, Width.CLASSES)
    predict_proba = lazy(Parent.predict_proba, Width.CLASSES)
    nominal_proba = lazy(Parent.nominal_proba, Width.CLASSES)
    predict_proba_interval = lazy(Parent.predict_proba_interval, Width.PAIR)
    likelihood_ratio = lazy(Parent.likelihood_ratio, Width.TWO)
    stability = lazy(Parent.stability, Width.ONE)
    predict_set = lazy(Parent.predict_set, Width.CLASSES)
    typicality = lazy(Parent.typicality, Width.ONE)
    score_samples = lazy(Parent.score_samples, Width.ONE)

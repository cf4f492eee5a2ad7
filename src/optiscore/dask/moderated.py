"""ModeratedDiscriminantAnalysis for Dask: fit reduces blocks to sums, answers are lazy."""

from typing import Any, Self

from ..moderated.classifier import ModeratedDiscriminantAnalysis as Parent
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

    def _fit_lazily(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_for_blocks()
        with self._learning():
            labels, known, _ = self._known_from_blocks(X, y, sample_weight, self._transform())
            return self._learn(labels, known, self.feature_map)

    partial_fit = in_memory_only(Parent.partial_fit, Parent._check_for_blocks)

"""OptimisticScoreClassifier for Dask: fit reduces blocks to sums, predictions are lazy and block by block."""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ..numerics.types import FloatArray
from ..robust.classifier import OptimisticScoreClassifier as Parent
from ..robust.learning import ScoredClasses
from ..robust.log_scores import ScoreModel
from ..robust.rules import given_offsets, is_tuned
from ..robust.tuning import thinning, tuned_offsets
from .blocks import map_boxes, map_labelled, reduce_tree
from .estimator import LazyClassifier, check_block, in_memory_only


class OptimisticScoreClassifier(LazyClassifier, Parent):
    """`optiscore.OptimisticScoreClassifier` for Dask's arrays and data frames.

    Parameters and fitted attributes are the same, and so is the model, but for rounding. `fit` reads the data once
    (rule "tuned": twice), reduces each block to sums of size O(d^2) per class where the block is, and merges these
    in a tree. Tuned offsets come from the same samples as in memory, whose scores are fetched: nine bytes for each of
    two classes' samples, and the scores of at most some 160,000 samples of more classes. The methods that say something
    of samples, but for `assess`, return lazy Dask arrays for Dask's collections. Chunks may have unknown sizes.
    Whatever scheduler is current is used: a `dask.distributed.Client` of yours, or threads.

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

    def _fit_lazily(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        self._check_for_sums()
        with self._learning():
            labels, classes, counts = self._known_from_blocks(X, y, sample_weight)
            known = self._scored(classes)
            if is_tuned(self.decision_rule):
                offsets = _tune(known, labels, counts, map_labelled(check_block, X, y, sample_weight))
            else:
                offsets = given_offsets(self.decision_rule, known.priors)
            return self._keep(**known.results(labels, self.decision_rule, offsets, None))

    partial_fit = in_memory_only(Parent.partial_fit, Parent._check_for_blocks)


class _BlockScores(NamedTuple):
    """Log scores (n_classes, n) of some samples of a block, of two classes their differences; classes and weights."""

    optimistic: FloatArray
    codes: np.ndarray
    weight: FloatArray | None


def _tune(known: ScoredClasses, labels: np.ndarray, counts: np.ndarray, blocks: list[Any]) -> FloatArray:
    """Return offsets tuned to the samples that would be chosen in memory, whose scores are fetched.

    Counts (n_blocks, n_classes) tell how many samples of each class are in which block.
    """
    score = partial(_scores_of_block, scores=known.scores, labels=labels, class_count=counts.sum(axis=0))
    earlier = np.cumsum(counts, axis=0) - counts
    parts = reduce_tree(map_boxes(score, blocks, list(earlier)), _joined)
    codes = np.concatenate([part.codes for part in parts])
    weights = [part.weight for part in parts if part.weight is not None]
    optimistic = np.concatenate([part.optimistic for part in parts], axis=1)
    if len(labels) == 2:
        optimistic = np.vstack([np.zeros_like(optimistic), optimistic])
    return tuned_offsets(optimistic, codes, known.priors, np.concatenate(weights) if weights else None)


def _scores_of_block(
    block: Any, earlier: np.ndarray, *, scores: ScoreModel, labels: np.ndarray, class_count: np.ndarray
) -> list[_BlockScores]:
    """Return scores of all samples of two classes, and of more of those that would be chosen in memory."""
    samples, own, weight = block
    codes = np.searchsorted(labels, own)
    if len(labels) > 2:
        steps = thinning(class_count)
        ranks = np.zeros(len(codes), dtype=np.intp)
        for c in np.unique(codes):
            ranks[codes == c] = earlier[c] + np.arange(np.count_nonzero(codes == c))
        rows = np.flatnonzero(ranks % steps[codes] == 0)
        samples, codes, weight = samples[rows], codes[rows], None if weight is None else weight[rows]
        if (steps < steps.max()).any():
            weight = steps[codes] * (1.0 if weight is None else weight)
    optimistic = scores.of_training(samples)
    if len(labels) == 2:
        optimistic, codes = optimistic[1:] - optimistic[:1], codes.astype(np.int8)
    return [_BlockScores(optimistic, codes, weight)]


def _joined(parts: list[list[_BlockScores]]) -> list[_BlockScores]:
    return [part for several in parts for part in several]

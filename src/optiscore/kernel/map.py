"""KernelDiscriminantMap: curved class boundaries made straight, in one coordinate fewer than classes."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators.results import Results
from ..estimators.validation import validate_training
from ..numerics.blocks import map_blocks
from ..numerics.types import FloatArray
from .parameters import check_combinations, check_max_landmarks, check_relevance, check_ridges
from .problem import Judged, Problem, pose
from .relevance import weigh_columns
from .search import search
from .spectral_ridge import predictive_projector


class SquaredError:
    """The criterion of the map: squared error of the class indicators, each row left out."""

    name, n_neighbours = "squared_error", 0

    def judge(self, problem: Problem, left_out: FloatArray) -> Judged:
        """Return the squared error, and the coordinates of the rows that are left out."""
        projector = predictive_projector(left_out, problem.targets, problem.left_out_masses)
        loss, _ = self.loss(problem, left_out, None)
        return Judged(loss, projector, left_out @ projector, None)

    def loss(self, problem: Problem, left_out: FloatArray, change: FloatArray | None) -> tuple[float, float]:
        """Return the squared error, and its slope in the logarithm of the ridge."""
        error = problem.errors(left_out)
        loss = float(np.average(2 * np.square(error).sum(axis=1), weights=problem.weights))
        if change is None:
            return loss, np.nan
        return loss, float(np.average(-4 * (error * change).sum(axis=1), weights=problem.weights))


# scikit-learn has no types: its classes are Any to the type checker.
class KernelDiscriminantMap(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    Results,
):
    """Discriminant coordinates by kernel ridge regression: curved class boundaries become straight.

    Ridge regressions of the class indicators on kernel features (regularised kernel Fisher discriminants). The
    coordinates are orthogonal contrasts of the indicators, one fewer than classes. Kernel, scaling of the features and
    ridge are those of the least leave-one-out squared error, which is exact; of more than 600 samples, kernels are
    compared on some first.

    Parameters
    ----------
    kernels : {"default", "short", "long"} or list of str, default="default"
        Kernels to try, by name: "linear"; "product-laplacian" and "product-gaussian", products over the features that
        sum effects of single features, of pairs and so on; "rbf-f" with f out of 0.0625, 0.25, 1, 4 and "laplacian-f"
        with f out of 0.25, 1 (the larger, the narrower), in units of the median distance. "short" is the first three,
        "default" these and "rbf-0.25", "rbf-1", "long" all.
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
    random_state : int, RandomState or None, default=0
        For the choice of rows, where there are more than 600, and for learning weights of the features: two fits with
        the same number are the same.
    verbose : int, default=0
        Above 0, a progress bar is shown (extra `rich`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_, scaling_ : str
        What was chosen.
    ridge_ : float
        The chosen ridge.
    relevance_ : ndarray of shape (n_features,)
        Weights of the features, 1 for the one that matters most and 0 for what is not looked at; all 1 where nothing is
        learned. A copy of a feature takes part of its weight.
    expansion_ : KernelExpansion
        The map of the scaled features: its ``anchors`` are training rows (or landmarks; for the linear kernel, unit
        vectors), its ``coefficients`` belong to them.
    scaler_ : Standardised or NormalScores
        The fitted scaling.
    results_ : dict of ndarray
        What was tried, ready for a data frame: "kernel", "scaling", "ridge", "squared_error" (leave-one-out) and
        "n_rows", the number of rows it was tried on: of more than 600, some first.

    See Also
    --------
    KernelDiscriminantClassifier : Probabilities behind one such map, or an average over many.

    Notes
    -----
    ``fit_transform(X, y)`` is not ``fit(X, y).transform(X)``: it returns *leave-one-out* coordinates, each row mapped
    by the regression without it. What is trained on them sees training rows as it will see new ones; in-sample
    coordinates would make the classes look further apart than they are. scikit-learn's `TargetEncoder` does the same
    with folds. Directions in which leave-one-out predictions are not positively correlated with the labels say nothing
    and are projected out; without any information, all coordinates are 0.

    For ``partial_fit`` of `ModeratedDiscriminantAnalysis`, fit the map on other rows than those that follow.

    A fitted map holds training rows, and so do files of it: whoever has the map can read them.

    References
    ----------
    Mika, Raetsch, Weston, Schoelkopf, Mueller: Fisher discriminant analysis with kernels, NNSP 1999.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantMap, ModeratedDiscriminantAnalysis
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> X_new, y_new = make_moons(1000, noise=0.2, random_state=1)
    >>> straight = ModeratedDiscriminantAnalysis().fit(X, y)
    >>> curved = ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap()).fit(X, y)
    >>> round(straight.score(X_new, y_new), 2), round(curved.score(X_new, y_new), 2)
    (0.86, 0.96)
    """

    def __init__(
        self,
        kernels: str | Sequence[str] = "default",
        *,
        scalings: Sequence[str] = ("standard", "ranks"),
        relevance: bool | str = "auto",
        ridges: ArrayLike | None = None,
        max_landmarks: int | str | None = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.scalings = scalings
        self.relevance = relevance
        self.ridges = ridges
        self.max_landmarks = max_landmarks
        self.random_state = random_state
        self.verbose = verbose

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state; the first ones had all columns alike."""
        if "expansion_" in state:
            state = {"relevance_": np.ones(state["n_features_in_"]), **state}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose kernel, scaling and ridge, and learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, of which only the ratios matter; a sample is left out with all of its weight.

        Returns
        -------
        self : KernelDiscriminantMap
        """
        self._fit(X, y, sample_weight, leaves_all_out=False)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
        """Learn the map, and return leave-one-out coordinates of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights > 0, of which only the ratios matter; a sample is left out with all of its weight.

        Returns
        -------
        ndarray of shape (n_samples, n_classes - 1)
            Coordinates of each sample by the regression without it: not those of `transform`.
        """
        return self._fit(X, y, sample_weight, leaves_all_out=True)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, leaves_all_out: bool) -> FloatArray:
        combinations = check_combinations(self.kernels, self.scalings)
        ridges, max_landmarks = check_ridges(self.ridges), check_max_landmarks(self.max_landmarks)
        relevance = check_relevance(self.relevance)
        # One seed from the caller's, so that every use of it is the same again.
        seed = int(check_random_state(self.random_state).randint(2**31))
        with self._learning():
            training = validate_training(self, X, y, sample_weight)
            problem = pose(training, [each.scaling for each in combinations], ridges)
            problem, weights_of_columns = weigh_columns(problem, relevance, seed)
            problem, trials, table = search(
                problem,
                combinations,
                SquaredError(),
                max_landmarks=max_landmarks,
                seed=seed,
                verbose=self.verbose,
                leaves_all_out=leaves_all_out,
            )
            best = min(trials, key=lambda trial: trial.loss)
            self._keep(
                classes_=training.labels,
                kernel_=best.combination.kernel,
                scaling_=best.combination.scaling,
                ridge_=best.ridge,
                expansion_=best.expansion,
                scaler_=problem.scalings[best.combination.scaling],
                results_=table,
                relevance_=weights_of_columns,
            )
        left_out = best.judged.left_out
        if problem.rows is not None:
            left_out = left_out[np.argsort(problem.rows)]
        return left_out.astype(training.X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        """Number of coordinates, which scikit-learn's mixin makes names for."""
        return len(self.classes_) - 1

    def transform(self, X: ArrayLike) -> FloatArray:
        """Discriminant coordinates of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; not the training samples, whose coordinates `fit_transform` returns.

        Returns
        -------
        ndarray of shape (n_samples, n_classes - 1)
            Estimated class indicators, less their means, in orthogonal contrasts; of two classes, the indicator of the
            second. Other names of the classes rotate the coordinates.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        n_anchors = len(self.expansion_.anchors)

        def coordinates(block: FloatArray) -> FloatArray:
            return self.expansion_(self.scaler_(block.astype(np.float64, copy=False))).T

        mapped = map_blocks(coordinates, points, width=n_anchors, operations=10 * n_anchors)
        return np.ascontiguousarray(mapped.T, dtype=points.dtype)

"""OptimisticScoreClassifierCV: radii, pooling and the kind of score chosen by cross-validation."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from inspect import signature
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed

from ..estimators.progress import progress_bar
from ..estimators.validation import validate_training
from ..moments.labelled import TrainingSet
from ..numerics.arrays import to_host
from ..numerics.types import FloatArray
from .answers import WorstCaseAnswers
from .candidates import (
    Candidates,
    check_likelihoods,
    check_poolings,
    choose_candidate,
    radius_grid,
    tabulate,
)
from .classifier import OptimisticScoreClassifier
from .folds import Criterion, Fold, FoldCandidate, accuracy, evaluate_fold, negative_log_loss
from .learning import score_classes, tune, warn_if_one_class_wins
from .radii import clt_radius
from .rules import given_offsets, is_tuned
from .scores.registry import Likelihood, LikelihoodName, name_of

# Scorings that need no estimator: decisions and log scores are at hand.
_FAST = {"accuracy": accuracy, "neg_log_loss": negative_log_loss}


class OptimisticScoreClassifierCV(WorstCaseAnswers):
    """`OptimisticScoreClassifier` whose radii, pooling and likelihood are chosen by cross-validation.

    All candidates together cost a few fits: moments and Mahalanobis distances do not depend on the radii, so they are
    computed once per fold, and every radius is a lookup. The scores are those of scikit-learn's GridSearchCV over the
    same candidates and folds: to 1e-12 in float64, to about 1e-5 in float32.

    Parameters
    ----------
    likelihood : {"gaussian", "nonparametric", "fixed-mean"}, Likelihood or list of these, default="gaussian"
        Kind of score, see `log_score`; from a list, one is chosen.
    radii : array-like of shape (n_candidates,), default=None
        Candidate radii, used in increasing order. For two classes and ``per_class=True`` every pair is tried; otherwise
        all classes have the same radius.
    radius_factors : array-like of shape (n_candidates,), default=None
        Instead of `radii`, candidates as factors on the radii of `clt_radius`; every pair, or one factor common to all
        classes. Without either, the factors are 0, 1/16, 1/8, 1/4, 1/2, 1, 2, 4 and 8.
    poolings : array-like of shape (n_poolings,), default=(0.0,)
        Candidates for the weight of the pooled covariance in that of each class.
    per_class : bool, default=True
        Whether two classes may have radii that vary independently.
    cv : int, cross-validation generator or iterable, default=5
        Splits of the samples; a number stands for so many stratified folds.
    scoring : str or callable, default=None
        What the candidates are judged by: any scikit-learn scorer, None being accuracy. Accuracy and "neg_log_loss" are
        read off the scores; for other scorers a classifier is fitted for every candidate and fold.
    decision_rule : {"tuned", "prior", "minimax"}, float or array-like of shape (n_classes,), default="tuned"
        What the scores are compared by, see `OptimisticScoreClassifier`. Tuned on the training part of each fold.
    priors : array-like of shape (n_classes,), dict or "equal", default=None
        Class probabilities in the order of `classes_`, by label, or all the same; None takes the fractions of the
        training samples.
    covariance_estimator : estimator, default=None
        Estimator of the nominal covariances, see `OptimisticScoreClassifier`.
    n_jobs : int, default=None
        Number of folds that are worked on at once, in threads; None is 1, -1 all processors.
    verbose : int, default=0
        Above 0, a progress bar is shown (extra `rich`).

    Attributes
    ----------
    best_estimator_ : OptimisticScoreClassifier
        The classifier with the chosen parameters, fitted on all samples: this is what predicts.
    best_params_ : dict
        The chosen ``likelihood``, ``pooling`` and ``radius`` (one per class), for `OptimisticScoreClassifier`.
    best_score_ : float
        Mean score of the choice over the folds.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of str to ndarray
        Candidates and their scores, laid out as by GridSearchCV: ``params``, ``param_likelihood``, ``param_pooling``,
        ``param_radius``, ``split0_test_score`` and so on, ``mean_test_score``, ``std_test_score``, ``rank_test_score``.
        Times are not among them, since the candidates share their work.
    radius_axes_ : tuple of ndarray
        The candidate radii of the first and of the second class, or the candidate radii or factors common to all. The
        candidates vary in the order likelihood, pooling, radii, the last axis fastest.
    n_splits_ : int
        Number of folds.
    classes_, class_count_, priors_, means_, covariances_, radii_, offsets_, likelihood_, decision_rule_
        Those of `best_estimator_`.

    See Also
    --------
    OptimisticScoreClassifier : The classifier for given or calibrated radii.
    optiscore.plotting.RadiusSearchDisplay : Picture of the scores over the radii.

    Notes
    -----
    Candidates whose mean scores differ by rounding only are tied. Of those, the one wins whose neighbours in the grid
    of radii have the best mean score (a smooth hill beats a lucky cell), then the one with the largest sum of radii.

    The candidates are the same radii in every fold: for factors, those times the clt radii of all samples. Sample
    weights count in the moments, in the tuned offsets and in the scores of the test samples; with metadata routing
    enabled, in the latter only if the scorer requests them. Groups reach the splitter as ``fit(X, y, groups=...)``.

    The method `score` is the accuracy, whatever ``scoring`` is. Candidates for which a class has no positive definite
    covariance get the score NaN and a warning, unless all are such: that is an error.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OptimisticScoreClassifierCV(poolings=[0, 0.5]).fit(X[:, :10], y)
    >>> model.best_params_["pooling"], model.radii_.round(2).tolist()
    (0.0, [0.02, 0.36])
    >>> round(model.best_score_, 3)
    0.946
    """

    def __init__(
        self,
        likelihood: LikelihoodName | Likelihood | Sequence[LikelihoodName | Likelihood] = "gaussian",
        *,
        radii: ArrayLike | None = None,
        radius_factors: ArrayLike | None = None,
        poolings: ArrayLike = (0.0,),
        per_class: bool = True,
        cv: Any = 5,
        scoring: Any = None,
        decision_rule: Any = "tuned",
        priors: Any = None,
        covariance_estimator: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.radii = radii
        self.radius_factors = radius_factors
        self.poolings = poolings
        self.per_class = per_class
        self.cv = cv
        self.scoring = scoring
        self.decision_rule = decision_rule
        self.priors = priors
        self.covariance_estimator = covariance_estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose among the candidates by cross-validation, then learn from all samples with the choice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; integers act as repetitions within a fold.
        **params : dict
            ``groups`` for the splitter; with metadata routing enabled, whatever splitter and scorer request.

        Returns
        -------
        self : OptimisticScoreClassifierCV
        """
        with self._learning():
            # Folds are compared on the host; what is learned goes where the samples are.
            on_host = to_host(X), to_host(y), to_host(sample_weight)
            samples = validate_training(self, *on_host, keep_all=True)
            candidates = self._candidates(samples)
            routed = self._route(samples.weight, params)
            splits = self._splits(*on_host[:2], len(samples.codes), routed.splitter.split)
            folds = (self._fold(samples, train, test, routed.scorer.score) for train, test in splits)
            criterion = self._criterion(*on_host[:2], routed.scorer.score)
            table = tabulate(candidates, self._evaluate(folds, splits, candidates, criterion))
            best = choose_candidate(table["mean_test_score"], candidates)
            chosen = self._classifier(**table["params"][best])
            results = self._learn(chosen, samples.counted(), X)
            return self._keep(
                cv_results_=table,
                best_index_=best,
                best_score_=float(table["mean_test_score"][best]),
                best_params_=table["params"][best],
                radius_axes_=candidates.grid.axes,
                n_splits_=len(splits),
                best_estimator_=chosen,
                **results,
            )

    def _learn(self, chosen: OptimisticScoreClassifier, training: TrainingSet, samples: Any) -> dict[str, Any]:
        """Return results by the parameters of a classifier, which takes them over, too; arrays go where samples are."""
        parameters = chosen.get_params(deep=False)
        decision_rule = parameters.pop("decision_rule")
        known = score_classes(training.by_class(), **parameters)
        offsets = tune(known, training) if is_tuned(decision_rule) else given_offsets(decision_rule, known.priors)
        results = known.results(training.labels, decision_rule, offsets, samples if hasattr(samples, "dtype") else None)
        features = {name: vars(self)[name] for name in ("n_features_in_", "feature_names_in_") if name in vars(self)}
        chosen.__setstate__({**vars(chosen), **features, **results})
        if results["decision_rule_"] == "prior":
            warn_if_one_class_wins(results["_model"], training)
        return results

    def _copy_with(self, **results: Any) -> Self:
        """Return a copy whose `best_estimator_` has the other results, too."""
        best = copy(self.best_estimator_)
        best.__setstate__({**best.__getstate__(), **results})
        return super()._copy_with(best_estimator_=best, **results)

    def plot_radii(self, *, ax: Any = None, **keywords: Any) -> Any:
        """Plot the cross-validated score over the candidate radii (extra `plot`).

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `RadiusSearchDisplay.plot`.

        Returns
        -------
        RadiusSearchDisplay
        """
        from ..plotting import RadiusSearchDisplay

        return RadiusSearchDisplay.from_estimator(self, ax=ax, **keywords)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which metadata: samples' weights here, the rest to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
        """
        to_splitter = MethodMapping().add(caller="fit", callee="split")
        to_scorer = MethodMapping().add(caller="fit", callee="score")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=self.cv, method_mapping=to_splitter).add(
            scorer=self._scorer(), method_mapping=to_scorer
        )

    def _candidates(self, samples: TrainingSet) -> Candidates:
        training = samples.counted()
        sizes = np.bincount(training.codes, weights=training.weight)
        clt_radii = np.array([clt_radius(size, training.X.shape[1]) for size in sizes])
        return Candidates(
            check_likelihoods(self.likelihood),
            check_poolings(self.poolings),
            radius_grid(self.radii, self.radius_factors, clt_radii, self.per_class),
        )

    def _splits(
        self, X: Any, y: Any, n_samples: int, metadata: Mapping[str, Any]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Indices of the training and the test samples of each fold."""
        everyone = np.arange(n_samples)
        given = check_cv(self.cv, y, classifier=True).split(X, y, **metadata)
        splits = [(everyone[train], everyone[test]) for train, test in given]
        if not splits:
            raise ValueError("cv yields no splits: it is empty, or a generator that was used before.")
        return splits

    def _route(self, sample_weight: FloatArray | None, params: dict[str, Any]) -> Bunch:
        """Metadata for the splitter and for the scorer."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        if unknown := params.keys() - {"groups"}:
            raise ValueError(
                f"fit got unexpected arguments: {sorted(unknown)}. Metadata other than sample_weight and groups need "
                f"sklearn.set_config(enable_metadata_routing=True)."
            )
        scorer = self._scorer()
        takes_weight = "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters
        for_scorer = {"sample_weight": sample_weight} if sample_weight is not None and takes_weight else {}
        return Bunch(splitter=Bunch(split=params), scorer=Bunch(score=for_scorer))

    def _fold(
        self, samples: TrainingSet, train: np.ndarray, test: np.ndarray, scorer_metadata: Mapping[str, Any]
    ) -> Fold:
        # A label that no sample of positive weight has cannot be judged.
        test = test[samples.codes[test] >= 0]
        weight = scorer_metadata.get("sample_weight")
        if samples.weight is not None:
            train = train[samples.weight[train] > 0]
        return Fold(
            samples.take(train),
            samples.take(test),
            train,
            test,
            len(samples.codes),
            None if weight is None else np.asarray(weight)[test],
            self.decision_rule,
            self.priors,
            self.covariance_estimator,
        )

    def _evaluate(
        self, folds: Iterable[Fold], splits: Sequence[Any], candidates: Candidates, criterion: Criterion
    ) -> FloatArray:
        """Scores of shape (n_folds, n_candidates)."""
        total = len(splits) * len(candidates)
        with progress_bar("cross-validation", total, visible=self.verbose > 0) as advance:
            work = (delayed(evaluate_fold)(fold, candidates, criterion, advance) for fold in folds)
            results = Parallel(n_jobs=self.n_jobs, require="sharedmem")(work)
        scores = np.array([result.scores for result in results])
        if errors := [error for result in results for error in result.errors]:
            if np.isnan(scores.mean(axis=0)).all():
                raise ValueError(errors[0])
            message = f"some candidates have no moments and get the score NaN: {errors[0]}"
            warnings.warn(message, FitFailedWarning, stacklevel=3)
        return scores

    def _criterion(self, X: Any, y: Any, scorer_metadata: Mapping[str, Any]) -> Criterion:
        if self.scoring is None:
            return accuracy
        if isinstance(self.scoring, str) and self.scoring in _FAST:
            return _FAST[self.scoring]
        scorer = self._scorer()

        def by_scorer(trial: FoldCandidate) -> float:
            fold, rows = trial.fold, trial.fold.test_rows
            likelihood, pooling, radii = trial.candidate
            model = self._classifier(likelihood=name_of(likelihood), pooling=pooling, radius=radii)
            model.fit(_rows_of(X, fold.training_rows), _rows_of(y, fold.training_rows), fold.training.weight)
            metadata = {name: _rows_of(value, rows, trial.fold.n_samples) for name, value in scorer_metadata.items()}
            value = scorer(model, _rows_of(X, rows), _rows_of(y, rows), **metadata)
            if not isinstance(value, Real):
                raise ValueError(f"scoring must return one number, got {value!r}.")
            return float(value)

        return by_scorer

    def _classifier(self, **choice: Any) -> OptimisticScoreClassifier:
        return OptimisticScoreClassifier(
            **choice,
            decision_rule=self.decision_rule,
            priors=self.priors,
            covariance_estimator=self.covariance_estimator,
        )

    def _scorer(self) -> Any:
        if self.scoring is not None and not (isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be None, the name of a scorer or a callable, got {self.scoring!r}.")
        return get_scorer("accuracy" if self.scoring is None else self.scoring)


def _rows_of(values: Any, rows: np.ndarray, n_samples: int | None = None) -> Any:
    """Some rows of an array-like or a frame; metadata that are not one per sample are left whole."""
    if n_samples is not None and (
        not hasattr(values, "__len__") or isinstance(values, str) or len(values) != n_samples
    ):
        return values
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    return [values[row] for row in rows] if isinstance(values, Sequence) else values[rows]

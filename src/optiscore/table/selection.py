"""Which model for a table: candidates by the words of the command line, each judged on rows that it has not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import (
    KernelDiscriminantClassifier,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
)
from ..crossfit.classifier import CrossFitClassifier
from ..crossfit.folds import Fold, fit_fold, stratified_folds, take_rows_of
from ..kernel.problem import MOST_ROWS
from ..metrics import log_losses
from ..numerics.types import FloatArray
from ..robust.radii import check_radius_parameter
from ..robust.rules import check_decision_rule
from ..robust.scores.registry import get_likelihood
from .preparation import new_values_allowed

MODERATED, KERNEL, OPTIMISTIC = "moderated", "kernel", "optimistic"

#: Of classifiers that are fitted fold by fold: the kernel classifier with histogram boosting, and this alone.
MIXTURE, BOOSTING = "mixture", "boosting"

#: A mixture is tried from so many rows on, up to so many.
FEWEST_MIXED, MOST_MIXED = 1_000, 20_000

_MIXED_FOLDS = 5


class ModelOptions(NamedTuple):
    """Options that belong to some models only; None where they are not given."""

    covariance: str | None = None
    priors: str | None = None
    likelihood: str | None = None
    radius: str | None = None
    cv: bool = False
    rule: str | None = None
    pooling: float | None = None


#: Which options go with which model.
_BELONG = {
    MODERATED: {"covariance", "priors"},
    KERNEL: set[str](),
    OPTIMISTIC: {"priors", "likelihood", "radius", "cv", "rule", "pooling"},
}


def candidates(model: str, settings: ModelOptions, *, no_rows: bool, seed: int) -> dict[str, Any]:
    """Models by name, not fitted; the first is taken unless another is better."""
    if model not in ("auto", *_BELONG):
        raise ValueError(f"--model must be auto, {', '.join(_BELONG)}, got {model!r}.")
    if model == KERNEL and no_rows:
        raise ValueError("--no-rows: a kernel model keeps training rows; take --model moderated.")
    given = {name for name, value in settings._asdict().items() if value is not None and value is not False}
    names = [model]
    if model == "auto":
        names = [MODERATED] if given or no_rows else [MODERATED, KERNEL]
    for option in sorted(given - _BELONG[names[0]]):
        fitting = " or ".join(f"--model {name}" for name, options in _BELONG.items() if option in options)
        raise ValueError(f"--{option} goes with {fitting}.")
    makers = {MODERATED: _moderated, KERNEL: _kernel, OPTIMISTIC: _optimistic}
    return {name: makers[name](settings, seed) for name in names}


def candidates_of(model: Any, seed: int, n_jobs: int | None) -> dict[str, Any]:
    """Return models by name, not fitted, from a name, a list of names or a classifier."""
    kernel = KernelDiscriminantClassifier(random_state=seed)
    boosting = HistGradientBoostingClassifier(random_state=seed)
    cross = partial(CrossFitClassifier, cv=_MIXED_FOLDS, random_state=seed, n_jobs=n_jobs)
    known = {
        MODERATED: ModeratedDiscriminantAnalysis(),
        KERNEL: kernel,
        MIXTURE: cross([(KERNEL, clone(kernel)), (BOOSTING, boosting)]),
        BOOSTING: cross(clone(boosting)),
    }
    if not isinstance(model, (str, list, tuple)):
        return {type(model).__name__: cross(model)}
    names = [MODERATED, KERNEL, MIXTURE] if model == "auto" else [model] if isinstance(model, str) else list(model)
    if not names or not set(names) <= set(known):
        raise ValueError(f"model must be 'auto', out of {list(known)}, or a classifier, got {model!r}.")
    return {name: known[name] for name in names}


def _moderated(settings: ModelOptions, seed: int) -> Any:
    covariance = settings.covariance or "both"
    if covariance not in ("both", "own", "shared"):
        raise ValueError(f"--covariance must be both, own or shared, got {covariance!r}.")
    return ModeratedDiscriminantAnalysis(covariance)  # type: ignore[arg-type] # checked above


def _kernel(settings: ModelOptions, seed: int) -> Any:
    return KernelDiscriminantClassifier(random_state=seed)


def _optimistic(settings: ModelOptions, seed: int) -> Any:
    likelihood: Any = settings.likelihood or "gaussian"
    rule = _number_or_name(settings.rule or "minimax")
    if settings.cv and settings.radius is not None:
        raise ValueError("--cv chooses the radii: leave out --radius.")
    pooling = 0.0 if settings.pooling is None else settings.pooling
    radius = _number_or_name(settings.radius or "clt")
    classifier = OptimisticScoreClassifier(
        likelihood,
        radius=radius,
        decision_rule=rule,
        pooling=pooling,
    )
    check_decision_rule(rule)
    check_radius_parameter(radius, classifier.quantile)
    get_likelihood(likelihood)
    if not 0 <= pooling <= 1:
        raise ValueError(f"--pooling must be a number from 0 to 1, got {pooling:g}.")
    if settings.cv:
        return OptimisticScoreClassifierCV(likelihood, decision_rule=rule, poolings=[pooling])
    return classifier


def parse_priors(text: str, labels: np.ndarray) -> list[float]:
    """Class probabilities in the order of the labels, from "equal" or "yes=0.2,no=0.8"."""
    names = [str(label) for label in labels]
    if text == "equal":
        return [1 / len(names)] * len(names)
    given: dict[str, float] = {}
    for part in _pairs(text):
        name, _, number = part.rpartition("=")
        try:
            if name.strip() in given:
                raise ValueError
            given[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"--priors: {part!r} is no probability of a class, such as {names[0]}=0.5.") from None
    if sorted(given) != sorted(names) or not np.isclose(sum(given.values()), 1) or min(given.values()) <= 0:
        raise ValueError(f"--priors must have a positive number for each of {', '.join(names)}, together 1.")
    return [given[name] for name in names]


def _pairs(text: str) -> list[str]:
    """The parts between commas that have an equals sign each: labels may hold commas, too."""
    pairs, pending = [], list[str]()
    for part in text.split(","):
        pending.append(part)
        if "=" in part:
            pairs.append(",".join(pending))
            pending = []
    return [*pairs, ",".join(pending)] if pending else pairs


def _number_or_name(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


#: Up to so many rows there are five folds, beyond three.
_MOST_FIVE_FOLDS = 1_500

#: Up to so many rows the kernel classifier is among the candidates: more are refused.
MOST_KERNEL_ROWS = MOST_ROWS

#: Of more rows than this, so many random ones are judged, with some of every class.
MOST_JUDGED, FEWEST_OF_A_CLASS = 20_000, 20


@dataclass(frozen=True)
class CandidateResult:
    """A model trained on all rows, and what models of its kind say of rows that they have not seen."""

    #: Its name on the command line.
    name: str
    #: Fitted on all rows.
    classifier: Any
    #: Indices of the training rows that were judged; of shape (n_judged,).
    judged: np.ndarray
    #: Index of the predicted class of each of these, left out; of shape (n_judged,).
    predicted: np.ndarray
    #: Log loss of each; of shape (n_judged,).
    losses: FloatArray
    #: How rows were left out, in words.
    how: str

    @property
    def log_loss(self) -> float:
        """Mean over the rows."""
        return float(self.losses.mean())


class TrainingRows(NamedTuple):
    """Training rows that candidates are judged on."""

    #: What classifiers are trained on; of shape (n_rows, n_features).
    features: np.ndarray
    #: What is trained on each fold, made from a classifier, and its rows: these features, or the columns of the table
    #: where encodings know the labels.
    make: Callable[[Any], Any]
    rows: Any
    #: Index of the class of each row; of shape (n_rows,).
    codes: np.ndarray
    #: Labels of the classes; of shape (n_classes,).
    labels: np.ndarray
    #: Seed of the folds.
    seed: int


def judge_candidate(name: str, classifier: Any, trial: TrainingRows, advance: Callable[[int], None]) -> CandidateResult:
    """Train a model on all rows and judge its kind on rows left out; `advance` is told about each training."""
    labels, truth = trial.labels, trial.labels[trial.codes]
    fitted = clone(classifier).fit(trial.features, truth)
    advance(1)
    # Its own folds are as good, where encodings know no labels.
    if isinstance(fitted, CrossFitClassifier) and fitted.fold_estimators_ and trial.rows is trial.features:
        judged, proba = fitted.loo_indices_, fitted.loo_proba_
        how, losses = f"{len(fitted.fold_estimators_)}-fold cross-validation", log_losses(proba, trial.codes[judged])
        return CandidateResult(name, fitted, judged, proba.argmax(axis=1), losses, how)
    judged = rows_to_judge(trial.codes, trial.seed)
    codes = trial.codes[judged]
    predicted, proba = np.empty(len(codes), dtype=np.intp), np.empty((len(codes), len(labels)))
    folds = folds_of(codes, trial.seed)
    for kept, left_out in folds:
        fold = judged[kept], judged[left_out]
        with new_values_allowed():
            result = fit_fold(trial.make(clone(classifier)), trial.rows, truth, labels, None, fold)
            said = result.model.predict(take_rows_of(trial.rows, fold[1]))
        predicted[left_out], proba[left_out] = np.searchsorted(labels, said), result.proba
        advance(1)
    of = "" if len(judged) == len(truth) else f" of {len(judged):,} random rows"
    how = f"{len(folds)}-fold cross-validation{of}"
    return CandidateResult(name, fitted, judged, predicted, log_losses(proba, codes), how)


def rows_to_judge(codes: np.ndarray, seed: int) -> np.ndarray:
    """Indices of all rows, or of some random ones of very many, with some of every class."""
    if len(codes) <= MOST_JUDGED:
        return np.arange(len(codes))
    order = np.random.default_rng(seed).permutation(len(codes))
    parts = (order[codes[order] == c] for c in np.unique(codes))
    share = MOST_JUDGED / len(codes)
    return np.sort(np.concatenate([part[: max(FEWEST_OF_A_CLASS, round(share * len(part)))] for part in parts]))


def folds_of(codes: np.ndarray, seed: int) -> list[Fold]:
    """Return five folds, three of many rows, or as many as the smallest class has rows."""
    n_folds = int(min(5 if len(codes) <= _MOST_FIVE_FOLDS else 3, *np.bincount(codes)))
    return stratified_folds(codes, n_folds, seed)


def choose_model(tried: Sequence[CandidateResult]) -> tuple[CandidateResult, str]:
    """The model of the smallest log loss, and why."""
    best, *others = sorted(tried, key=lambda each: each.log_loss)
    if not others:
        return best, ""
    values = ", ".join(f"{each.name} {each.log_loss:.3f}" for each in tried)
    gain = others[0].losses - best.losses
    error = gain.std() / np.sqrt(len(gain))
    is_chance = gain.mean() < 2 * error
    return best, f"its log loss is smaller{', though by no more than chance' if is_chance else ''} ({values})."


def quadratic_discriminant() -> QuadraticDiscriminantAnalysis:
    """QDA with a little ridge, for singular classes."""
    return QuadraticDiscriminantAnalysis(reg_param=1e-3)


def linear_discriminant() -> LinearDiscriminantAnalysis:
    """LDA with automatic shrinkage."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def logistic_regression() -> Any:
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))

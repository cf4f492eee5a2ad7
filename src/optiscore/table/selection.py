"""Which model for a table: each is judged on rows that it has not seen, and the smallest log loss wins."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..metrics import log_losses
from ..numerics.types import FloatArray
from .preparation import new_values_allowed

#: Up to so many rows there are five folds, beyond three.
_MOST_FIVE_FOLDS = 1_500

#: Up to so many rows the kernel classifier is among the candidates: beyond, each prediction and each fit take long.
MOST_KERNEL_ROWS = 20_000

#: Of more rows than this, so many random ones are judged, with some of every class.
MOST_JUDGED, FEWEST_OF_A_CLASS = 20_000, 20

MODERATED, KERNEL, OPTIMISTIC = "moderated", "kernel", "optimistic"

#: A moderated model whose classes share a covariance.
SHARED = "moderated, shared covariance"


@dataclass(frozen=True)
class Tried:
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


class Trial(NamedTuple):
    """What candidates are tried on."""

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


def try_model(name: str, classifier: Any, trial: Trial, advance: Callable[[int], None]) -> Tried:
    """Train a model on all rows and judge its kind on rows left out; `advance` is told about each training."""
    labels, truth = trial.labels, trial.labels[trial.codes]
    fitted = clone(classifier).fit(trial.features, truth)
    advance(1)
    judged = rows_to_judge(trial.codes, trial.seed)
    codes = trial.codes[judged]
    predicted, proba = np.empty(len(codes), dtype=np.intp), np.empty((len(codes), len(labels)))
    n_folds, folds = split_folds(codes, trial.seed)
    for kept, left_out in folds:
        there, here = judged[kept], judged[left_out]
        with new_values_allowed():
            model = trial.make(clone(classifier)).fit(_take(trial.rows, there), truth[there])
            predicted[left_out] = np.searchsorted(labels, model.predict(_take(trial.rows, here)))
            proba[left_out] = model.predict_proba(_take(trial.rows, here))
        advance(1)
    of = "" if len(judged) == len(truth) else f" of {len(judged):,} random rows"
    how = f"{n_folds}-fold cross-validation{of}"
    return Tried(name, fitted, judged, predicted, log_losses(proba, codes), how)


def rows_to_judge(codes: np.ndarray, seed: int) -> np.ndarray:
    """Indices of all rows, or of some random ones of very many, with some of every class."""
    if len(codes) <= MOST_JUDGED:
        return np.arange(len(codes))
    order = np.random.default_rng(seed).permutation(len(codes))
    parts = (order[codes[order] == c] for c in np.unique(codes))
    share = MOST_JUDGED / len(codes)
    return np.sort(np.concatenate([part[: max(FEWEST_OF_A_CLASS, round(share * len(part)))] for part in parts]))


def split_folds(codes: np.ndarray, seed: int) -> tuple[int, Iterator[tuple[np.ndarray, np.ndarray]]]:
    """Five folds, three of many rows, or as many as the smallest class has: how many, and rows kept and left out."""
    n_folds = int(min(5 if len(codes) <= _MOST_FIVE_FOLDS else 3, *np.bincount(codes)))
    return n_folds, StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes)


def choose(tried: Sequence[Tried]) -> tuple[Tried, str]:
    """The model of the smallest log loss, and why; one that assumes a shared covariance must win beyond chance."""
    best, *others = sorted(tried, key=lambda each: each.log_loss)
    if not others:
        return best, ""
    values = ", ".join(f"{each.name} {each.log_loss:.3f}" for each in tried)
    gain = others[0].losses - best.losses
    error = gain.std() / np.sqrt(len(gain))
    if best.name == SHARED and gain.mean() < error:
        return others[0], f"no log loss is smaller by more than chance, and it assumes less ({values})."
    is_chance = gain.mean() < 2 * error
    return best, f"its log loss is smaller{', though by no more than chance' if is_chance else ''} ({values})."


def _take(rows: Any, where: np.ndarray) -> Any:
    return rows.iloc[where] if hasattr(rows, "iloc") else rows[where]

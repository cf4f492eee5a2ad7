"""From a table to a trained model: classes, columns, the choice of a model, and what it is compared with."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .. import ModeratedDiscriminantAnalysis
from ..estimators.progress import Progress
from .answers import FACTOR, STABILITY, TYPICALITY, ask, senses_of
from .columns import Choices, Column, mark_labels
from .preparation import check_classes_of, encode, labelled_rows, labels_of, make_model, new_values_allowed, to_frame
from .seen_rows import SeenRows
from .selection import (
    FEWEST_MIXED,
    KERNEL,
    MIXTURE,
    MODERATED,
    MOST_KERNEL_ROWS,
    MOST_MIXED,
    CandidateResult,
    TrainingRows,
    choose_model,
    folds_of,
    judge_candidate,
    linear_discriminant,
    logistic_regression,
    parse_priors,
    quadratic_discriminant,
    rows_to_judge,
)
from .survey import Survey, survey_table
from .table_model import TableModel
from .tables import read_blocks
from .watch import Watch

# Rows below this typicality, and below that of all but such a part of the training rows, are unlike these.
_USUAL_TYPICALITY, _FEW_UNTYPICAL = 0.001, 0.005

# However untypical some training rows are, rows below this are unlike them.
_LEAST_TYPICALITY = 1e-8

# A search over radii within folds needs so many rows of every class.
_FEWEST_SEARCHED = 7

# Decisions with less evidence are not counted as certain.
_SURE = {STABILITY: 0.95, FACTOR: 1.0}


@dataclass(frozen=True)
class Plan:
    """A table, its columns and the models to train."""

    #: The table, and its column of labels.
    path: str
    target: str
    #: Models by name; the first is taken unless another is better.
    candidates: dict[str, Any]
    #: What the user says of the columns.
    choices: Choices = field(default_factory=Choices)
    #: What the user says of the class probabilities.
    priors: str | None = None
    #: What stands before the decimals in text files.
    decimal: str = "."
    #: Seed of folds, samples and landmarks.
    seed: int = 0

    @property
    def may_sample(self) -> bool:
        """Whether a table beyond what memory shall hold can be trained on block by block."""
        name, classifier = next(iter(self.candidates.items()))
        return name == MODERATED or hasattr(classifier, "partial_fit")


class _EncodedTable(NamedTuple):
    """A table as models see it: its columns as a frame and as features, labels, and the class of each row."""

    survey: Survey
    columns: list[Column]
    frame: pd.DataFrame
    features: np.ndarray
    labels: np.ndarray
    codes: np.ndarray


def train(plan: Plan, n_rows: int | None, progress: Progress) -> TableModel:
    """Read a table and train on it; beyond what memory shall hold, block by block if the classifier can."""
    with progress("reading", n_rows) as advance:
        survey = survey_table(
            plan.path,
            plan.target,
            plan.choices,
            decimal=plan.decimal,
            may_sample=plan.may_sample,
            seed=plan.seed,
            advance=advance,
        )
    _check_classes(survey, plan)
    model, table = _prepare(plan, survey)
    tried = _try_all(plan, table, progress)
    best, reason = choose_model(tried)
    model.steps[-1] = ("classifier", best.classifier)
    if not survey.is_whole:
        with progress("training", n_rows) as advance:
            model.steps[-1] = ("classifier", _fit_blocks(plan, model, table.columns, survey.counts, advance))
    return _described(plan, table, model, tried, best, reason)


def _prepare(plan: Plan, survey: Survey) -> tuple[Pipeline, _EncodedTable]:
    """A pipeline whose columns are encoded, without its classifier yet, and what comes out of it."""
    frame = to_frame(survey.table, survey.columns, plan.path)
    labels, codes = np.unique(survey.labels, return_inverse=True)
    columns = mark_labels(survey.columns, frame, codes)
    model = make_model(columns, None, plan.seed)
    # Encodings of text by the labels are cross-fitted here: the classifier and the others are trained on the same.
    with new_values_allowed():
        features = model[:-1].fit_transform(frame, survey.labels)
    return model, _EncodedTable(survey, columns, frame, features, labels, codes)


def _described(
    plan: Plan,
    table: _EncodedTable,
    model: Pipeline,
    tried: Sequence[CandidateResult],
    best: CandidateResult,
    reason: str,
) -> TableModel:
    """The trained model with all that is known of it and of the table."""
    survey, columns, frame, features, labels, codes = table
    judged = best.judged
    peers, failed = _fit_peers(features, survey.labels)
    return TableModel(
        pipeline=model,
        kind=best.name,
        tried=[(each.name, each.log_loss, float((each.predicted == codes[judged]).mean())) for each in tried],
        reason=reason,
        how=best.how,
        peers=peers,
        failed_peers=failed,
        watch=Watch.from_frame(frame.iloc[judged], columns, best.predicted, len(labels)),
        seen=SeenRows.from_frame(frame.iloc[judged], survey.n_rows),
        columns=columns,
        target=plan.target,
        source=Path(plan.path).name,
        decimal=plan.decimal,
        n_rows=survey.n_rows,
        n_unlabelled=survey.n_unlabelled,
        n_sampled=None if survey.is_whole else len(codes),
        class_counts=list(survey.counts.items()),
        confusion=_confusion(codes[judged], best.predicted, len(labels)),
        n_certain=_count_certain(model[-1], features[judged]),
        n_copies=int(frame.assign(**{"": codes}).duplicated().sum()),
        least_typical=_least_typical(model[-1], features[judged], codes[judged], plan.seed),
    )


def _try_all(plan: Plan, table: _EncodedTable, progress: Progress) -> list[CandidateResult]:
    """Each candidate that such a table allows, trained and judged."""
    candidates, codes = dict(plan.candidates), table.codes
    if plan.priors is not None:
        for classifier in candidates.values():
            classifier.set_params(priors=parse_priors(plan.priors, table.labels))
    if len(candidates) > 1 and (not table.survey.is_whole or len(codes) > MOST_KERNEL_ROWS):
        candidates.pop(KERNEL, None)
    if len(candidates) > 1 and not (table.survey.is_whole and FEWEST_MIXED <= len(codes) <= MOST_MIXED):
        candidates.pop(MIXTURE, None)
    # Only encodings of text know the labels, and must not know those of the rows that judge.
    knows_labels = any(column.kind == "text" for column in table.columns)
    rows = table.frame if knows_labels else table.features

    def make(classifier: Any) -> Any:
        return make_model(table.columns, classifier, plan.seed) if knows_labels else classifier

    trial = TrainingRows(table.features, make, rows, codes, table.labels, plan.seed)
    n_fits = (1 + len(folds_of(codes[rows_to_judge(codes, plan.seed)], plan.seed))) * len(candidates)
    with progress(f"training {' and '.join(candidates)} on", n_fits) as advance:
        return [judge_candidate(name, classifier, trial, advance) for name, classifier in candidates.items()]


def _fit_blocks(
    plan: Plan, model: Pipeline, columns: list[Column], counts: dict[Any, int], advance: Callable[[int], None]
) -> Any:
    """The classifier of a pipeline, trained on all rows; encodings and feature map are those of the sample."""
    classes = np.array(list(counts))
    fitted, classifier = model[-1], clone(model[-1])
    if getattr(fitted, "feature_map_", None) is not None:
        classifier.set_params(feature_map=fitted.feature_map_)
    for block in read_blocks(plan.path, plan.decimal, (plan.target, *plan.choices.ids)):
        rows = labelled_rows(block, plan.target, plan.path)
        if rows.num_rows:
            X = encode(model, to_frame(rows, columns, plan.path))
            classifier.partial_fit(X, labels_of(rows[plan.target], classes.dtype.kind == "i"), classes)
        advance(block.num_rows)
    return classifier


def _check_classes(survey: Survey, plan: Plan) -> None:
    target, counts, n_rows = plan.target, survey.counts, survey.n_rows
    if len(counts) < 2:
        n = survey.n_unlabelled
        hint = f"; {n:,} rows have no label: empty cells, NA, None and the like" if n else ""
        raise ValueError(f"column {target!r} must hold at least two classes, got {list(counts)}{hint}.")
    check_classes_of(target, list(counts), n_rows)
    if len(counts) > max(10, min(100, n_rows // 2)):
        raise ValueError(
            f"column {target!r} has {len(counts):,} distinct values in {n_rows:,} rows, too many for "
            f"classes: choose another target, or group them."
        )
    if alone := [str(label) for label, count in counts.items() if count < 2]:
        raise ValueError(
            f"{'classes' if len(alone) > 1 else 'class'} {', '.join(map(repr, alone[:10]))}"
            f"{' and more' if len(alone) > 10 else ''} of column {target!r} {'have' if len(alone) > 1 else 'has'} one "
            f"row only: add rows, or leave these out."
        )
    lone = min(counts, key=counts.__getitem__)
    if counts[lone] < _FEWEST_SEARCHED and any(hasattr(each, "radius_factors") for each in plan.candidates.values()):
        raise ValueError(f"class {str(lone)!r} has {counts[lone]} rows, and --cv needs {_FEWEST_SEARCHED} of each.")


def _confusion(codes: np.ndarray, predicted: np.ndarray, n_classes: int) -> list[list[int]]:
    table = np.bincount(n_classes * codes + predicted, minlength=n_classes**2)
    return table.reshape(n_classes, n_classes).tolist()


def _count_certain(classifier: Any, features: np.ndarray) -> int | None:
    """How many rows are decided with evidence, where the model can tell."""
    certainty = ask(classifier, features).certainty
    for sense, least in _SURE.items():
        if sense in certainty:
            return int((certainty[sense] > least).sum())
    return None


def _least_typical(classifier: Any, features: np.ndarray, codes: np.ndarray, seed: int) -> float:
    """Typicality that all but a few training rows have when they are left out."""
    if TYPICALITY not in senses_of(classifier):
        return 0.0
    is_moderated = isinstance(classifier, ModeratedDiscriminantAnalysis)
    measured = ModeratedDiscriminantAnalysis(classifier.covariance if is_moderated else "own")
    folds = folds_of(codes, seed)
    values = np.concatenate(
        [measured.fit(features[kept], codes[kept]).typicality(features[left_out]) for kept, left_out in folds]
    )
    return float(np.clip(np.quantile(values, _FEW_UNTYPICAL), _LEAST_TYPICALITY, _USUAL_TYPICALITY))


def _fit_peers(X: np.ndarray, labels: np.ndarray) -> tuple[dict[str, Any], dict[str, str]]:
    """QDA with a tiny ridge, LDA with shrinkage and logistic regression, and why some cannot be trained."""
    makers = {"QDA": quadratic_discriminant, "LDA": linear_discriminant, "logistic regression": logistic_regression}
    fitted, failed = {}, {}
    for name, make in makers.items():
        # What these methods have to say about the columns is shown by their results.
        with warnings.catch_warnings(action="ignore"):
            try:
                peer = make().fit(X, labels)
                if not np.isfinite(peer.predict_proba(X[:1000])).all():
                    raise ValueError("its probabilities are not finite")
                fitted[name] = peer
            except (ValueError, np.linalg.LinAlgError) as error:
                failed[name] = " ".join(str(error).split()).partition(". ")[0].rstrip(".") + "."
    return fitted, failed

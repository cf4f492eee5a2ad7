"""Answers of a classifier to rows: label, probabilities, certainty in several senses, and when it abstains."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..numerics.types import FloatArray
from ..robust.answers import Assessment

PROBABILITY, STABILITY, FACTOR, TYPICALITY = "probability", "stability", "certified factor", "typicality"

#: Senses of certainty, and why a row that has too little of it goes to a person.
REASONS = MappingProxyType(
    {
        PROBABILITY: "too uncertain",
        STABILITY: "too little evidence",
        FACTOR: "too little evidence",
        TYPICALITY: "unlike the training rows",
    }
)

#: Below these a row goes to a person, unless the user says otherwise. A probability of 0.65 is where naming two labels
#: is worth as much as naming one (utility u65).
_DEFAULTS = MappingProxyType({PROBABILITY: 0.65, STABILITY: 0.75, FACTOR: 1.0})


class Answers(NamedTuple):
    """Answers to some rows."""

    #: Indices of the predicted classes; of shape (n_rows,).
    predicted: np.ndarray
    #: Probabilities of the classes; of shape (n_rows, n_classes).
    proba: FloatArray
    #: Every sense of certainty that the model has; the first orders the rows; of shape (n_rows,).
    certainty: dict[str, FloatArray]
    #: Worst-case bounds and undominated labels, where the model has them.
    bounds: Assessment | None = None


def senses_of(classifier: Any) -> tuple[str, ...]:
    """The senses of certainty that a fitted classifier has; the first is what rows are ordered by."""
    if hasattr(classifier, "certified_factor"):
        return (FACTOR,)
    senses = [PROBABILITY]
    if hasattr(classifier, "stability"):
        senses.append(STABILITY)
    # The kernel classifier has none for very many features.
    if getattr(classifier, "typicality_", classifier) is not None:
        senses.append(TYPICALITY)
    return tuple(senses)


def ask(classifier: Any, X: np.ndarray) -> Answers:
    """Everything that a fitted classifier of any kind says of rows."""
    if hasattr(classifier, "certified_factor"):
        said = classifier.assess(X)
        return Answers(said.predicted, said.proba, {FACTOR: said.certified_factor}, said)
    proba = classifier.predict_proba(X)
    questions = {
        PROBABILITY: lambda: proba.max(axis=1),
        STABILITY: lambda: classifier.stability(X),
        TYPICALITY: lambda: classifier.typicality(X),
    }
    return Answers(proba.argmax(axis=1), proba, {sense: questions[sense]() for sense in senses_of(classifier)})


def thresholds_for(classifier: Any, least_typical: float, given: Sequence[str]) -> dict[str, float]:
    """Return the limits of abstention: the defaults, changed by texts such as "0.9" or "typicality=0.01".

    A number alone is about the first sense of certainty of the model. Names may be cut short. By default, rows are
    unlike the training rows if they are less typical than these were.
    """
    senses = senses_of(classifier)
    chosen = {sense: _DEFAULTS.get(sense, least_typical) for sense in senses}
    for text in given:
        name, is_named, number = text.rpartition("=")
        matching = [sense for sense in senses if any(word.startswith(name.strip()) for word in (sense, *sense.split()))]
        if is_named and (not name.strip() or len(matching) != 1):
            raise ValueError(f"--abstain-below {text!r}: this model has {', '.join(senses)}.")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        sense = matching[0] if is_named else senses[0]
        if np.isnan(value) or value < 0 or value > (np.finfo(float).max if sense == FACTOR else 1):
            most = "0 or more" if sense == FACTOR else "from 0 to 1"
            raise ValueError(f"--abstain-below {text!r}: give a number {most}, or with its measure: {sense}=0.9.")
        chosen[sense] = value
    return chosen


def abstentions(certainty: Mapping[str, FloatArray], thresholds: Mapping[str, float]) -> np.ndarray:
    """Why each row goes to a person: the first reason that holds, or the empty text."""
    senses = list(thresholds)
    below = [certainty[sense] < thresholds[sense] for sense in senses]
    return np.select(below, [REASONS[sense] for sense in senses], default="")


def in_words(thresholds: Mapping[str, float]) -> str:
    """The rule of abstention as a phrase."""
    return " or ".join(f"{sense} below {value:.3g}" for sense, value in thresholds.items())

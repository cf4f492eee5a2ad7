"""Everything that a fitted classifier says of samples, from one pass over their distances."""

from typing import Any, NamedTuple

import numpy as np

from ..numerics.types import BoolArray, FloatArray
from .answers import BaseScoreClassifier
from .certified_factor import largest_certified_factor
from .log_scores import LogScores
from .posteriors import non_dominated, posterior_bounds
from .rules import decide


class Assessment(NamedTuple):
    """Indices of the predicted classes, probabilities, their bounds, plausible classes, and certified factors."""

    predicted: np.ndarray
    proba: FloatArray
    lower: FloatArray
    upper: FloatArray
    plausible: BoolArray
    certified_factor: FloatArray


def assess(classifier: BaseScoreClassifier, X: Any) -> Assessment:
    """What `predict`, `predict_proba`, `predict_proba_bounds`, `predict_set` and `certified_factor` say of samples."""
    samples, model = classifier._validate(X, "predict"), classifier._model

    def everything(scores: LogScores) -> tuple[np.ndarray, ...]:
        codes = decide(model.rule, scores).astype(np.intp)
        bounds = classifier._weigh(scores)
        factor = largest_certified_factor(model.scores, scores, codes, model.log_priors)
        return codes, np.exp(model.rule.log_proba(scores)), *posterior_bounds(*bounds), non_dominated(*bounds), factor

    return Assessment(*(part.T for part in model.scores.map(samples, everything)))

"""A loaded model, checked as a whole: every member by the schema of its type, and what it says of a sample."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .members import RefusedError
from .schemas import SCHEMAS

# A model that can be asked without knowing what its samples look like, and how.
_QUESTIONS = {
    "optiscore.robust.classifier.OptimisticScoreClassifier": "predict_proba",
    "optiscore.robust.classifier_cv.OptimisticScoreClassifierCV": "predict_proba",
    "optiscore.moderated.classifier.ModeratedDiscriminantAnalysis": "predict_proba",
    "optiscore.kernel.classifier.KernelDiscriminantClassifier": "predict_proba",
    "optiscore.kernel.map.KernelDiscriminantMap": "transform",
    "optiscore.moderated.power.PowerMap": "transform",
}


def check_contents(model: Any) -> None:
    """Refuse a model whose members cannot be, with the name of the first one that is wrong."""
    found = list(_parts(model, ""))
    for name, part in found:
        schema = SCHEMAS.get(_type_name(part))
        if schema is not None and _is_fitted(part):
            schema.check(name, part)
    for name, part in found:
        if _is_fitted(part):
            _derive(name, part)
            _ask(name, part)


def _parts(model: Any, name: str) -> Iterator[tuple[str, Any]]:
    """All objects in a model with the names of what holds them, each once, parts after wholes."""
    seen: set[int] = set()
    waiting = [(name, model)]
    while waiting:
        name, part = waiting.pop(0)
        if id(part) in seen or isinstance(part, (str, type, np.ndarray)):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend((f"{name}{key}.", value) for key, value in part.items())
        elif isinstance(part, (list, tuple)):
            waiting.extend((f"{name}{i}.", value) for i, value in enumerate(part))
        elif hasattr(part, "__dict__"):
            yield name, part
            waiting.extend((f"{name}{key}.", value) for key, value in vars(part).items())


def _type_name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


def _is_fitted(part: Any) -> bool:
    """Whether an estimator has learned something; what is no estimator has no other state."""
    if hasattr(part, "__sklearn_is_fitted__"):
        return bool(part.__sklearn_is_fitted__())
    return not hasattr(part, "get_params") or any(key.endswith("_") for key in vars(part))


def _derive(name: str, part: Any) -> None:
    """Let a classifier check what its predictions depend on, covariances that are positive definite among it."""
    if not hasattr(type(part), "_derive"):
        return
    try:
        _ = part._model
    # Whatever its members lead to.
    except Exception as error:
        raise RefusedError(f"{name}{error}".rstrip(".")) from error


def _ask(name: str, part: Any) -> None:
    """Members of different parts go together if a sample gets an answer."""
    question = _QUESTIONS.get(_type_name(part))
    feature_map = getattr(part, "feature_map_", None)
    # What another library's transformer makes of zeros is not known.
    if question is None or not (feature_map is None or _type_name(feature_map) in _QUESTIONS):
        return
    try:
        # A sample without names is as good as any, and so is one at zero.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            answer = getattr(part, question)(np.zeros((1, part.n_features_in_)))
    # Whatever its members lead to.
    except Exception as error:
        raise RefusedError(f"{name or 'the model'} has no answer to a sample: {error}") from error
    if not np.isfinite(answer).all():
        raise RefusedError(f"{name or 'the model'} has no finite answer to a sample")

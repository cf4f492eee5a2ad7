"""Model files that are safe to open: skops archives in which nothing but known types is read (extra `io`)."""

import io
import os
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..documented import plain_signature
from .archive import check_archive
from .members import RefusedError
from .schemas import SCHEMAS
from .states import from_states, to_states
from .whole_files import write_atomically

# The layout of the file, not the version of the package: changed only when older files can no longer be read.
_FORMAT = 2

#: Types that may be in a file, beside those of scikit-learn and NumPy that skops knows: none of them runs anything.
_TRUSTED = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
)


@plain_signature
def save(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> None:
    """Write a fitted estimator to a file that is safe to open.

    Parameters
    ----------
    model : estimator
        A classifier of this package, or a scikit-learn Pipeline that ends in one.
    path : path
        The file, in a folder that is there; it is written as a whole or not at all.
    trusted : sequence of str, default=()
        Names of further types that may be in it, as skops has them: `load` needs the same.

    Raises
    ------
    ValueError
        If `load` would refuse the model: types that are not trusted, or members that cannot be.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from optiscore import OptimisticScoreClassifier
    >>> from optiscore import load, save
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(OptimisticScoreClassifier().fit(X, y), f"{folder}/iris.skops")
    ...     round(load(f"{folder}/iris.skops").score(X, y), 3)
    0.993
    """
    try:
        content: bytes = _skops().dumps({"format": _FORMAT, "optiscore": __version__, "model": to_states(model)})
    except ImportError:
        raise
    # skops meets whatever an estimator may hold.
    except Exception as error:
        raise ValueError(f"the model cannot be saved: {_one_line(error)}.") from error
    _refuse_unknown_types(content, "the model", trusted)
    try:
        check_archive(content, may_hold_others=bool(trusted))
        _checked(_skops().loads(content, trusted=[*_TRUSTED, *trusted])["model"])
    # What is written must be what can be read, whatever the model is.
    except Exception as error:
        raise ValueError(f"the model cannot be saved so that it could be loaded: {_one_line(error)}.") from error
    write_atomically(path, content)


@plain_signature
def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read an estimator that `save` wrote; nothing in the file is run.

    Parameters
    ----------
    path : path
        The file.
    trusted : sequence of str, default=()
        Names of further types that may be in it, as skops has them: what they run is yours to know.

    Returns
    -------
    estimator
        With the same predictions, bit by bit.

    Raises
    ------
    ValueError
        If the file is no model file, is damaged, holds types that are not trusted or numbers that cannot be, or is of
        another format.

    See Also
    --------
    save : The way there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from optiscore import OptimisticScoreClassifier
    >>> from optiscore import load, save
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit([[0.0], [1.0], [4.0], [5.5]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.skops"
    ...     save(model, path)
    ...     load(path).predict([[0.5], [5.0]])
    array([0, 1])
    """
    content = Path(path).read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path} is not a model file of optiscore (pickle files are never opened).")
    try:
        check_archive(content, may_hold_others=bool(trusted))
    # A damaged archive fails in whatever way its damage leads to.
    except Exception as error:
        raise ValueError(f"{path} is damaged or not a model file of optiscore: {_one_line(error)}.") from error
    if b"optiscore.classifiers." in content or b"optiscore.features." in content:
        raise ValueError(f"{path} was written by optiscore 0.1, whose files are not opened any more: train again.")
    _refuse_unknown_types(content, str(path), trusted)
    try:
        stored = _skops().loads(content, trusted=[*_TRUSTED, *trusted])
    # A damaged archive fails in whatever way its damage leads to.
    except Exception as error:
        raise ValueError(f"{path} is damaged or of another version of its libraries: {_one_line(error)}") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("format"), int) or "model" not in stored:
        raise ValueError(f"{path} is a skops file, but not a model file of optiscore.")
    if stored["format"] != _FORMAT:
        raise ValueError(
            f"{path} was written by optiscore {stored.get('optiscore')} in another format: "
            f"{'update optiscore to open it' if stored['format'] > _FORMAT else 'train the model again'}."
        )
    try:
        return _checked(stored["model"])
    # A damaged member fails in whatever way its damage leads to.
    except Exception as error:
        raise ValueError(f"{path} is refused: {_one_line(error)}.") from error


def _checked(stored: Any) -> Any:
    """Return the model, if all its members can be and go together."""
    model = from_states(stored)
    for name, part in _parts(model, ""):
        schema = SCHEMAS.get(f"{type(part).__module__}.{type(part).__qualname__}")
        if schema is not None and any(key.endswith("_") for key in vars(part)):
            schema.check(name, vars(part))
    _ask(model)
    return model


def _parts(model: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield all objects in a model with the names of what holds them, each once, wholes before parts."""
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


def _ask(model: Any) -> None:
    """Raise if a sample gets no finite answer: members of different parts go together if one does."""
    for name, part in _parts(model, ""):
        question = getattr(part, "predict_proba", None) or getattr(part, "transform", None)
        of_package = type(part).__module__.startswith("optiscore.") and not type(part).__module__.startswith(
            "optiscore.table"
        )
        feature_map = getattr(part, "feature_map_", None)
        # What another library makes of zeros is not known.
        if feature_map is not None and not type(feature_map).__module__.startswith("optiscore."):
            continue
        if hasattr(part, "fold_estimators_"):
            continue
        if not of_package or question is None or not getattr(part, "__sklearn_is_fitted__", bool)():
            continue
        try:
            # A sample without names is as good as any, and so is one at zero.
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                answer = question(np.zeros((1, part.n_features_in_)))
        # Whatever its members lead to.
        except Exception as error:
            raise RefusedError(f"{name or 'the model'} has no answer to a sample: {error}") from error
        if not np.isfinite(answer).all():
            raise RefusedError(f"{name or 'the model'} has no finite answer to a sample")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _refuse_unknown_types(content: bytes, name: str, trusted: Sequence[str]) -> None:
    try:
        unknown = sorted(set(_skops().get_untrusted_types(data=content)) - {*_TRUSTED, *trusted})
    except Exception as error:
        raise ValueError(f"{name} is damaged or not a model file: {_one_line(error)}") from error
    if unknown:
        raise ValueError(
            f"{name} holds types that are not trusted and is refused: {', '.join(unknown)}. Those that you know to do "
            f"nothing bad may be named in trusted=."
        )


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError("model files need skops: pip install 'optiscore[io]'.") from None
    return skops.io

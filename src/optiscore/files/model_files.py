"""Model files that are safe to open: skops archives in which nothing but known types is read (extra `io`)."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

from .. import __version__
from .archive import check_archive
from .contents import check_contents
from .members import RefusedError
from .whole_files import write_atomically

# The layout of the file, not the version of the package: changed only when older files can no longer be read.
_FORMAT = 1

#: Types that may be in a file, beside those of scikit-learn and NumPy that skops knows: none of them runs anything.
_TRUSTED = (
    "numpy.dtype",
    "optiscore.table.dates.expand_dates",
    "optiscore.table.dates.name_dates",
    "optiscore.table.texts.as_text",
    "optiscore.kernel.map.KernelDiscriminantMap",
    "optiscore.kernel.search.KernelExpansion",
    "optiscore.moderated.power.PowerMap",
    "optiscore.kernel.scalings.NormalScores",
    "optiscore.kernel.scalings.Standardised",
    "optiscore.kernel.coordinate_models.CoordinateModels",
    "optiscore.kernel.classifier.KernelDiscriminantClassifier",
    "optiscore.kernel.mixture.KernelModel",
    "optiscore.moderated.classifier.ModeratedDiscriminantAnalysis",
    "optiscore.robust.classifier.OptimisticScoreClassifier",
    "optiscore.robust.classifier_cv.OptimisticScoreClassifierCV",
    "optiscore.moments.covariance.RidgeCovariance",
    "optiscore.moments.sums.MomentSums",
    "optiscore.dask.classifier.OptimisticScoreClassifier",
    "optiscore.dask.moderated.ModeratedDiscriminantAnalysis",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file that is safe to open.

    Parameters
    ----------
    model : estimator
        A classifier of this package, or a scikit-learn Pipeline that ends in one.
    path : path
        The file, in a folder that is there; it is written as a whole or not at all.

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
    skops = _skops()
    try:
        content: bytes = skops.dumps({"format": _FORMAT, "optiscore": __version__, "model": model})
    # skops meets whatever an estimator may hold.
    except Exception as error:
        raise ValueError(f"the model cannot be saved: {_one_line(error)}.") from error
    _refuse_unknown_types(content, "the model")
    try:
        check_archive(content)
        check_contents(skops.loads(content, trusted=list(_TRUSTED))["model"])
    # What is written must be what can be read, whatever the model is.
    except Exception as error:
        raise ValueError(f"the model cannot be saved so that it could be loaded: {_one_line(error)}.") from error
    write_atomically(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that `save` wrote; nothing in the file is run.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        With the same predictions, bit by bit.

    Raises
    ------
    ValueError
        If the file is no model file, is damaged, holds types that are not trusted or numbers that cannot be, or is of a
        newer format.

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
        check_archive(content)
    # A damaged archive fails in whatever way its damage leads to.
    except Exception as error:
        raise ValueError(f"{path} is damaged or not a model file of optiscore: {_one_line(error)}.") from error
    _refuse_unknown_types(content, str(path))
    try:
        stored = _skops().loads(content, trusted=list(_TRUSTED))
    # A damaged archive fails in whatever way its damage leads to.
    except Exception as error:
        raise ValueError(f"{path} is damaged or of another version of its libraries: {_one_line(error)}") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("format"), int) or "model" not in stored:
        raise ValueError(f"{path} is a skops file, but not a model file of optiscore.")
    if stored["format"] > _FORMAT:
        raise ValueError(
            f"{path} was written by optiscore {stored.get('optiscore')} in a newer format; update optiscore to open it."
        )
    try:
        check_contents(stored["model"])
    except RefusedError as error:
        raise ValueError(f"{path} is refused: {_one_line(error)}.") from error
    return stored["model"]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _refuse_unknown_types(content: bytes, name: str) -> None:
    try:
        unknown = sorted(set(_skops().get_untrusted_types(data=content)) - set(_TRUSTED))
    except Exception as error:
        raise ValueError(f"{name} is damaged or not a model file: {_one_line(error)}") from error
    if unknown:
        raise ValueError(f"{name} holds types that are not trusted and is refused: {', '.join(unknown)}.")


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError("model files need skops: pip install 'optiscore[io]'.") from None
    return skops.io

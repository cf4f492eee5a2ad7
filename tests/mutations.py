"""Model files with one array replaced: what a damaged or crafted file may hold."""

import io
import json
import zipfile
from collections.abc import Iterator

import numpy as np

from optiscore import (
    KernelDiscriminantClassifier,
    KernelDiscriminantMap,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
)

ABSURD = 3_000_000

#: Every kind of model that can be saved, from samples and labels.
KINDS_OF_FILES = {
    "optimistic": lambda X, y: OptimisticScoreClassifier().fit(X, y),
    "in blocks": lambda X, y: OptimisticScoreClassifier(decision_rule="minimax").partial_fit(X, y, np.unique(y)),
    "search": lambda X, y: OptimisticScoreClassifierCV(radii=[0, 1], poolings=[0, 0.5], cv=3).fit(X, y),
    "moderated": lambda X, y: ModeratedDiscriminantAnalysis().fit(X, y),
    "moderated in blocks": lambda X, y: ModeratedDiscriminantAnalysis(feature_map=None).partial_fit(X, y, np.unique(y)),
    "behind a map": lambda X, y: ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap("short")).fit(X, y),
    "kernel": lambda X, y: KernelDiscriminantClassifier("short").fit(X, y),
    "one map": lambda X, y: KernelDiscriminantClassifier("short", average=False).fit(X, y),
    "map": lambda X, y: KernelDiscriminantMap("short").fit(X, y),
}


def rewrite(content: bytes, replaced: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """The archive with some members replaced or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", compression) as new:
        members = {name: old.read(name) for name in old.namelist()}
        for name, member in {**members, **replaced}.items():
            new.writestr(name, member)
    return out.getvalue()


def schema_of(content: bytes) -> dict:
    """The schema of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("schema.json"))


def npy(array: np.ndarray) -> bytes:
    """An array as a member."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def arrays_of(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of an archive by member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return {name: np.load(io.BytesIO(archive.read(name))) for name in names}


def replacements(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays that cannot stand in the place of another."""
    longer = np.concatenate([array, array[:1]]) if array.ndim else np.stack([array, array])
    yield "longer", longer
    yield "one more dimension", array[None]
    yield "of complex numbers", np.zeros(array.shape, dtype=np.complex128)
    yield "absurd", np.zeros((ABSURD, *array.shape[1:]), dtype=np.int8)
    if array.dtype.kind == "f":
        for name, value in (("NaN", np.nan), ("infinity", np.inf), ("minus infinity", -np.inf)):
            yield name, np.full_like(array, value)
        yield "text", np.full(array.shape, "x")
    if array.ndim and len(array) > 1:
        yield "shorter", array[:-1]


def mutations(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every array of a model file replaced in every way."""
    for member, array in arrays_of(content).items():
        for name, other in replacements(array):
            if other.dtype != array.dtype or other.shape != array.shape or not np.array_equal(other, array):
                yield f"{member} {name}", rewrite(content, {member: npy(other)})

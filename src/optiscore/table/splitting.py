"""Tables to begin with: one that is cut into rows for training and rows to judge on, and an example."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from ..files.whole_files import all_or_none, check_new
from .preparation import check_classes_of
from .tables import check_suffix, column_of, read_table, table_writer

# Fewer rows of a label cannot be trained on, and are not drawn.
_FEWEST_FOR_TRAINING = 2


def split_table(
    path: str, target: str, folder: Path, test_size: float, force: bool, advance: Callable[[int], None]
) -> tuple[list[Path], list[str]]:
    """Write `<name>_train` and `<name>_test`, of rows drawn at random, with about the same fraction of every label.

    Returned are the two tables, and labels of one row only, which cannot be trained on.
    """
    stem, suffix = _parts("table" if path == "-" else Path(path).name)
    paths = [folder / f"{stem}_{part}{suffix}" for part in ("train", "test")]
    for each in paths:
        check_suffix(str(each))
        check_new(each, force)
    table = read_table(path, advance=advance)
    labels = column_of(table, target, path)
    check_classes_of(target, pc.unique(labels.drop_null()).to_pylist(), len(labels) - labels.null_count)
    is_test = _sample(labels, test_size)
    if not is_test.any() or is_test.all():
        raise ValueError(
            f"{path} has too few rows to be cut: two of each label in column {target!r} are for training, and none "
            f"of {len(is_test)} is left to judge on. Is it the column of labels?"
        )
    with all_or_none(*paths) as written:
        for each, chosen in zip(written, (~is_test, is_test), strict=True):
            with table_writer(str(each)) as write:
                write(table.filter(pa.array(chosen)))
    counted: list[dict[str, Any]] = pc.value_counts(labels.drop_null()).to_pylist()
    return paths, [str(each["values"]) for each in counted if each["counts"] == 1]


def _parts(name: str) -> tuple[str, str]:
    """A file's name and its suffix, such as .csv or .csv.gz; without one, it is a CSV."""
    suffixes = Path(name).suffixes
    suffix = "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
    return name.removesuffix(suffix) if suffix else name, suffix or ".csv"


def _sample(labels: pa.ChunkedArray, fraction: float) -> np.ndarray:
    """Which rows are drawn: a fraction of those of each label, and of those without one."""
    codes = pc.fill_null(labels.dictionary_encode().combine_chunks().indices, -1).to_numpy()
    rng = np.random.default_rng(0)
    drawn = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        # Rounded up or down at random, so that many rare labels together get their fraction.
        count = int(fraction * len(rows) + rng.random())
        drawn[rows[: min(count, max(len(rows) - _FEWEST_FOR_TRAINING, 0))]] = True
    return drawn


def write_example(folder: Path, force: bool) -> list[Path]:
    """scikit-learn's breast cancer table, three quarters of it for training and the rest for testing, as CSV."""
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.assign(diagnosis=bunch.target_names[bunch.target])
    parts = train_test_split(frame, test_size=0.25, random_state=0, stratify=frame["diagnosis"])
    paths = [folder / "train.csv", folder / "test.csv"]
    for path in paths:
        check_new(path, force)
    with all_or_none(*paths) as written:
        for part, path in zip(parts, written, strict=True):
            path.write_bytes(part.to_csv(index=False).encode())
    return paths

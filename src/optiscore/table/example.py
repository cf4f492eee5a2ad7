"""A table to try the command on."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from ..files.whole_files import all_or_none
from .outputs import check_new


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

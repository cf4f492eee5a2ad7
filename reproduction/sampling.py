"""What the experiments on certainty have in common: how training rows are drawn, and which methods are compared."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis

from .methods import PEERS

#: Sizes of the training set, in words: 2 d and 8 d rows per class; 8 d rows in all and three quarters of all rows, with
#: the imbalance kept.
SIZES = ("2 d per class", "8 d per class", "8 d in all", "three quarters")

OURS = "moderated"

#: Methods by name; the first is ours.
METHODS: dict[str, Callable[[], Any]] = {
    OURS: ModeratedDiscriminantAnalysis,
    "moderated, own": lambda: ModeratedDiscriminantAnalysis("own"),
    "moderated, shared": lambda: ModeratedDiscriminantAnalysis("shared"),
    "kernel": lambda: KernelDiscriminantClassifier(random_state=0),
    # None of these depends on the number of features.
    **{name: partial(PEERS[name], 0) for name in ("LDA", "logistic", "forest")},
}


def split(y: np.ndarray, n_features: int, size: str, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and for testing: of each class some three quarters at most, and a row for testing at least."""
    rng = np.random.default_rng([repeat, SIZES.index(size), len(y)])
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    if size in ("8 d in all", "three quarters"):
        fraction = 0.75 if size == "three quarters" else min(8 * n_features / len(y), 0.75)
        counts = [min(max(2, round(fraction * len(rows))), len(rows) - 1) for rows in members]
    else:
        counts = [min(int(size[0]) * n_features, 3 * len(rows) // 4) for rows in members]
    train = np.concatenate([rows[:count] for rows, count in zip(members, counts, strict=True)])
    return train, np.setdiff1d(np.arange(len(y)), train)

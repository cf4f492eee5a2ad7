"""The paper's table and figures, and those that it could not draw: `python -m reproduction` runs them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .experiment import Experiment

    EXPERIMENTS: dict[str, Experiment]

#: The experiments by group, a module each; they are loaded when `EXPERIMENTS` is asked for, so that the command answers
#: at once. The first group is the paper's, with what it could not draw; the second shows what classifiers are worth.
GROUPS = {
    "paper": ("table1", "figure1", "figure2", "figure3", "selective"),
    "evidence": ("accuracy", "abstention", "calibration", "coverage", "sets", "drift"),
}
NAMES = tuple(name for group in GROUPS.values() for name in group)

__all__ = ["EXPERIMENTS", "GROUPS", "NAMES"]


def __getattr__(name: str) -> Any:
    if name != "EXPERIMENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = {each: importlib.import_module(f".{each}", __name__).EXPERIMENT for each in NAMES}
    return globals()[name]

"""The paper's table and figures, and those that it could not draw: `optiscore reproduce` runs them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .experiment import Experiment

    EXPERIMENTS: dict[str, Experiment]

#: The experiments, a module each; they are loaded when `EXPERIMENTS` is asked for, so that the command answers at once.
NAMES = ("table1", "figure1", "figure2", "figure3", "selective", "shift")

__all__ = ["EXPERIMENTS", "NAMES"]


def __getattr__(name: str) -> Any:
    if name != "EXPERIMENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = {each: importlib.import_module(f".{each}", __name__).EXPERIMENT for each in NAMES}
    return globals()[name]

"""The paper's table and figures, and those that it could not draw: `optiscore reproduce` runs them."""

from . import figure1, figure2, figure3, selective, shift, table1
from .experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (table1, figure1, figure2, figure3, selective, shift)
}

__all__ = ["EXPERIMENTS", "Experiment"]

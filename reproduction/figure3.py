"""Figure 3 of the paper: decision regions for unequal radii and the tuned threshold."""

from functools import partial

from .experiment import Cell, Experiment
from .regions import compute_regions, summarise_regions


def cells(quick: bool) -> list[Cell]:
    """Two pairs of radii, two scores."""
    return [
        {"likelihood": likelihood, "radii": list(radii), "decision_rule": "tuned"}
        for radii in ((0.1, 1.0), (1.0, 0.1))
        for likelihood in ("gaussian", "nonparametric")
    ]


EXPERIMENT = Experiment(
    name="figure3",
    title="Figure 3: decision regions for unequal radii",
    about="The same classes with different radii; the threshold is tuned on the training samples.",
    cells=cells,
    compute=compute_regions,
    summarise=partial(summarise_regions, "figure3"),
)

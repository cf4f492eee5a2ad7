"""Figure 2 of the paper: decision regions for equal radii and the threshold 1."""

from functools import partial

from .experiment import Cell, Experiment
from .regions import compute_regions, summarise_regions


def cells(quick: bool) -> list[Cell]:
    """Two radii, two scores."""
    return [
        {"likelihood": likelihood, "radii": [radius, radius], "decision_rule": 1.0}
        for radius in (0.5, 0.7)
        for likelihood in ("gaussian", "nonparametric")
    ]


EXPERIMENT = Experiment(
    name="figure2",
    title="Figure 2: decision regions for equal radii",
    about=(
        "Two Gaussian classes, 1000 samples each, threshold 1. Dots are the means, dashed ellipses contours of the "
        "true densities. Points near both classes have the nonparametric score 1 under both: such ties go to class 1 "
        "(red)."
    ),
    cells=cells,
    compute=compute_regions,
    summarise=partial(summarise_regions, "figure2"),
)

"""Figure 1 of the paper: n times the divergence of estimated moments, against its limit distribution."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.interpolate import PchipInterpolator

from optiscore.datasets import make_chi_square
from optiscore.numerics.types import FloatArray
from optiscore.robust.limit_law import LimitLaw

from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values

_D = 20
_SIZES = (30, 100, 300, 1000)
_BLOCK = 500


def cells(quick: bool) -> list[Cell]:
    """60,000 data sets of each size in blocks: as many as it takes to tell 300 samples from 1000; 1000 if quick."""
    n_blocks = (1_000 if quick else 60_000) // _BLOCK
    return [{"n": n, "block": block} for block in range(n_blocks) for n in _SIZES]


def compute(cell: Cell) -> Values:
    """N D((mean, covariance of the samples) || (0, I)) for a block of data sets; (m, S) do not matter."""
    n = cell["n"]
    samples = make_chi_square(n, _D, n_sets=_BLOCK, random_state=1_000_000 * n + cell["block"])
    mean = samples.mean(axis=1)
    samples -= mean[:, None, :]
    covariance = samples.transpose(0, 2, 1) @ samples / n
    _, logdet = np.linalg.slogdet(covariance)
    divergence = np.square(mean).sum(axis=1) + np.trace(covariance, axis1=1, axis2=2) - logdet - _D
    return {"values": (n * divergence).tolist()}


def limit_law(d: int = _D) -> LimitLaw:
    """The exact one, as docs/theory/radii.md has it: weights 4 + sqrt 13, 4 - sqrt 13 and 1."""
    root = np.sqrt(13)
    return LimitLaw(np.repeat([4 + root, 4 - root, 1.0], [d, d, d * (d - 1) // 2]))


def kolmogorov_distance(values: FloatArray, law: LimitLaw) -> float:
    """Largest difference between the empirical and the limiting distribution function."""
    ordered = np.sort(values)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    # The function is smooth: 200 inversions and cubics between them are as good as one for each value.
    nodes = np.linspace(ordered[0], ordered[-1], 200)
    cdf = PchipInterpolator(nodes, law.cdf(nodes))(ordered)
    return float(max(np.abs(steps[1:] - cdf).max(), np.abs(steps[:-1] - cdf).max()))


def summarise(results: Sequence[Result]) -> Summary:
    """Kolmogorov distances and four panels."""
    samples = {n: np.concatenate([values["values"] for cell, values, _ in results if cell["n"] == n]) for n in _SIZES}
    law = limit_law()
    distance = {n: kolmogorov_distance(values, law) for n, values in samples.items()}
    rows: list[Row] = [
        {"n": n, "data sets": len(values), "median": float(np.median(values)), "Kolmogorov distance": distance[n]}
        for n, values in samples.items()
    ]
    rows.append({"n": "limit", "data sets": "", "median": float(law.ppf(0.5)), "Kolmogorov distance": 0.0})
    return Summary(
        tables={"figure1": Table(rows)},
        figures={"figure1": draw(samples, distance, law)},
        notes=[
            "The curve is the exact limit distribution, by inversion of its characteristic function: no Monte Carlo. A "
            f"Kolmogorov distance below {1.36 / np.sqrt(len(samples[_SIZES[0]])):.4f} cannot be told from 0 (95 %)."
        ],
    )


def draw(samples: Mapping[int, FloatArray], distance: Mapping[int, float], law: LimitLaw) -> object:
    """Histogram and limit curve for each size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    top = 1.15 * law.ppf(0.999)
    grid = np.linspace(0.6 * law.ppf(0.001), top, 200)
    density = law.pdf(grid)
    for ax, (n, values) in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, samples.items(), strict=True):
        shown = values[values < top]
        weights = np.full(len(shown), 1 / len(values))
        bins = np.linspace(grid[0], top, 60)
        ax.hist(
            shown, bins=bins, weights=weights / (bins[1] - bins[0]), color="#e69f00", label=f"{len(values):,} data sets"
        )
        ax.plot(grid, density, color="#0072b2", linewidth=2, label="limit distribution")
        outside = 1 - len(shown) / len(values)
        beyond = f", {outside:.0%} right of the panel" if outside > 0.005 else ""
        ax.set_title(f"n = {n}: Kolmogorov distance {distance[n]:.3f}{beyond}", fontsize=10)
    figure.axes[-1].legend(loc="upper right")
    figure.supxlabel("n times the divergence")
    figure.supylabel("density")
    return figure


EXPERIMENT = Experiment(
    name="figure1",
    title="Figure 1: the divergence of estimated moments and its limit distribution",
    about=(
        "d = 20 independent, normalised chi-square(1) features. The histogram approaches the limit distribution as n "
        "grows; this is what calibrates the radii. For skewed features it is far from the Gaussian rule, with a "
        "median of 229."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

"""A worked example: best, nominal and worst scores of a few points, for growing radii."""

import numpy as np
from rich.console import Console
from rich.table import Table

from optiscore import SCORES, clt_radius, extremal_moments, log_score, moment_divergence

MEAN = np.array([1.0, 0.0])
COVARIANCE = np.array([[1.0, 0.5], [0.5, 1.0]])
POINTS = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [4.0, -3.0]])
RADII = (0.1, 0.5, 1.0)


def scores_table(name: str) -> Table:
    """Log scores of the points: a row per point, a column per side and radius."""
    table = Table(title=f"log score, {name}")
    table.add_column("point")
    for rho in reversed(RADII):
        table.add_column(f"worst {rho}", justify="right")
    table.add_column("nominal", justify="right", style="bold")
    for rho in RADII:
        table.add_column(f"best {rho}", justify="right")

    def column(rho: float, side: str) -> np.ndarray:
        return log_score(POINTS, MEAN, COVARIANCE, rho, score=name, side=side)

    columns = [column(rho, "pessimistic") for rho in reversed(RADII)]
    columns += [column(rho, "optimistic") for rho in (0.0, *RADII)]
    for point, row in zip(POINTS, np.transpose(columns), strict=True):
        table.add_row(str(tuple(point.tolist())), *(f"{value:.4f}" for value in row))
    return table


def moments_table(radius: float) -> Table:
    """The moments at which the last point has its best and worst Gaussian score, and what they cost."""
    table = Table(title=f"moments that attain the Gaussian score of {tuple(POINTS[-1].tolist())}, radius {radius}")
    for heading in ("side", "mean", "covariance", "divergence"):
        table.add_column(heading)
    for side in ("optimistic", "pessimistic"):
        mu, sigma = extremal_moments(POINTS[-1], MEAN, COVARIANCE, radius, side=side)
        spent = moment_divergence(MEAN, COVARIANCE, mu, sigma)
        table.add_row(side, str(mu.round(3).tolist()), str(sigma.round(3).tolist()), f"{spent:.12f}")
    return table


if __name__ == "__main__":
    console = Console(width=None if Console().is_terminal else 110)
    console.print(f"Nominal mean {MEAN.tolist()}, covariance {COVARIANCE.tolist()}.")
    console.print(f"Radius that 100 Gaussian samples suggest: {clt_radius(100, 2):.4f}.\n")
    for score in SCORES:
        console.print(scores_table(score))
    console.print(moments_table(0.5))

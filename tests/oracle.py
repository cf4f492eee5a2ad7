"""The six duals as method and paper state them, solved slowly and obviously in 60-digit arithmetic.

``python tests/oracle.py`` writes the reference values of tests/data/scores.csv.
"""

import csv
from itertools import product
from pathlib import Path

from mpmath import log, mp, mpf, nstr

from optiscore.scores import LIKELIHOODS

STORED = Path(__file__).parent / "data" / "scores.csv"

mp.dps = 60


def _search(function, low):
    """Root of an increasing function of a positive variable, by bisection on its logarithm."""
    low, high = log(mpf(low)), log(mpf("1e60"))
    for _ in range(260):
        middle = (low + high) / 2
        if function(mp.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return mp.exp((low + high) / 2)


def gaussian_optimistic(d, rho, alpha):
    g = _search(
        lambda g: rho + d * (log(1 + 1 / g) - 1 / g) - (log(1 + alpha / (1 + g)) - alpha / (1 + g + alpha)),
        "1e-25",
    )
    return -g * alpha / (1 + g + alpha) + d * log(1 + 1 / g) - log(1 + alpha / (1 + g))


def gaussian_pessimistic(d, rho, alpha):
    e = _search(
        lambda e: rho - d * log(1 + 1 / (alpha + e)) + d / (1 + alpha + e) + log(1 + alpha / e) - alpha / e,
        "1e-600",
    )
    return -(1 + alpha + e) * alpha / e - d * log(1 + 1 / (alpha + e)) + log(1 + alpha / e)


def nonparametric_optimistic(d, rho, alpha):
    if log(1 + alpha) <= rho:
        return mpf(0)
    g = _search(lambda g: rho - log(1 + alpha / (1 + g)) + g * alpha / ((1 + g) * (1 + g + alpha)), "1e-25")
    return g**2 * alpha / ((1 + g) * (1 + g + alpha))


def nonparametric_pessimistic(d, rho, alpha):
    if alpha == 0:
        return rho
    e = _search(lambda e: rho + log(1 + alpha / e) - (1 + alpha + e) * alpha / ((alpha + e) * e), "1e-600")
    return (1 + alpha + e) ** 2 * alpha / ((alpha + e) * e)


def fixed_mean_optimistic(d, rho, alpha):
    if d == 1 and alpha > 0 and 1 / alpha - 1 + log(alpha) <= rho:
        return -1 - log(alpha)
    g = _search(
        lambda g: rho + d * (log(1 + 1 / g) - 1 / g) - log(1 + alpha / g) + (1 + g) * alpha / (g * (g + alpha)),
        "1e-25",
    )
    return -(1 + g) * alpha / (g + alpha) + d * log(1 + 1 / g) - log(1 + alpha / g)


def fixed_mean_pessimistic(d, rho, alpha):
    if d == 1 and alpha == 1:
        return -(1 + rho)

    def eigenvalues(e):
        end = max(mpf(1), alpha)
        return (end - 1 + e) / (end - alpha + e), (end - 1 + e) / (end + e)

    def slack(e):
        u1, u = eigenvalues(e)
        return rho - (u1 - log(u1) - 1) - (d - 1) * (u - log(u) - 1)

    u1, u = eigenvalues(_search(slack, "1e-600"))
    return -(alpha * u1 - log(u1) - (d - 1) * log(u))


def value(likelihood, side, d, rho, alpha):
    """L or q of one score at one alpha, as an mpmath number."""
    d, rho, alpha = mpf(d), mpf(rho), mpf(alpha)
    if rho == 0:
        return alpha if likelihood == "nonparametric" else -alpha
    return globals()[f"{likelihood.replace('-', '_')}_{side}"](d, rho, alpha)


def write_reference_values():
    """Store values over all magnitudes, to 25 digits."""
    kinds = product(LIKELIHOODS, ("optimistic", "pessimistic"))
    grid = product(
        kinds, (1, 2, 7, 40, 600), ("1e-9", "1e-3", "0.25", "4", "80"), ("0", "1e-5", "0.6", "5", "300", "1e8")
    )
    STORED.parent.mkdir(exist_ok=True)
    with STORED.open("w", newline="", encoding="ascii") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["likelihood", "side", "d", "rho", "alpha", "value"])
        for (likelihood, side), d, rho, alpha in grid:
            # What floating-point numbers are asked for is what they hold, not the decimals.
            found = value(likelihood, side, d, mpf(float(rho)), mpf(float(alpha)))
            writer.writerow([likelihood, side, d, rho, alpha, nstr(found, 25)])


if __name__ == "__main__":
    write_reference_values()

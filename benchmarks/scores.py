"""Nanoseconds per score: tabulated, solved exactly as a vector, and by one general solver call per sample."""

import subprocess
import sys

import numpy as np
from rich.table import Table
from scipy.optimize import minimize
from timing import best_seconds, main, peak_bytes

from optiscore import LIKELIHOODS

N_ALPHAS, N_PER_SAMPLE = 1_000_000, 200
RADIUS, N_FEATURES = 0.5, 5


def paper_dual(score: str, rho: float, d: int, alpha: float):
    """The univariate convex dual of the optimistic score as the paper states it (eqs. 3.1 and 4.1)."""
    if score == "nonparametric":
        return lambda g: g[0] * rho - g[0] * np.log1p(alpha / (1 + g[0]))
    if score == "gaussian":
        return lambda g: g[0] * rho + d * (g[0] + 1) * np.log1p(1 / g[0]) - (1 + g[0]) * np.log1p(alpha / (1 + g[0]))
    return lambda g: g[0] * rho + d * (g[0] + 1) * np.log1p(1 / g[0]) - (1 + g[0]) * np.log1p(alpha / g[0])


def one_call_per_sample(score: str, alphas: np.ndarray) -> list[float]:
    """One L-BFGS-B call for each alpha, as the paper's authors do it."""
    return [
        minimize(paper_dual(score, RADIUS, N_FEATURES, a), x0=[1.0], bounds=[(1e-8, None)], method="L-BFGS-B").x[0]
        for a in alphas
    ]


def scores_table(rounds: int) -> Table:
    """Time and memory per alpha for every score, side and precision."""
    alpha = np.random.default_rng(0).chisquare(N_FEATURES, N_ALPHAS) * 2
    single = alpha.astype(np.float32)
    table = Table(title=f"nanoseconds per alpha ({N_ALPHAS:,} alphas, d = {N_FEATURES}, radius {RADIUS})")
    headings = (
        "likelihood",
        "side",
        "table",
        "table, float32",
        "np.log1p",
        "exact solve",
        "L-BFGS-B",
        "L-BFGS-B / table",
    )
    for heading in (*headings, "bytes per alpha"):
        table.add_column(heading, justify="left" if heading in ("likelihood", "side") else "right")
    for name, score in LIKELIHOODS.items():
        for side in ("optimistic", "pessimistic"):
            exact = score.at(side, RADIUS, N_FEATURES)
            tabulated, tabulated_32 = exact.tabulate(), exact.tabulate(dtype=np.float32)
            seconds = best_seconds(
                {
                    "table": lambda t=tabulated: t(alpha),
                    "single": lambda t=tabulated_32: t(single),
                    "log1p": lambda: np.log1p(alpha),
                    "exact": lambda e=exact: e.log_score(alpha),
                },
                rounds,
            )
            ns = {key: value / N_ALPHAS * 1e9 for key, value in seconds.items()}
            cells = [f"{ns['table']:.1f}", f"{ns['single']:.1f}", f"{ns['log1p']:.1f}", f"{ns['exact']:.0f}"]
            if side == "optimistic":
                calls = best_seconds({"calls": lambda n=name: one_call_per_sample(n, alpha[:N_PER_SAMPLE])}, rounds=2)
                per_call = calls["calls"] / N_PER_SAMPLE * 1e9
                cells += [f"{per_call:,.0f}", f"{per_call / ns['table']:,.0f}"]
            else:
                cells += ["-", "-"]
            memory = peak_bytes(lambda t=tabulated: t(alpha)) / N_ALPHAS
            table.add_row(name, side, *cells, f"{memory:.1f}")
    return table


def import_table(rounds: int) -> Table:
    """Time to import optiscore, relative to scikit-learn's discriminant analysis; new interpreters, best of several."""

    def run(module: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    modules = ("optiscore.robust.classifier", "sklearn.discriminant_analysis")
    seconds = best_seconds({module: lambda m=module: run(m) for module in modules}, rounds + 1)
    table = Table("import", "seconds", "ratio", title="time to import")
    for module in modules:
        table.add_row(module, f"{seconds[module]:.2f}", f"{seconds[module] / seconds[modules[1]]:.2f}")
    return table


if __name__ == "__main__":
    main(__doc__, scores_table, import_table, rounds=7)

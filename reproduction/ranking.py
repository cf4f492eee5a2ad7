"""Methods compared over data sets as a reviewer asks for: mean ranks, Friedman's test, and the critical difference.

Each data set counts once, with the mean over its splits; see Demsar, Statistical comparisons of classifiers over
multiple data sets, Journal of Machine Learning Research 2006.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from optiscore.numerics.types import FloatArray

from .experiment import Row

# Of all tests.
_LEVEL = 0.05

# Means over splits that differ by no more than rounding are ties.
_DIGITS = 9


class Ranking(NamedTuple):
    """Methods over data sets.

    Parameters
    ----------
    methods : list of str
        Their names.
    gains : ndarray of shape (n_datasets, n_methods)
        Their values, with the sign that makes larger ones better.
    means, ranks : ndarray of shape (n_methods,)
        Mean value, and mean rank over the data sets; 1 is best, ties share their ranks.
    p_value : float
        Friedman's: the chance of such ranks if all methods were alike.
    critical_difference : float
        Nemenyi's at 5 %: mean ranks that differ by less may be alike.
    """

    methods: list[str]
    gains: FloatArray
    means: FloatArray
    ranks: FloatArray
    p_value: float
    critical_difference: float

    def gains_over(self, ours: str) -> dict[str, FloatArray]:
        """By how much ours is better than each other method on each data set."""
        own = self.gains[:, self.methods.index(ours)]
        return {m: own - self.gains[:, i] for i, m in enumerate(self.methods) if m != ours}

    def better_than(self, ours: str) -> list[str]:
        """Methods that are significantly better than ours, by Nemenyi's test or by Wilcoxon's with Holm's step."""
        return self._differing(ours, -1)

    def worse_than(self, ours: str) -> list[str]:
        """Methods that are significantly worse than ours, by either test."""
        return self._differing(ours, 1)

    def _differing(self, ours: str, sign: int) -> list[str]:
        own = self.ranks[self.methods.index(ours)]
        gains = self.gains_over(ours)
        p_values = holm({m: signed_rank(gain) for m, gain in gains.items()})
        return [
            m
            for m, rank in zip(self.methods, self.ranks, strict=True)
            if sign * (rank - own) > self.critical_difference
            or (m != ours and sign * rank_sum(gains[m]) > 0 and p_values[m] < _LEVEL)
        ]

    def place(self, method: str) -> str:
        """Place in the order of the mean ranks; 1 is the best, and a place may be shared."""
        own = self.ranks[self.methods.index(method)]
        is_shared = np.isclose(self.ranks, own).sum() > 1
        return f"{(self.ranks < own - 1e-9).sum() + 1}{' (shared)' if is_shared else ''}"


def rank_methods(values: FloatArray, methods: Sequence[str], *, more_is_better: bool) -> Ranking:
    """Mean ranks of methods, from values of shape (n_datasets, n_methods); two data sets and three methods at least."""
    gains = np.round(values if more_is_better else -values, _DIGITS)
    ranks = rankdata(-gains, axis=1)
    n, k = values.shape
    p_value = float(friedmanchisquare(*ranks.T).pvalue) if n > 1 and k > 2 and np.ptp(ranks, axis=1).any() else 1.0
    spread = float(studentized_range.ppf(1 - _LEVEL, k, np.inf)) / np.sqrt(2)
    difference = float(spread * np.sqrt(k * (k + 1) / (6 * n)))
    return Ranking(list(methods), gains, values.mean(axis=0), ranks.mean(axis=0), p_value, difference)


def compare_with(ranking: Ranking, ours: str, tie: float) -> list[Row]:
    """Ours against each other: wins, ties and losses over the data sets, and Wilcoxon's test with Holm's step."""
    gains = ranking.gains_over(ours)
    adjusted = holm({m: signed_rank(gain) for m, gain in gains.items()})
    return [
        {
            "method": m,
            "wins": int((gain > tie).sum()),
            "ties": int((np.abs(gain) <= tie).sum()),
            "losses": int((gain < -tie).sum()),
            "mean gain": float(gain.mean()),
            "p (Wilcoxon, Holm)": adjusted[m],
        }
        for m, gain in gains.items()
    ]


def rank_rows(ranking: Ranking, ours: str, tie: float) -> list[Row]:
    """A table: methods by mean rank, and how ours compares with each."""
    against = {row["method"]: row for row in compare_with(ranking, ours, tie)}
    nothing = dict.fromkeys(("wins", "ties", "losses", "mean gain", "p (Wilcoxon, Holm)"), "")
    return [
        {
            "method": ranking.methods[i],
            "mean": float(ranking.means[i]),
            "mean rank": float(ranking.ranks[i]),
            **{key: against.get(ranking.methods[i], nothing)[key] for key in nothing},
        }
        for i in np.argsort(ranking.ranks, kind="stable")
    ]


def place_row(ranking: Ranking, ours: str) -> Row:
    """Where ours stands, in one row: its place by mean rank, the best of the others, and who is surely better."""
    own = ranking.methods.index(ours)
    best = min((i for i in range(len(ranking.methods)) if i != own), key=ranking.ranks.__getitem__)
    return {
        "ours": ours,
        "place": ranking.place(ours),
        "of": len(ranking.methods),
        "mean": float(ranking.means[own]),
        "mean rank": float(ranking.ranks[own]),
        "best of the others": ranking.methods[best],
        "its mean": float(ranking.means[best]),
        "its mean rank": float(ranking.ranks[best]),
        "significantly better than ours": "; ".join(ranking.better_than(ours)) or "none",
        "significantly worse than ours": "; ".join(ranking.worse_than(ours)) or "none",
    }


def places_in_words(rankings: Mapping[str, Ranking], ours: str) -> str:
    """Places of ours, one after the other, and who is significantly better where."""
    *places, last = (ranking.place(ours) for ranking in rankings.values())
    listed = f"{', '.join(places)} and {last}" if places else last
    better = [
        f"{' and '.join(methods)} ({where})" for where, each in rankings.items() if (methods := each.better_than(ours))
    ]
    return (
        f"place {listed} of {len(next(iter(rankings.values())).methods)} by mean rank; significantly better: "
        f"{', '.join(better) or 'none'}"
    )


def signed_rank(gains: FloatArray) -> float:
    """Wilcoxon's p-value; of few data sets it is rough, of which older versions of SciPy warn."""
    if not gains.any():
        return 1.0
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return float(wilcoxon(gains).pvalue)


def rank_sum(gains: FloatArray) -> float:
    """Sum of the signed ranks: whom Wilcoxon's test favours. A mean could be that of one large gain."""
    known = gains[gains != 0]
    return float((np.sign(known) * rankdata(np.abs(known))).sum())


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """P-values that hold for all comparisons together."""
    adjusted, largest = {}, 0.0
    for place, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[name]))
        adjusted[name] = largest
    return adjusted


def draw_ranks(rankings: dict[str, Ranking], ours: Sequence[str]) -> object:
    """Critical difference diagrams, two in a row: methods by mean rank, those that may be alike joined."""
    from matplotlib.figure import Figure

    n_rows = -(-len(rankings) // 2)
    n_labels = max(len(ranking.methods) for ranking in rankings.values()) / 2
    figure = Figure(figsize=(10, n_rows * (1.1 + 0.2 * n_labels)), layout="constrained")
    axes = figure.subplots(n_rows, 2, squeeze=False).flatten()
    for ax, (title, ranking) in zip(axes, rankings.items(), strict=False):
        _draw_one(ax, title, ranking, ours)
    for ax in axes[len(rankings) :]:
        ax.axis("off")
    return figure


def _draw_one(ax: Any, title: str, ranking: Ranking, ours: Sequence[str]) -> None:
    order = np.argsort(ranking.ranks, kind="stable")
    k = len(order)
    half = (k + 1) // 2
    ax.set(xlim=(0.2, k + 0.8), ylim=(-half - 1.2, 1.4), yticks=[])
    ax.set_title(f"{title} (critical difference {ranking.critical_difference:.1f})", fontsize=11, pad=10)
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.set_xticks(range(1, k + 1, 1 if k <= 10 else 3))
    for place, i in enumerate(order):
        is_left = place < half
        depth = -(place + 1) if is_left else -(k - place)
        edge = 0.9 if is_left else k + 0.1
        colour = "#0072b2" if ranking.methods[i] in ours else "#555555"
        rank = ranking.ranks[i]
        ax.plot([rank, rank, edge], [1.4, depth, depth], color=colour, linewidth=1.2)
        text = f"{ranking.methods[i]}, {rank:.1f}" if is_left else f"{rank:.1f}, {ranking.methods[i]}"
        aside = {"xytext": (-4 if is_left else 4, 0), "textcoords": "offset points"}
        ax.annotate(
            text, (edge, depth), ha="right" if is_left else "left", va="center", color=colour, fontsize=9, **aside
        )
    sorted_ranks, drawn = ranking.ranks[order], 0.0
    for level, rank in enumerate(sorted_ranks):
        end = float(sorted_ranks[sorted_ranks <= rank + ranking.critical_difference].max())
        if end > max(drawn, rank):
            height = 1.0 - 0.28 * (level % 4)
            ax.plot([rank - 0.05, end + 0.05], [height] * 2, color="black", linewidth=3)
            drawn = end

"""AnswerTable: everything that a classifier says of some rows, column by column."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from ..documented import plain_signatures
from ..numerics.types import BoolArray

# Rows that are shown; frames show the others.
_SHOWN = 10

_NUMBERS = frozenset({"probability", "low", "high", "stability", "typicality", "certified factor"})

_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:.2em .7em;border-bottom:1px solid #8886;text-align:"


@plain_signatures
class AnswerTable(Mapping[str, np.ndarray]):
    """Answers to rows: arrays by the name of the column, which print as a table and turn into a frame.

    Parameters
    ----------
    columns : dict of ndarray
        "label", "probability" (of the label), "low" and "high" (ends of its interval), "stability", "set" (tuples of
        labels), "typicality", "abstain" and "why"; a classifier that has no answer to a question has no column for it.
    remark : str
        What the limits of abstention are.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantClassifier
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = KernelDiscriminantClassifier("short").fit(X, y)
    >>> answers = model.answers([[0.0, 1.0], [0.5, 0.3], [5.0, 5.0]])
    >>> answers["label"], answers["abstain"]
    (array([0, 0, 1]), array([False, False,  True]))
    >>> frame = answers.to_pandas()
    """

    def __init__(self, columns: Mapping[str, np.ndarray], remark: str) -> None:
        self._columns, self.remark = dict(columns), remark

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    # Arrays are not equal or unequal as a whole: a table is equal to itself.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def to_pandas(self, index: Any = None) -> Any:
        """Return a pandas data frame.

        Parameters
        ----------
        index : index, default=None
            That of the frame.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(self._columns, index=index)

    def to_polars(self) -> Any:
        """Return a polars data frame.

        Returns
        -------
        polars.DataFrame
        """
        import polars as pl

        return pl.DataFrame({name: column.tolist() for name, column in self.items()})

    def _shown(self) -> list[tuple[str, ...]]:
        texts = []
        for name, column in self.items():
            some = column[:_SHOWN].tolist()
            plain = [", ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell) for cell in some]
            texts.append([f"{cell:.3f}" for cell in some] if name in _NUMBERS else plain)
        return list(zip(*texts, strict=True))

    @property
    def _n_more(self) -> int:
        return max(len(next(iter(self.values()))) - _SHOWN, 0)

    def __repr__(self) -> str:
        rows = [tuple(self), *self._shown()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        more = [f"... and {self._n_more} more"] if self._n_more else []
        return "\n".join([*lines, *more, self.remark])

    def _repr_html_(self) -> str:
        side = {name: "right" if name in _NUMBERS else "left" for name in self}
        head = "".join(f'<th scope="col" style="{_CELL}{side[name]}">{name}</th>' for name in self)
        body = "".join(
            "<tr>"
            + "".join(f'<td style="{_CELL}{side[n]}">{escape(c)}</td>' for n, c in zip(self, row, strict=True))
            + "</tr>"
            for row in self._shown()
        )
        more = f"... and {self._n_more} more. " if self._n_more else ""
        return f'<table style="{_STYLE}"><tr>{head}</tr>{body}</table><p>{more}{escape(self.remark)}</p>'


def label_sets(labels: np.ndarray, named: BoolArray) -> np.ndarray:
    """Return a tuple of labels for each row of (n_rows, n_classes), as a column."""
    sets = np.empty(len(named), dtype=object)
    sets[:] = [tuple(labels[row].tolist()) for row in named]
    return sets
